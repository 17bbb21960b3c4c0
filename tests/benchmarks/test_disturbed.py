"""The benchmark of disturbed servers names every bar that was missed."""

from __future__ import annotations

import pytest

from disturbed import Disturbed, Phase
from serving import Waits


def phase(name: str, p95: float, *, megabytes: float = 110.0, errors: int = 0) -> Phase:
    return Phase(name, errors, Waits(100, p95 / 2, p95, p95, p95, p95, 0.5), megabytes, "")


@pytest.mark.parametrize(
    ("disturbed", "missed"),
    [
        (phase("import", 99.0, megabytes=900.0), None),
        (phase("import", 101.0), "import: p95"),
        (phase("import", 20.0, megabytes=1100.0), "1100 MB"),
        (phase("zeros", 20.0, errors=1), "1 errors"),
        (phase("crowd", 34.0), None),
        (phase("crowd", 60.0), "crowd: p95 is 60 ms, and 10 in quiet"),
        (phase("cookies", 10.0, megabytes=150.0), None),
        (phase("cookies", 10.0, megabytes=200.0), "200 MB"),
    ],
)
def test_what_is_missed(disturbed: Phase, missed: str | None) -> None:
    found = Disturbed(20, [phase("quiet", 10.0), disturbed, phase("quiet", 9.0)]).failure
    assert found is None if missed is None else missed in (found or "")


def test_a_machine_that_is_too_busy_misses_the_bar_too() -> None:
    """The undisturbed server is no excuse: the bar is in milliseconds."""
    phases = [phase("quiet", 80.0), phase("import", 150.0), phase("quiet", 90.0)]
    assert Disturbed(20, phases).failure == "import: p95 is 150 ms, and 90 in quiet"

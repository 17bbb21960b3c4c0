from __future__ import annotations

import pytest

from corefine.reproduction.paired import Paired


def test_the_interval_is_students() -> None:
    """The differences 1, 2, 3: mean 2, standard error 1 / sqrt 3, and 4.303 of these on each side."""
    low, high = Paired((1.0, 2.0, 3.0)).interval or (0, 0)
    assert (low, high) == pytest.approx((2 - 4.303 / 3**0.5, 2 + 4.303 / 3**0.5))
    assert str(Paired((1.0, 2.0, 3.0))) == "+2.00 (-0.48 to +4.48, 3 seeds)"
    assert Paired((1.0,)).interval is None
    assert str(Paired((1.0,))) == "+1.00 (1 seed)"
    low, high = Paired((1.0, 2.0) * 20).interval or (0, 0)
    assert 1.2 < low < 1.5 < high < 1.8


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((1.0, 2.0, 3.0), "undecided"),  # all are better, but three seeds say little
        ((1.9, 2.0, 2.1), "holds"),
        ((-1.9, -2.0, -2.1), "does not hold"),
        ((3.0,), "undecided"),
        ((4.0,), "holds"),
        ((0.0, 0.0), "does not hold"),
    ],
)
def test_what_the_interval_decides(values: tuple[float, ...], verdict: str) -> None:
    assert Paired(values).verdict == verdict

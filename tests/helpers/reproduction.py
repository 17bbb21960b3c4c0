"""The tiny reproduction that several tests look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from corefine.reproduction.cells import grid
from corefine.simulation.grid import CellDone, run_grid
from corefine.simulation.summary import RunRecord, load_records
from helpers.small import rules, short_stories


@pytest.fixture(scope="session")
def reproduction(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole grid with the rules as model: all groups, two seeds."""
    out = tmp_path_factory.mktemp("reproduction")
    results = list(run_grid(grid(rules(), budgets=(0, 30, 90), seeds=2), out, short_stories(200)))
    assert all(isinstance(result, CellDone) and result.ran for result in results)
    return out


@pytest.fixture(scope="session")
def records(reproduction: Path) -> list[RunRecord]:
    return load_records([reproduction])

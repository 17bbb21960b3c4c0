from __future__ import annotations

from typing import Any

import pytest

from corefine.errors import ConfigError
from corefine.reproduction.cells import BUDGETS, grid
from corefine.simulation.config import SimulationConfig
from helpers.small import rules


def test_the_cells_of_the_whole_grid() -> None:
    names = [cell.name for cell in grid(SimulationConfig(), budgets=BUDGETS, seeds=3)]
    assert len(names) == len(set(names))
    for seed in range(3):
        assert f"none-q0-s{seed}" in names
        for kind in ("discrete", "pairwise", "random"):
            assert {f"{kind}-q{budget}-s{seed}" for budget in (20, 40, 80, 160)} <= set(names)
    for kind in ("committee", "lcc-mcu", "full"):
        assert {f"{kind}-q40-s0", f"{kind}-q160-s0"} <= set(names)
    assert {"unclustered-q80-s0", "per-document-q80-s0", "closure-off-q80-s0", "follow-up-q80-s0"} <= set(names)
    assert {"error-5-q40-s0", "error-10-q40-s0", "error-20-q40-s0", "nearest-q40-s0", "infer-first-q40-s0"} <= set(
        names
    )
    assert {f"{labels}-q80-s0" for labels in ("answered", "mix", "certain")} <= set(names)
    assert names[:3] == ["discrete-q40-s0", "pairwise-q40-s0", "random-q40-s0"]  # the most telling first


def test_a_grid_of_two_budgets_for_another_corpus() -> None:
    cells = grid(SimulationConfig(corpus="ontogum"), budgets=(40, 160), seeds=1, groups=["main"])
    assert sorted(cell.name for cell in cells) == sorted(
        f"{kind}-q{budget}-s0" for kind in ("discrete", "pairwise", "random") for budget in (40, 160)
    )


def test_other_groups_can_have_more_seeds_than_one() -> None:
    names = {cell.name for cell in grid(SimulationConfig(), budgets=BUDGETS, seeds=1, other_seeds=2)}
    assert {"unclustered-q80-s0", "unclustered-q80-s1", "answered-q80-s1", "committee-q160-s1"} <= names
    assert "discrete-q80-s0" in names
    assert "discrete-q80-s1" not in names
    assert not [name for name in names if name.endswith("-s2")]


def test_the_rules_have_no_committee() -> None:
    kinds = [{cell.kind for cell in grid(base, budgets=(30,))} for base in (rules(), SimulationConfig())]
    assert kinds[1] - kinds[0] == {"committee", "consensus"}


@pytest.mark.parametrize(
    "options", [{"groups": ["main", "other"]}, {"seeds": 0}, {"other_seeds": 0}, {"budgets": (0,)}]
)
def test_grids_that_cannot_be(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        grid(SimulationConfig(), **options)


def test_three_budgets_have_a_small_a_middle_and_a_large_one() -> None:
    names = {cell.name for cell in grid(SimulationConfig(), budgets=(20, 40, 80), seeds=1)}
    assert {"unclustered-q40-s0", "infer-first-q40-s0", "committee-q40-s0", "committee-q80-s0"} <= names

"""The runs of the reproduction: the paper's comparison, its ablation, and our extensions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from corefine.errors import ConfigError
from corefine.simulation.config import SimulationConfig
from corefine.simulation.grid import Cell

BUDGETS = (0.0, 20.0, 40.0, 80.0, 160.0)
"""Questions for each 1,000 tokens. The paper's 20, 80 and 200 for each document are 43, 172 and 430."""

GROUPS = ("main", "selectors", "ablation", "labels", "extensions")

MAIN: dict[str, dict[str, Any]] = {
    "discrete": {},
    "pairwise": {"protocol": "pairwise", "selector": "pairwise-entropy"},
    "random": {"selector": "random"},
}
SELECTORS: dict[str, dict[str, Any]] = {
    "committee": {"selector": "committee"},
    "lcc-mcu": {"selector": "lcc-mcu"},
    "full": {"protocol": "full"},
}
ABLATION: dict[str, dict[str, Any]] = {
    "unclustered": {"clustered": False},
    "per-document": {"closure": "per-document"},
    "closure-off": {"closure": "off"},
    "follow-up": {"protocol": "follow-up"},
}
LABELS: dict[str, dict[str, Any]] = {
    "answered": {"labels": "answered"},
    "mix": {"labels": "mix"},
    "certain": {"labels": "certain"},
}
EXTENSIONS: dict[str, dict[str, Any]] = {
    "infer-first": {"infer_first": True},
    "nearest": {"nearest": True},
    "error-5": {"error_rate": 0.05},
    "error-10": {"error_rate": 0.1},
    "error-20": {"error_rate": 0.2},
    "read-4": {"read_at_most": 4},
    "joint-entropy": {"selector": "joint-entropy"},
    "consensus": {"committee": 3},  # the entropy of the committee's mean, which has fewer ties than its votes
}
COMMITTEES = ("committee", "consensus")
"""Kinds that train several models, which the rules cannot."""


def grid(
    base: SimulationConfig,
    *,
    budgets: Sequence[float] = BUDGETS,
    seeds: int = 3,
    other_seeds: int = 1,
    groups: Iterable[str] = GROUPS,
) -> list[Cell]:
    """All cells, the most important first, in case the grid is stopped early.

    The main comparison has all budgets and `seeds`. The others have `other_seeds`: selectors at a small and the largest
    budget, ablation and labels at one in the middle, extensions at the small one.
    """
    wanted = list(groups)
    for group in wanted:
        if group not in GROUPS:
            raise ConfigError(f"there is no group {group!r}; choose from {', '.join(GROUPS)}")
    if seeds < 1 or other_seeds < 1:
        raise ConfigError(f"a grid has at least one seed, not {min(seeds, other_seeds)}")
    asked = sorted({float(budget) for budget in budgets if budget > 0})
    if not asked:
        raise ConfigError("a grid needs at least one budget above 0")
    small, middle, large = asked[(len(asked) - 1) // 2], asked[len(asked) // 2], asked[-1]
    order = list(dict.fromkeys([small, large, middle, *asked]))
    cells: dict[str, Cell] = {}
    others: dict[str, tuple[dict[str, dict[str, Any]], list[float]]] = {
        "labels": (LABELS, [middle]),
        "ablation": (ABLATION, [middle]),
        "selectors": (SELECTORS, [small, large]),
        "extensions": (EXTENSIONS, [small]),
    }
    for seed in range(max(seeds, other_seeds)):
        if "main" in wanted and seed < seeds:
            for cell in _main(base, order, seed, zero=any(not each for each in budgets)):
                cells.setdefault(cell.name, cell)
        for group, (kinds, at) in others.items():
            if group in wanted and seed < other_seeds:
                for cell in _cells(base, group, kinds, at, seed):
                    cells.setdefault(cell.name, cell)
    return list(cells.values())


def _main(base: SimulationConfig, budgets: Sequence[float], seed: int, *, zero: bool) -> Iterator[Cell]:
    for budget in budgets:
        yield from _cells(base, "main", MAIN, [budget], seed)
        if zero and budget == budgets[0]:
            yield _cell(base, "main", "none", {}, 0.0, seed)


def _cells(
    base: SimulationConfig, group: str, kinds: dict[str, dict[str, Any]], budgets: Sequence[float], seed: int
) -> Iterator[Cell]:
    for budget in dict.fromkeys(budgets):
        for kind, changes in kinds.items():
            if base.learner != "rules" or kind not in COMMITTEES:
                yield _cell(base, group, kind, changes, budget, seed)


def _cell(base: SimulationConfig, group: str, kind: str, changes: dict[str, Any], budget: float, seed: int) -> Cell:
    config = base.with_changes(questions=budget, seconds=None, seed=seed, **changes)
    return Cell(f"{kind}-q{budget:g}-s{seed}", kind, group, config)

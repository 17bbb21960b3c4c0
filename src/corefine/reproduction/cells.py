"""The cells of the reproduction: the paper's comparison, its ablation, our extensions, and presets of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corefine.errors import ConfigError
from corefine.simulation.config import GOLD, LEARNING, NEW_FIELD, SimulationConfig
from corefine.simulation.grid import Cell

Changes = dict[str, str | float]
"""Settings of a run by name."""
Kinds = dict[str, Changes]
"""What each kind of run changes in the settings."""

GROUPS = ("main", "ours", "selectors", "questions", "ablation", "labels", "extensions")

COMPARED = ("main", "ours", "selectors", "questions")
"""The groups with a curve in the figures and a row in the table of the comparison."""

MAIN: Kinds = {
    "discrete": {},
    "pairwise": {"protocol": "pairwise", "selector": "pairwise-entropy"},
    "random": {"selector": "random"},
    "full": {"protocol": "full"},
}
OURS: Kinds = {
    "ours": dict(LEARNING),
    "app": {**LEARNING, "selector": "likely-entropy", "groups": True},
    "fitted": {"labels": "fitted"},  # the paper's method with our threshold, to tell its gain from that of the rest
}
QUESTIONS: Kinds = {  # ours with other questions
    "ours-change": {**LEARNING, "selector": "expected-change"},
    "ours-density": {**LEARNING, "selector": "density"},
    "ours-joint": {**LEARNING, "selector": "joint-entropy"},
    "ours-likely": {**LEARNING, "selector": "likely-entropy"},
    "ours-groups": {**LEARNING, "groups": True},
    "ours-sample": {**LEARNING, "sample": 0.25},
    "ours-mentions": {**LEARNING, "protocol": "mentions", "selector": "mention-entropy"},
    "ours-sure": {**LEARNING, "least_gain": 0.3},
    "ours-stay": {**LEARNING, "spread": False},  # each document is read once: all of its questions come in one round
}
SELECTORS: Kinds = {
    "committee": {"selector": "committee"},
    "lcc-mcu": {"selector": "lcc-mcu"},
}
ABLATION: Kinds = {
    "unclustered": {"clustered": False},
    "per-document": {"closure": "per-document"},
    "closure-off": {"closure": "off"},
    "follow-up": {"protocol": "follow-up"},
}
LABELS: Kinds = {
    "answered": {"labels": "answered"},
    "mix": {"labels": "mix"},
    "certain": {"labels": "certain"},
}
EXTENSIONS: Kinds = {
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
"""Kinds with several models: not without a network, nor in a field without gold, where all would be the starter."""
WITHOUT_GOLD = ("fitted",)
"""Kinds that only differ from others in a field without gold: elsewhere development documents set the threshold."""

NO_QUESTIONS: Kinds = {"none": {}, "ours-none": dict(LEARNING)}
"""Runs in which nothing is asked: with the paper's labels, where the model learns from its own, and with ours."""

GOLD_KIND = "gold"
"""The run with gold labels of all documents: about the best that annotation can reach."""

NAMES = {"none": "no questions", "ours-none": "no questions, ours", GOLD_KIND: "gold labels of all documents"}
"""What tables call a kind, if not by its own name."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A grid by name.

    settings       settings of all cells that differ from the defaults
    budgets        questions per 1,000 tokens or per document, as the settings say
    seeds          how many seeds the main comparison has
    other_seeds    how many seeds all other groups have
    at             the budgets of each group except main, which has all
    needs          the number of training documents that a corpus must have
    """

    settings: Mapping[str, Any]
    budgets: tuple[float, ...]
    seeds: int
    other_seeds: int
    groups: tuple[str, ...]
    at: Mapping[str, tuple[float, ...]]
    needs: int = 4


PRESETS = {
    # Section 5 of the paper and its appendix. The 315 hours of its ablation are 20 questions per document.
    "paper": Preset(
        settings={"recipe": "paper", "per": "document"},
        budgets=(20.0, 80.0, 200.0),
        seeds=3,
        other_seeds=3,
        groups=("main", "selectors", "ablation"),
        at={"selectors": (20.0, 80.0, 200.0), "ablation": (20.0,)},
        needs=8,
    ),
    "new-field": Preset(
        settings=NEW_FIELD,
        budgets=(20.0, 40.0, 80.0),
        seeds=3,
        other_seeds=3,
        groups=("main", "ours"),
        at={"ours": (20.0, 40.0, 80.0)},
    ),
    "quick": Preset(settings={}, budgets=(40.0,), seeds=2, other_seeds=1, groups=("main",), at={}),
    "all": Preset(
        settings={},
        budgets=(0.0, 20.0, 40.0, 80.0, 160.0),
        seeds=3,
        other_seeds=1,
        groups=GROUPS,
        at={
            "selectors": (40.0, 160.0),
            "questions": (40.0,),
            "ablation": (80.0,),
            "labels": (80.0,),
            "extensions": (40.0,),
        },
    ),
}

PAPER_ABLATION = ("unclustered", "per-document")
"""The rows of Table 3, except discrete and pairwise."""


def grid(
    base: SimulationConfig,
    *,
    preset: str = "all",
    budgets: Sequence[float] | None = None,
    seeds: int | None = None,
    other_seeds: int | None = None,
    groups: Iterable[str] | None = None,
    selectors: Iterable[str] = (),
) -> list[Cell]:
    """All cells, the most important first. Arguments left out are those of the preset.

    The main comparison has all budgets and `seeds`, and a run with gold labels of all documents; `selectors` are added
    to it. If 0 is among the budgets, there are runs without questions. The other groups have `other_seeds`. If budgets
    are given, selectors run with a small one and the largest, ablation and labels with one in the middle, questions and
    extensions with the small one, and ours with all.
    """
    chosen = PRESETS[preset]
    wanted = list(chosen.groups if groups is None else groups)
    for group in wanted:
        if group not in GROUPS:
            raise ConfigError(f"there is no group {group!r}; choose from {', '.join(GROUPS)}")
    seeds = chosen.seeds if seeds is None else seeds
    other_seeds = chosen.other_seeds if other_seeds is None else other_seeds
    if seeds < 1 or other_seeds < 1:
        raise ConfigError(f"a grid has at least one seed, not {min(seeds, other_seeds)}")
    given = chosen.budgets if budgets is None else budgets
    asked = sorted({float(budget) for budget in given if budget > 0})
    if not asked:
        raise ConfigError("a grid needs at least one budget above 0")
    small, middle, large = asked[(len(asked) - 1) // 2], asked[len(asked) // 2], asked[-1]
    at = chosen.at if budgets is None else {}
    ablation = {kind: ABLATION[kind] for kind in PAPER_ABLATION} if preset == "paper" else ABLATION
    others: dict[str, tuple[Kinds, Sequence[float]]] = {
        "ours": (OURS, at.get("ours", asked)),
        "questions": (QUESTIONS, at.get("questions", (small,))),
        "labels": (LABELS, at.get("labels", (middle,))),
        "ablation": (ablation, at.get("ablation", (middle,))),
        "selectors": (SELECTORS, at.get("selectors", (small, large))),
        "extensions": (EXTENSIONS, at.get("extensions", (small,))),
    }
    order = list(dict.fromkeys([small, large, middle, *asked]))
    cells: dict[str, Cell] = {}
    for seed in range(max(seeds, other_seeds)):
        if "main" in wanted and seed < seeds:
            for cell in _main(base, MAIN | _named(selectors), order, seed, zero=any(not each for each in given)):
                cells.setdefault(cell.name, cell)
        for group, (kinds, budgets_of_group) in others.items():
            if group in wanted and seed < other_seeds:
                for cell in _cells(base, group, kinds, budgets_of_group, seed):
                    cells.setdefault(cell.name, cell)
        if "ours" in wanted and seed < other_seeds and any(not each for each in given):
            nothing = _cell(base, "ours", "ours-none", NO_QUESTIONS["ours-none"], 0.0, seed)
            cells.setdefault(nothing.name, nothing)
    return list(cells.values())


def _named(selectors: Iterable[str]) -> Kinds:
    """Kinds of runs by the names of their selectors; those of `module:attribute` by the attribute."""
    kinds: Kinds = {}
    for selector in selectors:
        kind = selector.rpartition(":")[2].lower()
        if kind in kinds or kind in MAIN:
            raise ConfigError(f"two selectors of the grid would be called {kind!r}: give {selector!r} another name")
        kinds[kind] = {"selector": selector}
    return kinds


def _main(base: SimulationConfig, kinds: Kinds, budgets: Sequence[float], seed: int, *, zero: bool) -> Iterator[Cell]:
    for budget in budgets:
        yield from _cells(base, "main", kinds, [budget], seed)
        if budget == budgets[0]:
            yield Cell(f"{GOLD_KIND}-s{seed}", GOLD_KIND, "main", _gold(base, seed))
            if zero:
                yield _cell(base, "main", "none", NO_QUESTIONS["none"], 0.0, seed)


def _gold(base: SimulationConfig, seed: int) -> SimulationConfig:
    return base.with_changes(protocol=GOLD, questions=0.0, seconds=None, seed=seed)


def _cells(base: SimulationConfig, group: str, kinds: Kinds, budgets: Sequence[float], seed: int) -> Iterator[Cell]:
    no_sense = (*(WITHOUT_GOLD if base.initial else ()), *(() if base.trains and base.initial else COMMITTEES))
    for budget in dict.fromkeys(budgets):
        for kind, changes in kinds.items():
            if kind not in no_sense:
                yield _cell(base, group, kind, changes, budget, seed)


def _cell(base: SimulationConfig, group: str, kind: str, changes: Changes, budget: float, seed: int) -> Cell:
    config = base.with_changes(questions=budget, seconds=None, seed=seed, **changes)
    return Cell(f"{kind}-q{budget:g}-s{seed}", kind, group, config)

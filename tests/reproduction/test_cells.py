from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from corefine.errors import ConfigError
from corefine.models.training.recipe import load_recipe
from corefine.project.store.settings import ProjectConfig
from corefine.reproduction import paper
from corefine.reproduction.cells import PRESETS, grid
from corefine.simulation.config import SimulationConfig
from corefine.simulation.splits import plan
from helpers.small import rules, stories


def test_the_cells_of_the_whole_grid() -> None:
    names = [cell.name for cell in grid(SimulationConfig(), seeds=3)]
    assert len(names) == len(set(names))
    for seed in range(3):
        assert f"none-q0-s{seed}" in names
    assert "ours-none-q0-s0" in names
    for seed in range(3):
        for kind in ("discrete", "pairwise", "random", "full"):
            assert {f"{kind}-q{budget}-s{seed}" for budget in (20, 40, 80, 160)} <= set(names)
    for kind in ("committee", "lcc-mcu"):
        assert {f"{kind}-q40-s0", f"{kind}-q160-s0"} <= set(names)
    assert {"unclustered-q80-s0", "per-document-q80-s0", "closure-off-q80-s0", "follow-up-q80-s0"} <= set(names)
    assert {"error-5-q40-s0", "error-10-q40-s0", "error-20-q40-s0", "nearest-q40-s0", "infer-first-q40-s0"} <= set(
        names
    )
    assert {f"{labels}-q80-s0" for labels in ("answered", "mix", "certain")} <= set(names)
    assert names[:4] == ["discrete-q40-s0", "pairwise-q40-s0", "random-q40-s0", "full-q40-s0"]  # the most telling first


def test_a_new_field_has_no_gold_and_the_apps_training() -> None:
    base = SimulationConfig.from_dict({**PRESETS["new-field"].settings, "corpus": "litbank"})
    cells = grid(base, preset="new-field")
    assert len(cells) == 3 * (3 * 7 + 1)
    assert {cell.kind for cell in cells} == {"discrete", "pairwise", "random", "full", "ours", "app", "fitted", "gold"}
    assert all(cell.config.initial == 0 and cell.config.recipe == "app" for cell in cells)
    assert {cell.kind for cell in cells if cell.config.labels == "linked"} == {"ours", "app"}
    assert {cell.config.start for cell in cells} == {"first"}


def test_a_new_field_has_no_committee_as_all_members_would_be_the_starter() -> None:
    base = SimulationConfig.from_dict({**PRESETS["new-field"].settings, "corpus": "litbank"})
    kinds = {cell.kind for cell in grid(base, preset="new-field", groups=["selectors", "extensions"])}
    assert "lcc-mcu" in kinds
    assert not kinds & {"committee", "consensus"}


def test_a_threshold_by_answers_is_only_compared_where_no_development_documents_set_it() -> None:
    new_field = SimulationConfig.from_dict({**PRESETS["new-field"].settings, "corpus": "litbank"})
    kinds = [{cell.kind for cell in grid(base, groups=["ours"])} for base in (new_field, SimulationConfig())]
    assert "fitted" in kinds[0]
    assert "fitted" not in kinds[1]


def test_the_kind_app_asks_as_a_new_project_does() -> None:
    project = ProjectConfig()
    config = next(cell.config for cell in grid(SimulationConfig(), groups=["ours"]) if cell.kind == "app")
    assert (config.selector, config.groups, config.sample) == (project.selector, project.groups, project.sample)
    assert config.labels == load_recipe("app").training.labels


def test_a_grid_of_two_budgets_for_another_corpus() -> None:
    cells = grid(SimulationConfig(corpus="ontogum"), budgets=(40, 160), seeds=1, groups=["main"])
    asked = [f"{kind}-q{budget}-s0" for kind in ("discrete", "pairwise", "random", "full") for budget in (40, 160)]
    assert sorted(cell.name for cell in cells) == sorted([*asked, "gold-s0"])


def test_other_groups_can_have_more_seeds_than_one() -> None:
    names = {cell.name for cell in grid(SimulationConfig(), seeds=1, other_seeds=2)}
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


SECTION_5 = {
    "discrete": "Section 4, clustered entropy",
    "committee": "Section 4, clustered query-by-committee",
    "lcc-mcu": "Section 4, LCC/MCU",
    "pairwise": "Section 5, baselines: pairwise annotation with entropy selector",
    "random": "Section 5, baselines: partially-labelled, mentions at random",
    "full": "Section 5, baselines: fully-labelled, documents at random",
}
APPENDIX_QUESTIONS = (20, 80, 200)
TABLE_3 = {"unclustered": "- clustered probabilities", "per-document": "- incremental link closures"}
TABLE_3_QUESTIONS = 20
"""315 hours over 2,102 documents are 9.0 minutes each, what 20 discrete questions took in the paper's runs."""


@pytest.mark.parametrize("seeds", [1, 3])
def test_the_papers_preset_is_the_papers_grid(seeds: int) -> None:
    """Every selector and baseline of Section 5 at every budget, the rows of Table 3, and gold labels of everything."""
    base = SimulationConfig.from_dict(dict(PRESETS["paper"].settings))
    cells = grid(base, preset="paper", seeds=seeds, other_seeds=seeds)
    expected = {
        f"{kind}-q{questions}-s{seed}"
        for kind in SECTION_5
        for questions in APPENDIX_QUESTIONS
        for seed in range(seeds)
    }
    expected |= {f"{kind}-q{TABLE_3_QUESTIONS}-s{seed}" for kind in TABLE_3 for seed in range(seeds)}
    expected |= {f"gold-s{seed}" for seed in range(seeds)}
    assert {cell.name for cell in cells} == expected
    assert len(cells) == len(expected)
    for cell in cells:
        assert (cell.config.per, cell.config.initial, cell.config.recipe) == ("document", 0.25, "paper")
        assert (cell.config.labels, cell.config.round_training, cell.config.start) == ("pseudo", "converge", "warm")
        assert cell.config.members == (3 if cell.kind == "committee" else 1)
        assert cell.config.equal_time == "every"
    of = {cell.kind: cell.config for cell in cells}
    assert not of["unclustered"].clustered
    assert of["per-document"].closure == "per-document"
    assert of["pairwise"].selector == "pairwise-entropy"
    published = next(run for run in paper.DISCRETE if run.questions == TABLE_3_QUESTIONS)
    assert published.minutes * paper.ANNOTATED_DOCUMENTS / 60 == pytest.approx(315, abs=1)


def test_the_papers_shares_are_the_papers_numbers() -> None:
    """700 of the 2,802 training documents of CoNLL-2012 first, then 280 in each round."""
    story = stories().train[0]
    corpus = replace(stories(), train=tuple(replace(story, name=str(number)) for number in range(2802)))
    planned = plan(corpus, SimulationConfig())
    assert len(planned.initial) == 700
    assert [len(round) for round in planned.rounds] == [280] * 7 + [142]
    assert len(plan(corpus, SimulationConfig(protocol="gold")).rounds) == 1


def test_every_grid_has_gold_labels_of_everything() -> None:
    for preset in PRESETS:
        assert "gold-s0" in {cell.name for cell in grid(SimulationConfig(), preset=preset, groups=["main"])}

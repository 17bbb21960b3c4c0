from __future__ import annotations

from dataclasses import replace

from corefine.models.training.recipe import Recipe, load_recipe
from corefine.reproduction.departures import departures
from corefine.simulation.config import SimulationConfig
from corefine.simulation.summary import RunRecord


def departing(record: RunRecord, config: SimulationConfig, recipe: Recipe) -> dict[str, tuple[str, ...]]:
    corpus = replace(record.info.corpus, train=2802)
    info = replace(record.info, simulation=config, recipe=recipe.to_dict(), corpus=corpus)
    return {row[0]: row[1:] for row in departures("corpus", [replace(record, kind="discrete", info=info)]).rows}


def test_the_papers_recipe_and_settings_depart_in_nothing_but_decoding(records: list[RunRecord]) -> None:
    config = SimulationConfig(recipe="paper", per="document", questions=20.0)
    recipe = load_recipe("paper").with_settings(["model.encoder.path=glove.txt"])
    assert departing(records[0], config, recipe).keys() <= {"linked if", "pronouns"}


def test_what_departs_is_named_with_both_values(records: list[RunRecord]) -> None:
    config = SimulationConfig(round_training="shortcut", labels="mix")
    found = departing(records[0], config, load_recipe("default"))
    assert found["training within rounds"][1] == "shortcut: 1 epochs on at most 16 documents"
    assert found["mention loss"] == ("none", "10 times, on gold documents")
    assert found["budgets"] == ("questions a document", "questions per 1,000 tokens")
    assert found["what unanswered mentions teach"][1] == "0.3 times as much as answered ones (mix)"
    assert found["encoder"][1] == "minilm, frozen"


def test_rules_are_said_to_train_nothing(records: list[RunRecord]) -> None:
    rows = {row[0]: row[2] for row in departures("stories", records).rows}
    assert rows["last training"] == "nothing is trained: rules"
    assert "stories" in rows["corpus"]

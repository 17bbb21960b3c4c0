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
    recipe = load_recipe("paper").with_settings(["model.encoder.path=glove.6B.300d.txt"])
    assert departing(records[0], config, recipe).keys() <= {"linked if", "pronouns"}


def test_what_departs_is_named_with_both_values(records: list[RunRecord]) -> None:
    config = SimulationConfig(round_training="shortcut", labels="mix")
    found = departing(records[0], config, load_recipe("default"))
    assert found["training within rounds"][1] == "shortcut: 1 epochs on at most 16 documents"
    assert found["mention loss"] == ("none", "10 times")
    assert found["budgets"] == ("questions a document", "questions per 1,000 tokens")
    assert found["what unanswered mentions teach"][1] == "0.3 times as much as answered ones (mix)"
    assert found["encoder"][1] == "minilm, frozen"


def test_every_setting_that_differs_from_the_recipe_paper_is_listed(records: list[RunRecord]) -> None:
    config = SimulationConfig(recipe="paper", per="document", questions=20.0)
    changes = ["model.encoder.path=other.txt", "model.encoder.word_width=50", "model.encoder.dropout=0.1"]
    recipe = load_recipe("paper").with_settings([*changes, "model.head.hidden=20", "training.clip=1.0"])
    found = departing(records[0], config, recipe)
    assert found["encoder"][1] == "BiLSTM over other.txt (50 numbers a word) and characters, trained"
    expected = "model.encoder.dropout = 0.1, model.head.hidden = 20, training.clip = 1.0"
    assert found["other settings of the model and its training"][1] == expected
    listed = departing(records[0], config, load_recipe("default"))["other settings of the model and its training"][1]
    assert "model.head.string_match = True" in listed
    assert "model.encoder" not in listed  # another encoder has a row of its own


def test_rules_are_said_to_train_nothing(records: list[RunRecord]) -> None:
    rows = {row[0]: row[2] for row in departures("stories", records).rows}
    assert rows["last training"] == "nothing is trained: rules"
    assert "stories" in rows["corpus"]

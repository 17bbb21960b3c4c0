"""The learner that trains: what it makes of lessons, and what it keeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefine.annotation.labels import Labels
from corefine.document import Document
from corefine.models.network.config import EncoderConfig
from corefine.models.network.inputs import make_inputs
from corefine.models.network.model import Model
from corefine.models.storage.checkpoint import load_model, save_model
from corefine.models.training.pieces import pieces
from corefine.simulation.learners import NeuralLearner, recent, resolve_recipe
from corefine.simulation.loop import RoundDone, score_model
from corefine.simulation.runs import run
from corefine.simulation.summary import record_of
from helpers.small import TINY_RECIPE, contents, finish, short_stories, tiny


def learner(folder: Path, **options: object) -> NeuralLearner:
    return NeuralLearner(
        tiny(),
        resolve_recipe(str(TINY_RECIPE)),
        short_stories().dev,
        folder=folder,
        **options,  # type: ignore[arg-type]
    )


def test_a_piece_reads_the_states_of_the_whole() -> None:
    document = short_stories().train[0]
    recipe = resolve_recipe(str(TINY_RECIPE))
    model = Model.create(recipe.model)
    whole = make_inputs(document, model.inputs(document).states)
    for piece in pieces(Labels(document), 30):
        assert piece.whole is document
        cut = whole.cut(piece.offset, piece.offset + len(piece.document))
        assert cut.length == len(piece.document)
        assert cut.states.shape[-2] == cut.length
        assert (cut.words[1:] == cut.words[:-1]).tolist() == [
            one.lower() == other.lower()
            for one, other in zip(piece.document.tokens[1:], piece.document.tokens[:-1], strict=True)
        ]


def test_learning_again_gives_the_same_predictions(tmp_path: Path) -> None:
    corpus = short_stories()
    lessons = [Labels.gold(document) for document in corpus.train[:2]]
    first = learner(tmp_path / "one").learn(lessons, round=0, final=False)
    loaded = learner(tmp_path / "one").learn(lessons, round=0, final=False)  # it is done: nothing is trained
    anew = learner(tmp_path / "two").learn(lessons, round=0, final=False)
    for other in (loaded, anew):
        one, two = first.predict(corpus.dev[0]), other.predict(corpus.dev[0])
        assert one.spans == two.spans
        assert (one.probabilities == two.probabilities).all()


def test_runs_of_a_grid_share_their_first_model(tmp_path: Path) -> None:
    corpus = short_stories()
    config = tiny(documents=3)
    finish(config, tmp_path / "alone", corpus)
    finish(config, tmp_path / "one", corpus, shared=tmp_path / "first")
    models = list((tmp_path / "first").iterdir())
    assert len(models) == 1
    stamp = (models[0] / "model.json").stat().st_mtime_ns
    finish(config.with_changes(selector="random"), tmp_path / "two", corpus, shared=tmp_path / "first")
    finish(config.with_changes(labels="mix"), tmp_path / "three", corpus, shared=tmp_path / "first")
    assert list((tmp_path / "first").iterdir()) == models
    assert (models[0] / "model.json").stat().st_mtime_ns == stamp
    assert contents(tmp_path / "one") == contents(tmp_path / "alone")


@given(count=st.integers(1, 40), size=st.integers(0, 20), round=st.integers(1, 5))
def test_a_warm_round_sees_the_newest_lessons_and_some_of_the_others(count: int, size: int, round: int) -> None:
    lessons = [Labels(Document.from_sentences(str(number), [["a"]])) for number in range(count)]
    config = tiny(round_documents=size)
    seen = recent(lessons, config, round)
    assert len(seen) == (min(size, count) if size else count)
    assert list(seen) == sorted(seen, key=lessons.index)
    newest = min(count, (size + 1) // 2)
    assert not newest or seen[-newest:] == lessons[-newest:]
    assert seen == recent(lessons, config, round)
    assert recent(lessons, config.with_changes(start="scratch"), round) == lessons


def test_a_committee_votes(tmp_path: Path) -> None:
    config = tiny(documents=3, selector="committee", committee=2)
    rows = finish(config, tmp_path / "run", short_stories())
    assert rows[-1].final
    assert rows[0].asked
    assert rows[0].asked.questions > 0
    members = {path.name for path in (tmp_path / "run" / "checkpoints" / "round-01").iterdir()}
    assert members == {"member-0", "member-1"}


@pytest.mark.parametrize("labels", ["answered", "mix", "certain"])
def test_every_label_policy_runs(tmp_path: Path, labels: str) -> None:
    assert finish(tiny(documents=3, labels=labels), tmp_path / "run", short_stories())[-1].final


def test_the_shipped_recipe_is_the_default_encoder_frozen() -> None:
    recipe = resolve_recipe("simulation")
    assert recipe.model.encoder == EncoderConfig(layers=(0, 1, 2, 3, 4, 5, 6))
    assert not recipe.model.encoder.fine_tune


def test_a_recipe_that_fine_tunes_thaws_a_frozen_starter(tmp_path: Path) -> None:
    corpus = short_stories()
    recipe = resolve_recipe(str(TINY_RECIPE))
    frozen = replace(recipe.model, encoder=replace(recipe.model.encoder, fine_tune=False))
    save_model(tmp_path / "starter", Model.create(frozen, seed=7))
    config = tiny(starter=str(tmp_path / "starter"))
    thawing = NeuralLearner(config, recipe, corpus.dev, folder=tmp_path / "run")
    model = thawing.learn([Labels.gold(corpus.train[0])], round=0, final=False)
    assert isinstance(model, Model)
    assert not model.frozen
    assert model.encoder.fingerprint() != load_model(tmp_path / "starter").encoder.fingerprint()


def test_a_starter_needs_no_labelled_documents(tmp_path: Path) -> None:
    corpus = short_stories()
    starter = tmp_path / "starter"
    save_model(starter, Model.create(resolve_recipe(str(TINY_RECIPE)).model, seed=7))
    config = tiny(documents=4, initial=0, starter=str(starter), labels="answered")
    rounds = finish(config, tmp_path / "run", corpus)
    assert [row.documents for row in rounds] == [0, 2, 4]
    as_it_is = load_model(starter)
    predictions = [as_it_is.predict(document) for document in corpus.dev]
    assert rounds[0].scores["dev"] == score_model(corpus.dev, predictions)
    assert rounds[0].asked
    assert rounds[0].asked.questions > 0
    record = record_of(tmp_path / "run")
    assert record.corpus == "stories from starter"
    # stopped after any round, it ends the same
    for stop in (1, 2):
        events = run(config, tmp_path / f"again-{stop}", corpus)
        for _ in range(stop):
            next(event for event in events if isinstance(event, RoundDone))
        events.close()
        finish(config, tmp_path / f"again-{stop}", corpus, resume=True)
        assert contents(tmp_path / f"again-{stop}") == contents(tmp_path / "run")

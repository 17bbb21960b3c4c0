"""The learner that trains: what it makes of lessons, and what it keeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefine.annotation.labels import Lesson
from corefine.document import Document, Span
from corefine.models.network.config import EncoderConfig
from corefine.models.network.inputs import make_inputs
from corefine.models.network.model import Model
from corefine.models.storage.checkpoint import load_model, save_model
from corefine.models.training.examples import Example, labelled, pieces
from corefine.simulation.loop import RoundDone
from corefine.simulation.neural import NeuralLearner, example_of, recent, resolve_recipe
from corefine.simulation.runs import run
from corefine.simulation.scoring import scores_of
from corefine.simulation.summary import record_of
from helpers.small import TINY_RECIPE, contents, finish, short_stories, tiny

A, B, C = Span(0, 0), Span(2, 2), Span(4, 4)
DOCUMENT = Document.from_sentences("d", [["Ann", "saw", "her", "and", "him"]], [[A, B]])
LESSON = Lesson(DOCUMENT, full=False, together=((A, B),), first=(C,), certainty=((C, 0.25),))


def learner(folder: Path, **options: object) -> NeuralLearner:
    return NeuralLearner(
        tiny(),
        resolve_recipe(str(TINY_RECIPE)),
        short_stories().dev,
        folder=folder,
        **options,  # type: ignore[arg-type]
    )


def test_label_policies() -> None:
    assert example_of(Lesson.gold(DOCUMENT), tiny(labels="answered")) == Example(DOCUMENT)
    assert example_of(LESSON, tiny()) == Example(DOCUMENT, full=False)
    answered = example_of(LESSON, tiny(labels="answered"))
    assert answered.answered is not None
    assert (answered.answered.together, answered.answered.first, answered.rest) == (((A, B),), (C,), 0.0)
    assert example_of(LESSON, tiny(labels="mix", rest=0.5)).rest == 0.5
    certain = example_of(LESSON, tiny(labels="certain"))
    assert certain.answered is None
    assert certain.weights == ((C, 0.25),)


def test_weights_of_spans_reach_the_loss() -> None:
    model = Model.create(resolve_recipe(str(TINY_RECIPE)).model)
    document = short_stories().train[0]
    ranking = model.rank(document)
    span = ranking.top.spans[3]
    plain, weighted = Example(document), Example(document, weights=((span, 0.25),))
    expected = np.ones(len(ranking.top.spans))
    expected[3] = 0.25
    assert plain.targets(ranking).weights.tolist() == [1.0] * len(expected)
    assert weighted.targets(ranking).weights.tolist() == expected.tolist()


def test_weights_follow_a_document_into_its_pieces() -> None:
    document = short_stories().train[0]
    last = Span(len(document) - 1, len(document) - 1)
    example = Example(document, weights=((Span(0, 0), 0.1), (last, 0.2)))
    parts = list(pieces(example, 30))
    assert len(parts) > 1
    assert parts[0].weights == ((Span(0, 0), 0.1),)
    at = len(parts[-1].document) - 1
    assert parts[-1].weights == ((Span(at, at), 0.2),)


def test_a_piece_reads_the_states_of_the_whole() -> None:
    document = short_stories().train[0]
    recipe = resolve_recipe(str(TINY_RECIPE))
    model = Model.create(recipe.model)
    whole = make_inputs(document, model.inputs(document).states)
    for piece in pieces(labelled([document])[0], 30):
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
    lessons = [Lesson.gold(document) for document in corpus.train[:2]]
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
    finish(config.but(selector="random"), tmp_path / "two", corpus, shared=tmp_path / "first")
    assert list((tmp_path / "first").iterdir()) == models
    assert (models[0] / "model.json").stat().st_mtime_ns == stamp
    assert contents(tmp_path / "one") == contents(tmp_path / "alone")


@given(count=st.integers(1, 40), size=st.integers(0, 20), round=st.integers(1, 5))
def test_a_warm_round_sees_the_newest_lessons_and_some_of_the_others(count: int, size: int, round: int) -> None:
    lessons = [Lesson(Document.from_sentences(str(number), [["a"]])) for number in range(count)]
    config = tiny(round_documents=size)
    seen = recent(lessons, config, round)
    assert len(seen) == (min(size, count) if size else count)
    assert list(seen) == sorted(seen, key=lessons.index)
    newest = min(count, (size + 1) // 2)
    assert not newest or seen[-newest:] == lessons[-newest:]
    assert seen == recent(lessons, config, round)
    assert recent(lessons, config.but(start="scratch"), round) == lessons


def test_a_committee_votes(tmp_path: Path) -> None:
    config = tiny(documents=3, selector="committee", committee=2)
    rows = finish(config, tmp_path / "run", short_stories())
    assert rows[-1]["final"]
    assert rows[0]["asked"]["questions"] > 0
    members = {path.name for path in (tmp_path / "run" / "checkpoints" / "round-01").iterdir()}
    assert members == {"member-0", "member-1"}


@pytest.mark.parametrize("labels", ["answered", "mix", "certain"])
def test_every_label_policy_runs(tmp_path: Path, labels: str) -> None:
    assert finish(tiny(documents=3, labels=labels), tmp_path / "run", short_stories())[-1]["final"]


def test_the_shipped_recipe_is_the_default_encoder_frozen() -> None:
    recipe = resolve_recipe("simulation")
    assert recipe.model.encoder == EncoderConfig(layers=(0, 1, 2, 3, 4, 5, 6))
    assert not recipe.model.encoder.fine_tune


def test_a_starter_needs_no_labelled_documents(tmp_path: Path) -> None:
    corpus = short_stories()
    starter = tmp_path / "starter"
    save_model(starter, Model.create(resolve_recipe(str(TINY_RECIPE)).model, seed=7))
    config = tiny(documents=4, initial=0, starter=str(starter), labels="answered")
    rounds = finish(config, tmp_path / "run", corpus)
    assert [row["documents"] for row in rounds] == [0, 2, 4]
    as_it_is = load_model(starter)
    predictions = [as_it_is.predict(document) for document in corpus.dev]
    assert rounds[0]["scores"]["dev"] == scores_of(corpus.dev, predictions)
    assert rounds[0]["asked"]["questions"] > 0
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

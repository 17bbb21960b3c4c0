"""The learner that trains: what it makes of lessons, and what it keeps."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from corefine.annotation.labels import Labels
from corefine.document import Document
from corefine.errors import ConfigError, InputError
from corefine.models.committee import Committee, save_committee
from corefine.models.load import SHIPPED, load
from corefine.models.network.model import Model
from corefine.models.storage.checkpoint import load_model, save_model
from corefine.models.storage.tensors import read_facts
from corefine.models.training.jobs import TrainingJob
from corefine.models.training.pieces import pieces
from corefine.models.training.recipe import load_recipe
from corefine.simulation.executors import LocalExecutor
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
    model.train(False)
    whole = model.inputs(document)
    for piece in pieces(Labels(document), 30):
        assert piece.whole is document
        end = piece.offset + len(piece.document)
        cut = model.inputs_of_part(piece.whole, piece.offset, end)
        assert cut.length == len(piece.document)
        assert torch.equal(cut.states, whole.states[..., piece.offset : end, :])
        assert cut.states.untyped_storage().nbytes() == cut.states.nbytes
        assert (cut.words[1:] == cut.words[:-1]).tolist() == [
            one.lower() == other.lower()
            for one, other in zip(piece.document.tokens[1:], piece.document.tokens[:-1], strict=True)
        ]


@pytest.mark.parametrize("autocast", [False, True])  # which cannot join numbers of 16 bits
def test_a_piece_of_a_text_of_several_blocks(autocast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    document = short_stories().train[0]
    settings = resolve_recipe(str(TINY_RECIPE)).model
    frozen = replace(settings, encoder=replace(settings.encoder, fine_tune=False))
    model = Model.create(frozen)
    model.train(False)
    monkeypatch.setattr("corefine.models.network.model.TOKENS_IN_BLOCK", 16)
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        whole = model.inputs(document)
        part = model.inputs_of_part(document, 5, 50)
    assert part.states.dtype == torch.float16
    assert torch.equal(part.states, whole.states[..., 5:50, :])
    assert torch.equal(part.words, whole.words[5:50])


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


def trained(folder: Path) -> dict[str, Any]:
    """What is saved about the training of a model."""
    return dict(read_facts(folder, "model")["trained"])


@pytest.mark.parametrize(
    ("round", "final", "epochs", "patience"), [(0, False, 3, 1), (1, False, 3, 1), (2, True, 4, 2)]
)
def test_rounds_train_to_convergence_on_everything(
    tmp_path: Path, round: int, final: bool, epochs: int, patience: int
) -> None:
    changes = ("training.epochs=4", "training.patience=2", "rounds.epochs=3", "rounds.patience=1")
    corpus, config = short_stories(40), tiny(start="scratch")
    recipe = resolve_recipe(str(TINY_RECIPE)).with_settings(changes)
    NeuralLearner(config, recipe, corpus.dev, folder=tmp_path).learn(
        [Labels.gold(document) for document in corpus.train[:3]], round=round, final=final
    )
    facts = trained(tmp_path / f"round-{round:02}" / "member-0")
    assert (facts["training"]["epochs"], facts["training"]["patience"], facts["documents"]) == (epochs, patience, 3)


def test_a_shortcut_trains_one_epoch_on_a_few_documents(tmp_path: Path) -> None:
    corpus = short_stories(40)
    lessons = [Labels.gold(document) for document in corpus.train[:3]]
    config = tiny(round_training="shortcut", round_documents=2)
    short = NeuralLearner(config, resolve_recipe(str(TINY_RECIPE)), corpus.dev, folder=tmp_path)
    short.learn(lessons, round=0, final=False)
    short.learn(lessons, round=1, final=False)
    first, second = (trained(tmp_path / f"round-0{round}" / "member-0") for round in (0, 1))
    assert (first["training"]["epochs"], first["documents"]) == (2, 3)
    assert (second["training"]["epochs"], second["documents"]) == (1, 2)


@pytest.mark.parametrize("members", [1, 2])
def test_training_and_prediction_use_the_device_that_is_asked_for(tmp_path: Path, members: int) -> None:
    corpus, config = short_stories(40), tiny(device="cpu:0", committee=members)
    seen = Watching()
    learner = NeuralLearner(config, resolve_recipe(str(TINY_RECIPE)), corpus.dev, folder=tmp_path, executor=seen)
    predictor = learner.learn([Labels.gold(corpus.train[0])], round=0, final=False)
    assert seen.devices == ["cpu:0"] * members
    models = predictor.members if isinstance(predictor, Committee) else (predictor,)
    assert [model.device for model in models if isinstance(model, Model)] == [torch.device("cpu:0")] * members
    assert learner.predict(predictor, corpus.dev)


class Watching(LocalExecutor):
    """Trains here, and notes on what."""

    def __init__(self) -> None:
        self.devices: list[str] = []

    def train(self, jobs: Sequence[TrainingJob], share: Model | None) -> None:
        self.devices += [job.device for job in jobs]
        super().train(jobs, share)


def test_a_device_that_is_not_there_is_named_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no device 'abacus'"):
        finish(tiny(device="abacus"), tmp_path / "run", short_stories())
    assert not (tmp_path / "run").exists()


def test_a_committee_votes(tmp_path: Path) -> None:
    config = tiny(documents=3, selector="committee", committee=2)
    rows = finish(config, tmp_path / "run", short_stories())
    assert rows[-1].final
    assert rows[0].asked
    assert rows[0].asked.questions > 0
    members = {path.name for path in (tmp_path / "run" / "checkpoints" / "round-01").iterdir()}
    assert members == {"member-0", "member-1"}


@pytest.mark.parametrize("labels", ["answered", "mix", "certain", "linked", "kept"])
def test_every_label_policy_runs(tmp_path: Path, labels: str) -> None:
    assert finish(tiny(documents=3, labels=labels), tmp_path / "run", short_stories())[-1].final


def test_the_recipe_of_simulations_has_the_product_s_model() -> None:
    recipe = resolve_recipe("simulation")
    assert recipe.model == load_recipe("default").model
    assert not recipe.model.encoder.fine_tune


def test_a_first_model_is_trained_in_full_and_a_warm_one_as_rounds_say(tmp_path: Path) -> None:
    corpus = short_stories()
    recipe = resolve_recipe("simulation")
    learner = NeuralLearner(tiny(), recipe, corpus.dev, folder=tmp_path)
    labels = (Labels.gold(corpus.train[0]),)
    first = learner._job(labels, 0, False, 0).recipe.training
    save_model(tmp_path / "round-00" / "member-0", Model.create(resolve_recipe(str(TINY_RECIPE)).model, seed=7))
    warm = learner._job(labels, 1, False, 0).recipe.training
    assert (first.min_steps, warm.min_steps) == (recipe.training.min_steps, 0)
    assert warm.epochs == recipe.rounds.epochs
    learner = NeuralLearner(tiny(start="first"), recipe, corpus.dev, folder=tmp_path)
    anew, last = (learner._job(labels, 1, final, 0).recipe.training for final in (False, True))
    assert anew == last
    assert (anew.epochs, anew.min_steps) == (recipe.training.epochs, recipe.training.min_steps)


def test_every_training_can_begin_with_the_first_model(tmp_path: Path) -> None:
    corpus = short_stories()
    config = tiny(start="first", spread=True, rounds=3, labels="kept")
    rows = finish(config, tmp_path / "run", corpus)
    assert [row.documents for row in rows] == [2, 5, 5, 5]
    kept = {path.name for path in (tmp_path / "run" / "checkpoints").iterdir()}
    assert kept == {"round-00", "round-03"}
    learner = NeuralLearner(config, resolve_recipe(str(TINY_RECIPE)), corpus.dev, folder=tmp_path / "run/checkpoints")
    labels = (Labels.gold(corpus.train[0]),)
    for final in (False, True):
        assert learner._job(labels, 3, final, 0).warm == tmp_path / "run/checkpoints/round-00/member-0"
    shutil.rmtree(tmp_path / "run/checkpoints/round-00")
    with pytest.raises(InputError, match="is gone"):
        learner._job(labels, 3, True, 0)


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


def test_a_committee_can_be_the_starter(tmp_path: Path) -> None:
    """Each member of the run begins with its own member."""
    corpus = short_stories()
    for seed in (7, 8):
        save_model(tmp_path / f"both/{seed}", Model.create(resolve_recipe(str(TINY_RECIPE)).model, seed=seed))
    save_committee(tmp_path / "both", ["7", "8"])
    config = tiny(documents=4, initial=0, starter=str(tmp_path / "both"), committee=2, selector="committee")
    rounds = finish(config, tmp_path / "run", corpus)
    predictions = [load(tmp_path / "both").model.predict(document) for document in corpus.dev]
    assert rounds[0].scores["dev"] == score_model(corpus.dev, predictions)
    learner = NeuralLearner(config, resolve_recipe(str(TINY_RECIPE)), corpus.dev, folder=tmp_path / "other")
    for member, name in enumerate("78"):
        warm = learner._job((Labels.gold(corpus.train[0]),), 0, False, member).warm
        assert warm == tmp_path / "both" / name
    with pytest.raises(ConfigError, match="is a committee of 2: set committee = 2"):
        finish(tiny(documents=4, initial=0, starter=str(tmp_path / "both")), tmp_path / "wrong", corpus)
    alone = tiny(documents=4, initial=0, starter=str(tmp_path / "both" / "7"), committee=2)
    with pytest.raises(ConfigError, match="never disagree"):
        finish(alone, tmp_path / "wrong", corpus)


def test_rules_can_be_the_starter_and_the_shipped_one_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = short_stories()
    save_model(tmp_path / "starter", Model.create(resolve_recipe(str(TINY_RECIPE)).model, seed=7))
    monkeypatch.setitem(SHIPPED, "starter", tmp_path / "starter")
    config = tiny(documents=4, initial=0, starter="rules", labels="answered")
    rounds = finish(config, tmp_path / "run", corpus)
    as_it_is = load("rules").model
    predictions = [as_it_is.predict(document) for document in corpus.dev]
    assert rounds[0].scores["dev"] == score_model(corpus.dev, predictions)
    learner = NeuralLearner(config, resolve_recipe(str(TINY_RECIPE)), corpus.dev, folder=tmp_path / "other")
    assert learner._job((Labels.gold(corpus.train[0]),), 0, False, 0).warm == tmp_path / "starter"


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

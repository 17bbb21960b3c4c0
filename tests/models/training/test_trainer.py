"""Training: what it yields, what it learns, and that nothing but its inputs decides the result."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from corefine.annotation.labels import Labels
from corefine.document import Document
from corefine.errors import InputError, ModelError
from corefine.models.network.model import Model
from corefine.models.storage.checkpoint import load_model, save_model
from corefine.models.training import jobs
from corefine.models.training.events import (
    EpochStart,
    Evaluated,
    NewBest,
    Saved,
    Started,
    Step,
    Stopped,
    TrainingEvent,
    to_json,
)
from corefine.models.training.recipe import Recipe, TrainingConfig
from corefine.models.training.trainer import train
from helpers import tiny

DOCUMENTS = tiny.documents(6)
LABELS = list(map(Labels, DOCUMENTS))
DEV = tiny.documents(3, first=100)


def weights(model: Model) -> bytes:
    return b"".join(value.numpy().tobytes() for _, value in sorted(model.tensors().items()))


def losses(events: Iterable[TrainingEvent]) -> list[float]:
    return [event.loss for event in events if isinstance(event, Step)]


def finished(config: TrainingConfig = tiny.TRAINING, **options: object) -> tuple[Model, list[TrainingEvent]]:
    model = tiny.model()
    return model, list(train(model, LABELS, config, **options))  # type: ignore[arg-type]


def test_a_plateau_outlives_a_resumed_training(tmp_path: Path) -> None:
    config = replace(tiny.TRAINING, epochs=6, schedule="plateau", warmup=0.0, plateau_patience=0, plateau_factor=0.1)
    _, whole = finished(config, dev=DEV, folder=tmp_path / "whole")
    halves = tiny.model()
    for event in train(halves, LABELS, config, dev=DEV, folder=tmp_path / "halves"):
        if isinstance(event, Saved) and event.epoch == 3:
            break
    rest = list(train(tiny.model(), LABELS, config, dev=DEV, folder=tmp_path / "halves", resume=True))
    rates = [event.learning_rate for event in whole if isinstance(event, Step)]
    assert rates[-1] < rates[0]
    assert [event.learning_rate for event in rest if isinstance(event, Step)] == rates[-len(rates) // 2 :]


def test_a_summed_loss_is_the_mean_times_the_rows() -> None:
    config = replace(tiny.TRAINING, epochs=1, documents_per_step=1, mention_loss=0.0)
    _, mean = finished(config)
    _, total = finished(replace(config, loss="sum"))
    first, second = (next(event for event in events if isinstance(event, Step)) for events in (mean, total))
    assert second.loss > 2 * first.loss


def test_it_learns() -> None:
    config = replace(tiny.TRAINING, epochs=15, documents_per_step=1)
    _, events = finished_on(tiny.documents(20), config)
    first, *_, last = (event for event in events if isinstance(event, Evaluated))
    assert first.conll_f1 < 50
    assert max(event.conll_f1 for event in events if isinstance(event, Evaluated)) > 70
    steps = losses(events)
    assert sum(steps[-20:]) < 0.5 * sum(steps[:20])
    assert last.scores["conll_f1"] == last.conll_f1


def finished_on(documents: list[Document], config: TrainingConfig) -> tuple[Model, list[TrainingEvent]]:
    model = tiny.model()
    return model, list(train(model, list(map(Labels, documents)), config, dev=DEV))


def test_events_come_in_order(tmp_path: Path) -> None:
    _, events = finished(dev=DEV, folder=tmp_path)
    kinds = [type(event) for event in events]
    epoch = [EpochStart, Step, Step, Step, Evaluated, Saved]
    assert kinds[0] is Started
    assert [kind for kind in kinds if kind is not NewBest] == [Started, *epoch * 3, Stopped]
    assert [event.step for event in events if isinstance(event, Step)] == list(range(1, 10))
    assert all(json.loads(json.dumps(to_json(event)))["event"] == type(event).__name__ for event in events)
    stopped = events[-1]
    assert isinstance(stopped, Stopped)
    assert "3 epochs" in stopped.reason


def test_the_same_seed_gives_the_same_weights_and_another_does_not() -> None:
    first, second = finished()[0], finished()[0]
    other = tiny.model()
    list(train(other, LABELS, replace(tiny.TRAINING, seed=2)))
    assert weights(first) == weights(second)
    assert weights(first) != weights(other)


def test_what_the_caller_does_with_torch_in_between_changes_nothing() -> None:
    undisturbed, _ = finished()
    model = tiny.model()
    for event in train(model, LABELS, tiny.TRAINING):
        if isinstance(event, Step):
            torch.manual_seed(event.step * 99)
            torch.rand(3)
    assert weights(model) == weights(undisturbed)


def test_training_leaves_the_callers_random_numbers_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(4)
    torch.manual_seed(5)
    finished(replace(tiny.TRAINING, epochs=1))
    assert torch.equal(torch.rand(4), expected)


def test_it_stops_when_nothing_gets_better_and_gives_back_the_best(tmp_path: Path) -> None:
    config = replace(tiny.TRAINING, epochs=30, patience=2, learning_rate=1e-9, encoder_learning_rate=1e-9)
    model, events = finished(config, dev=DEV, folder=tmp_path)
    stopped = events[-1]
    assert isinstance(stopped, Stopped)
    assert "no better development F1 in 2 epochs" in stopped.reason
    assert (stopped.epochs, stopped.best_epoch) == (3, 0)
    assert weights(load_model(tmp_path)) == weights(model)


@pytest.mark.parametrize("ema", [0.0, 0.9])
def test_the_final_model_is_the_one_that_scored_best(tmp_path: Path, ema: float) -> None:
    """Scoring the model that comes out gives the F1 of `Stopped`, on disk and in memory alike."""
    from corefine.models.evaluation import evaluate

    config = replace(tiny.TRAINING, epochs=8, ema=ema)
    kept, events = finished(config, dev=DEV, folder=tmp_path)
    unkept, _ = finished(config, dev=DEV)
    stopped = events[-1]
    assert isinstance(stopped, Stopped)
    assert stopped.best_f1 == evaluate(kept.predict, DEV).conll_f1
    assert weights(kept) == weights(unkept) == weights(load_model(tmp_path))


def test_the_running_mean_is_another_model() -> None:
    assert weights(finished()[0]) != weights(finished(replace(tiny.TRAINING, ema=0.9))[0])


def test_a_stopped_caller_can_resume(tmp_path: Path) -> None:
    whole, _ = finished(dev=DEV)
    config = replace(tiny.TRAINING, save_every=2)
    for event in train(tiny.model(), LABELS, config, dev=DEV, folder=tmp_path):
        if isinstance(event, Step) and event.step == 5:
            break
    model = tiny.model(seed=77)  # whatever it starts from, the state on disk counts
    events = list(train(model, LABELS, config, dev=DEV, folder=tmp_path, resume=True))
    assert isinstance(events[0], Started)
    assert (events[0].epoch, events[0].step) == (1, 4)
    assert weights(model) == weights(whole)
    again = tiny.model(seed=78)
    assert [type(event) for event in train(again, LABELS, config, dev=DEV, folder=tmp_path, resume=True)] == [
        Started,
        Stopped,
    ]
    assert weights(again) == weights(whole)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"config": replace(tiny.TRAINING, seed=9)}, "training configuration"),
        ({"documents": DOCUMENTS[1:]}, "training documents"),
        ({"dev": DEV[1:]}, "development documents"),
    ],
)
def test_another_run_cannot_be_resumed(tmp_path: Path, change: dict[str, object], named: str) -> None:
    start = {"config": tiny.TRAINING, "documents": DOCUMENTS, "dev": DEV}
    run(tmp_path, start)
    with pytest.raises(InputError, match=named):
        run(tmp_path, start | change)


def run(folder: Path, options: dict[str, object]) -> None:
    labels = list(map(Labels, options["documents"]))  # type: ignore[call-overload]
    list(train(tiny.model(), labels, options["config"], dev=options["dev"], folder=folder, resume=True))  # type: ignore[arg-type]


def test_a_run_of_an_earlier_version_can_be_resumed(tmp_path: Path) -> None:
    folder = shutil.copytree(Path(__file__).parents[2] / "fixtures" / "older" / "model", tmp_path / "model")
    model = tiny.model(seed=77)
    events = list(train(model, LABELS, tiny.TRAINING, folder=folder, resume=True))
    assert [type(event) for event in events] == [Started, Stopped]  # it was over
    assert weights(model) == weights(load_model(folder))


def test_a_warm_start_begins_where_the_other_model_ended(tmp_path: Path) -> None:
    first, events = finished(replace(tiny.TRAINING, epochs=8))
    save_model(tmp_path, first)
    warm = load_model(tmp_path)
    again = losses(train(warm, LABELS, replace(tiny.TRAINING, epochs=1)))
    assert again[0] < 0.8 * losses(events)[0]  # the same document comes first


def test_a_frozen_model_is_thawed_by_a_recipe_that_fine_tunes(tmp_path: Path) -> None:
    frozen = replace(tiny.CONFIG, encoder=replace(tiny.CONFIG.encoder, fine_tune=False))
    save_model(tmp_path / "frozen", tiny.model(3, frozen))
    labels = list(map(Labels, tiny.documents(2)))
    recipe = Recipe(tiny.CONFIG, replace(tiny.TRAINING, epochs=1, learning_rate=1e-9))
    warm, folder = tmp_path / "frozen", tmp_path / "tuned"
    list(jobs.run(jobs.TrainingJob(recipe=recipe, labels=labels, folder=folder, warm=warm, threads=1)))
    before, after = load_model(tmp_path / "frozen"), load_model(tmp_path / "tuned")
    assert before.frozen
    assert not after.frozen
    for name, value in before.ranker.state_dict().items():  # at so small a rate the head is as it was
        torch.testing.assert_close(after.ranker.state_dict()[name], value)
    assert before.encoder.fingerprint() != after.encoder.fingerprint()


def test_few_documents_get_more_passes() -> None:
    settings = replace(tiny.TRAINING, epochs=2, min_steps=7, documents_per_step=1)
    events = list(train(tiny.model(), list(map(Labels, tiny.documents(3))), settings))
    assert sum(isinstance(event, Step) for event in events) == 9  # three passes over three documents
    assert next(event for event in events if isinstance(event, Started)).epochs == 3
    enough = list(train(tiny.model(), list(map(Labels, tiny.documents(4))), settings))
    assert sum(isinstance(event, Step) for event in enough) == 8


def test_documents_with_many_answers_get_more_passes() -> None:
    document = tiny.documents(1)[0]
    mentions = tuple(span for cluster in document.clusters for span in cluster)[:4]
    labels = [Labels(document, full=False, together=(mentions[:3],), first=mentions[3:])]
    assert len(labels[0].settled) == 3

    def steps(policy: str) -> int:
        settings = replace(tiny.TRAINING, epochs=2, labels=policy, steps_per_answer=1.5, documents_per_step=1)
        return sum(isinstance(event, Step) for event in train(tiny.model(), labels, settings))

    assert steps("linked") == 5  # at least 1.5 steps for each of three answers
    assert steps("pseudo") == 2  # which does not learn from answers


def test_nothing_to_train_on_is_said() -> None:
    with pytest.raises(InputError, match="nothing to train on"):
        list(train(tiny.model(), [Labels(Document("empty", (), ()))], tiny.TRAINING))


def test_a_loss_that_is_no_number_stops_training_and_leaves_the_last_save(tmp_path: Path) -> None:
    model = tiny.model()
    events = train(model, LABELS, tiny.TRAINING, folder=tmp_path)
    with pytest.raises(ModelError, match="the loss is nan"):  # noqa: PT012
        for event in events:
            if isinstance(event, Saved):
                with torch.no_grad():
                    model.ranker.pair.score.weight.fill_(float("nan"))
    assert torch.isfinite(load_model(tmp_path).ranker.pair.score.weight).all()


def test_documents_of_one_token_or_no_mention_train() -> None:
    odd = [
        Document.from_sentences("one", [["Yes"]]),
        Document.from_sentences("none", [["It", "rains", "."]]),
        Document("empty", (), ()),
    ]
    model = tiny.model()
    assert len(losses(train(model, list(map(Labels, odd)), replace(tiny.TRAINING, epochs=2)))) == 2

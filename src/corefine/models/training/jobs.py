"""Training jobs: from labels to a model in a folder. One model, or a committee whose members train side by side."""

from __future__ import annotations

import multiprocessing
import queue
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from corefine.annotation.labels import Labels
from corefine.document import Document
from corefine.errors import CorefineError, InputError, ModelError
from corefine.files import write_atomically
from corefine.models.calibration import calibrate, link_as_taught
from corefine.models.committee import committee_members, save_committee
from corefine.models.devices import choose_device, cores, use_threads
from corefine.models.network.encoders import states_in_blocks
from corefine.models.network.model import TOKENS_IN_BLOCK, Model
from corefine.models.storage.checkpoint import load_model, save_model
from corefine.models.training.events import Encoding, Stopped, TrainingEvent
from corefine.models.training.recipe import Recipe
from corefine.models.training.trainer import STATE, train

DONE = "done"
"""A file in the folder of a job that is finished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """Everything that one training needs.

    folder        where the model goes
    resume        go on with an interrupted training in the folder, if there is one
    warm          the folder of a model to start from; its settings replace those of the recipe's model, but a recipe
                  that fine-tunes the encoder also does so if the model's encoder was frozen
    members       more than one makes a committee; member i has the recipe's seed + i
    workers       members that train at the same time; None: as many as there are cores, one on a GPU
    cache         a folder for the states of a frozen encoder
    about         facts to save with the model
    keep_state    whether the state of the training stays in the folder when it is done
    """

    recipe: Recipe
    labels: Sequence[Labels]
    folder: Path
    dev: Sequence[Document] = ()
    device: str = "auto"
    threads: int | None = None
    resume: bool = False
    warm: Path | None = None
    members: int = 1
    workers: int | None = None
    cache: Path | None = None
    about: dict[str, Any] = field(default_factory=dict)
    keep_state: bool = True

    @property
    def done(self) -> bool:
        return (self.folder / DONE).is_file()


@dataclass(frozen=True, slots=True)
class MemberEvent:
    """An event, and the member it is about (0 for a single model)."""

    member: int
    event: TrainingEvent


def train_model(job: TrainingJob, share: Model | None = None) -> Iterator[TrainingEvent]:
    """Train one model into the job's folder. If `share` has the encoder that is needed, it is not loaded again."""
    use_threads(job.threads)
    model = _initial_model(job, share)
    if not job.resume:
        (job.folder / DONE).unlink(missing_ok=True)
    yield from _encode(model, job)
    events = train(
        model,
        job.labels,
        job.recipe.training,
        dev=job.dev,
        folder=job.folder,
        resume=job.resume,
        untrained=job.warm is None,
    )
    for event in events:
        if isinstance(event, Stopped):
            _finish(job, model, event)
        yield event


def run(job: TrainingJob) -> Iterator[MemberEvent]:
    """Train the job's model, or all members of its committee."""
    if job.members < 1:
        raise InputError(f"a committee has at least one member, not {job.members}")
    if job.members == 1:
        yield from (MemberEvent(0, event) for event in train_model(job))
        return
    device = choose_device(job.device)
    workers = min(job.members, job.workers or (cores() if device.type == "cpu" else 1))
    jobs = [_member(job, number, workers) for number in range(job.members)]
    if workers == 1:
        for number, member in enumerate(jobs):
            yield from (MemberEvent(number, event) for event in train_model(member))
    else:
        use_threads(jobs[0].threads)
        yield from (MemberEvent(0, event) for event in _encode(_initial_model(jobs[0]), jobs[0]))
        yield from _side_by_side(jobs, workers)
    save_committee(job.folder, [member.folder.name for member in jobs], job.about)


def _member(job: TrainingJob, number: int, workers: int) -> TrainingJob:
    training = replace(job.recipe.training, seed=job.recipe.training.seed + number)
    return replace(
        job,
        recipe=replace(job.recipe, training=training),
        folder=job.folder / f"member-{number}",
        warm=_warm_member(job.warm, number),
        threads=job.threads or (max(1, cores() // workers) if workers > 1 else None),
        members=1,
    )


def _warm_member(warm: Path | None, number: int) -> Path | None:
    """The model that a member starts from: the same member of a committee, or the one model that all start from."""
    members = committee_members(warm) if warm is not None else []
    return members[number % len(members)] if members else warm


def _initial_model(job: TrainingJob, share: Model | None = None) -> Model:
    """The model that training starts from, on the job's device."""
    settings = job.recipe.model
    if job.warm is not None:
        model = load_model(job.warm, share=share, cache=job.cache)
        if model.frozen and settings.encoder.fine_tune:
            model = model.thawed(settings.encoder)
    else:
        encoder = share.encoder_for(settings.encoder) if share is not None else None
        model = Model.create(settings, seed=job.recipe.training.seed, encoder=encoder, cache=job.cache)
    return model.to(choose_device(job.device))


def _encode(model: Model, job: TrainingJob) -> Iterator[Encoding]:
    """Fill the cache of a frozen encoder, for this training and the other members of a committee."""
    if not model.frozen or job.cache is None:
        return
    documents = [*(labels.document for labels in job.labels), *job.dev]
    for number, document in enumerate(documents, start=1):
        for _ in states_in_blocks(model.encoder, document, TOKENS_IN_BLOCK):
            pass  # those of a long document never fill the memory
        yield Encoding(number, len(documents))


def _finish(job: TrainingJob, model: Model, stopped: Stopped) -> None:
    """Save the final model with the facts about its training, and mark the job as done."""
    calibration = _calibrate(job, model)
    trained = {
        **job.about,
        "documents": len(job.labels),
        "epochs": stopped.epochs,
        "best_epoch": stopped.best_epoch,
        "dev_conll_f1": stopped.best_f1,
        "training": job.recipe.training.to_dict(),
        "calibration": calibration,
    }
    save_model(job.folder, model, trained)
    write_atomically(job.folder / DONE, b"")
    if not job.keep_state:
        for path in job.folder.glob(f"{STATE}*"):
            path.unlink()


def _calibrate(job: TrainingJob, model: Model) -> dict[str, float] | None:
    """Calibrate the model on development documents, or else its threshold on the documents that it learnt from.

    The paper has no rule for the second case, so its policy keeps the threshold that training began with.
    """
    training = job.recipe.training
    if not training.calibrate:
        return None
    if job.dev:
        return asdict(calibrate(model, job.dev))
    taught = [labels for labels in job.labels if labels.teach(training.label_policy)]
    if not training.label_policy.threshold or not taught:
        return None
    return {"threshold": link_as_taught(model, taught)}


def _side_by_side(jobs: Sequence[TrainingJob], workers: int) -> Iterator[MemberEvent]:
    """Train members in processes of their own, `workers` at a time."""
    context = multiprocessing.get_context("spawn")
    events: Any = context.Queue()
    waiting = list(enumerate(jobs))
    running: dict[int, BaseProcess] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                number, job = waiting.pop(0)
                running[number] = context.Process(target=_work, args=(job, number, events), daemon=True)
                running[number].start()
            try:
                number, event = events.get(timeout=1.0)
            except queue.Empty:
                for number, process in running.items():
                    if not process.is_alive():
                        raise ModelError(f"the process of member {number} ended with {process.exitcode}") from None
                continue
            if isinstance(event, str):
                raise ModelError(f"member {number}: {event}")
            if event is None:
                running.pop(number).join()
            else:
                yield MemberEvent(number, event)
    finally:
        for process in running.values():
            process.terminate()
            process.join()


def _work(job: TrainingJob, number: int, events: Any) -> None:
    """Train one member in its process. Sends its events, then None; or an error message."""
    try:
        parent = multiprocessing.parent_process()
        for event in train_model(job):
            if parent is not None and not parent.is_alive():
                return  # nobody reads the events; the training can be resumed
            if not isinstance(event, Encoding):
                events.put((number, event))
        events.put((number, None))
    except CorefineError as error:
        events.put((number, str(error)))
    except (ArithmeticError, MemoryError, OSError, RuntimeError) as error:
        events.put((number, f"{type(error).__name__}: {error}"))

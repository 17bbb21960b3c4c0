"""Training runs from documents to a folder: one model, or a committee whose members train side by side."""

from __future__ import annotations

import multiprocessing
import queue
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from corefine.annotation.labels import Labels
from corefine.document import Document
from corefine.errors import CorefineError, InputError, ModelError
from corefine.models.committee import save_committee
from corefine.models.devices import choose_device
from corefine.models.network.model import Model
from corefine.models.storage.checkpoint import load_model, save_model
from corefine.models.threads import cores, use_threads
from corefine.models.training.events import Encoding, Event, Stopped
from corefine.models.training.recipe import Recipe
from corefine.models.training.trainer import train


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """All that one training run needs.

    warm       the folder of a model to begin from; its settings replace those of the recipe's model, but a recipe
               that fine-tunes the encoder does so with a model whose encoder was frozen
    members    more than one makes a committee; member i has the recipe's seed + i
    workers    members that train at the same time; None: as many as there are cores, one on a GPU
    cache      a folder for the states of a frozen encoder
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


@dataclass(frozen=True, slots=True)
class MemberEvent:
    """What happened, and to which member (0 for a single model)."""

    member: int
    event: Event


def run(job: Job) -> Iterator[MemberEvent]:
    """Train into the job's folder. A run that was interrupted goes on with `resume`."""
    if job.members < 1:
        raise InputError(f"a committee has at least one member, not {job.members}")
    if job.members == 1:
        yield from _one(job, 0)
        return
    device = choose_device(job.device)
    workers = min(job.members, job.workers or (cores() if device.type == "cpu" else 1))
    jobs = [_member(job, number, workers) for number in range(job.members)]
    if workers == 1:
        for number, of_member in enumerate(jobs):
            yield from _one(of_member, number)
    else:
        yield from (MemberEvent(0, event) for event in _encode(_model(jobs[0]), jobs[0]))
        yield from _side_by_side(jobs, workers)
    save_committee(job.folder, [of_member.folder.name for of_member in jobs], job.about)


def _member(job: Job, number: int, workers: int) -> Job:
    training = replace(job.recipe.training, seed=job.recipe.training.seed + number)
    threads = job.threads or (max(1, cores() // workers) if workers > 1 else None)
    return replace(
        job,
        recipe=replace(job.recipe, training=training),
        folder=job.folder / f"member-{number}",
        threads=threads,
        members=1,
    )


def _model(job: Job) -> Model:
    """The model a job begins with, on its device."""
    if job.warm is not None:
        model = load_model(job.warm, cache=job.cache)
        if model.frozen and job.recipe.model.encoder.fine_tune:
            model = model.thawed(job.recipe.model.encoder)
    else:
        model = Model.create(job.recipe.model, seed=job.recipe.training.seed, cache=job.cache)
    return model.to(choose_device(job.device))


def _one(job: Job, number: int) -> Iterator[MemberEvent]:
    use_threads(job.threads)
    model = _model(job)
    yield from (MemberEvent(number, encoding) for encoding in _encode(model, job))
    for event in train(model, job.labels, job.recipe.training, dev=job.dev, folder=job.folder, resume=job.resume):
        if isinstance(event, Stopped):
            _finish(job, model, event)
        yield MemberEvent(number, event)


def _finish(job: Job, model: Model, stopped: Stopped) -> None:
    """Write the final model with what it was made of."""
    trained = {
        **job.about,
        "documents": len(job.labels),
        "epochs": stopped.epochs,
        "best_epoch": stopped.best_epoch,
        "dev_conll_f1": stopped.best_f1,
        "training": job.recipe.training.to_dict(),
    }
    save_model(job.folder, model, trained)


def _encode(model: Model, job: Job) -> Iterator[Encoding]:
    """Fill the cache of a frozen encoder, so that training, and every member of a committee, finds it full."""
    if not model.frozen or job.cache is None:
        return
    use_threads(None if job.threads is None else max(job.threads, 1))
    documents = [*(labels.document for labels in job.labels), *job.dev]
    for number, document in enumerate(documents, start=1):
        model.encoder.encode(document)
        yield Encoding(number, len(documents))


def _side_by_side(jobs: Sequence[Job], workers: int) -> Iterator[MemberEvent]:
    """Members in processes of their own, a few at a time."""
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


def _work(job: Job, number: int, events: Any) -> None:
    """One member, in its process: events, then None; or a message if it fails."""
    try:
        parent = multiprocessing.parent_process()
        for found in _one(job, number):
            if parent is not None and not parent.is_alive():
                return  # nobody listens any more; what is saved can be resumed
            if not isinstance(found.event, Encoding):
                events.put((number, found.event))
        events.put((number, None))
    except CorefineError as error:
        events.put((number, str(error)))

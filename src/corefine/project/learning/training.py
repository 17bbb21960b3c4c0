"""Training on people's answers. If it fails, the project says so and keeps the version before."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select, update

from corefine.annotation.labels import Labels
from corefine.document import Document
from corefine.errors import CorefineError, InputError
from corefine.models.evaluation import evaluate
from corefine.prediction import Prediction
from corefine.project.project import Project
from corefine.project.results.merged import merged
from corefine.project.store import predictions, schema
from corefine.project.store.log import count_answers
from corefine.project.store.predictions import FAILED, READY, TRAINED, TRAINING

if TYPE_CHECKING:
    from corefine.project.learning.worker import Worker

INTERRUPTED = "training was interrupted"
MOST_INTERRUPTIONS = 2
"""After this many interruptions in a row, training starts again only on request."""
RECIPE = "app"
PAUSE_SECONDS = 1.0


def is_due(project: Project) -> bool:
    """Whether training was requested, or there are enough new answers."""
    every = project.settings.retrain_every
    with project.database.read() as connection:
        if connection.execute(select(schema.worker.c.requested)).scalar():
            return True
        answers = count_answers(connection)
        runs = [version for version in predictions.all_versions(connection) if version.kind == TRAINED]
    if not every or not answers:
        return False
    last = runs[-MOST_INTERRUPTIONS:]
    if last and last[-1].message == INTERRUPTED:
        return len(last) < MOST_INTERRUPTIONS or any(run.message != INTERRUPTED for run in last)
    return answers - (last[-1].answers if last else 0) >= every


def request(project: Project) -> None:
    """Ask the worker to train as soon as it can."""
    project.writer.write(lambda connection: connection.execute(update(schema.worker).values(requested=True)))


def train(project: Project, worker: Worker) -> None:
    """Make a new version from the starter model and all answers so far."""

    def begin(connection: Connection) -> tuple[int, int]:
        connection.execute(update(schema.worker).values(requested=False))
        answers = count_answers(connection)
        number = predictions.add_version(connection, f"{answers} answers", TRAINED, state=TRAINING, answers=answers)
        return number, answers

    number, answers = project.writer.write(begin)
    worker.report("training", share_done=0.0)
    try:
        f1 = _run(project, worker, number, answers)
    except (CorefineError, RuntimeError, MemoryError, OSError, ArithmeticError) as error:
        message = f"{type(error).__name__}: {error}" if not isinstance(error, CorefineError) else str(error)
        shutil.rmtree(project.models / f"v{number}", ignore_errors=True)
        project.writer.write(lambda connection: predictions.finish_version(connection, number, FAILED, message=message))
        worker.report("failed", message=f"training failed: {message}")
        return
    project.writer.write(lambda connection: predictions.finish_version(connection, number, READY, f1=f1))


def _run(project: Project, worker: Worker, number: int, answers: int) -> float | None:
    from corefine.models.load import load, need_model

    need_model()
    from corefine.models import resolver
    from corefine.models.storage.checkpoint import is_model
    from corefine.models.training.events import Started, Step
    from corefine.models.training.jobs import TrainingJob, train_model
    from corefine.models.training.recipe import load_recipe

    if not is_model(resolver.STARTER):
        raise InputError("training starts from the starter model, which is not installed; make it with `make starter`")
    labels = training_labels(project)
    if not labels:
        raise InputError("there is nothing to train on: no document has answers")
    job = TrainingJob(
        recipe=load_recipe(RECIPE),
        labels=labels,
        folder=project.models / f"v{number}",
        warm=resolver.STARTER,
        cache=project.folder / "cache",
        about={"answers": answers},
        keep_state=False,
    )
    steps = 1
    last = time.monotonic()
    for event in train_model(job):
        if isinstance(event, Started):
            steps = max(1, event.epochs * event.steps_per_epoch)
        elif isinstance(event, Step) and time.monotonic() - last >= PAUSE_SECONDS:
            worker.pause()
            worker.report("training", share_done=min(1.0, event.step / steps))
            last = time.monotonic()
    return held_out_f1(project, load(job.folder, cache=job.cache).model.predict)


def training_labels(project: Project) -> list[Labels]:
    """The labels of every document that has answers."""
    with project.database.read() as connection:
        ready = [version.id for version in predictions.all_versions(connection) if version.state == READY]
        answered = connection.execute(select(schema.events.c.document_id).distinct()).scalars().all()
    found = []
    for document_id in sorted(answered):
        version = project.predictions.newest(ready, document_id)
        if version is not None:
            session = merged(project, document_id, project.predictions.load(version, document_id)).session
            if session.entries:
                found.append(Labels.from_session(session))
    return found


def held_out_f1(project: Project, predict: Callable[[Document], Prediction]) -> float | None:
    """CoNLL F1 on the held-out documents, singletons dropped; None if there are none."""
    held_out = [project.documents.get(entry.id) for entry in project.documents.all() if entry.held_out]
    return evaluate(predict, held_out).conll_f1 if held_out else None

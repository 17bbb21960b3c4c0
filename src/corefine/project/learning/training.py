"""Training on people's answers. If it fails, the project says so and keeps the previous version."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select, update

from corefine.annotation.labels import Labels
from corefine.document import Document
from corefine.errors import CorefineError, DamagedDocumentError, InputError, ModelError
from corefine.models.evaluation import evaluate
from corefine.prediction import Prediction
from corefine.project.learning.held_back import FEWEST, HeldBackAnswer, fit, hold_back, is_worse
from corefine.project.project import Project
from corefine.project.results.merged import Merged, merged
from corefine.project.results.snapshot import Snapshot
from corefine.project.store import predictions, schema, settings
from corefine.project.store.documents import DocumentInfo
from corefine.project.store.log import count_answers
from corefine.project.store.predictions import FAILED, READY, TRAINED, TRAINING, ModelVersion
from corefine.project.store.settings import HELD_BACK

if TYPE_CHECKING:
    from corefine.models.training.recipe import Recipe
    from corefine.project.learning.worker import Worker

INTERRUPTED = "training was interrupted"
MOST_INTERRUPTIONS = 2
"""After this many interruptions in a row, training starts again only on request."""
RECIPE = "app"
STEPS_IN_FULL = 100
"""The smallest number of training steps if documents, or parts of them, were annotated in full."""
PAUSE_SECONDS = 1.0
FEWEST_ANSWERS = 10
"""Fewer answers than this teach nothing that is more than chance, unless parts are annotated in full."""
MOST_CONTRADICTED = 1 / 3
"""If more of the answers than this contradict others, nobody knows which of them are right."""
LARGEST_F1_LOSS = 2.0
"""How far F1 on held-out documents may be below the best so far. On a few documents it varies so much by chance."""

MODEL_ERRORS = (
    CorefineError, RuntimeError, MemoryError, OSError, ArithmeticError, LookupError, ValueError, TypeError,
    AttributeError, AssertionError, ImportError,
)  # fmt: skip
"""The errors that a model, which may be anybody's code, can raise. Errors of the database are not among them."""


def is_due(project: Project) -> bool:
    """Whether training was requested, or there are enough new answers."""
    every = project.settings.retrain_every
    with project.database.read() as connection:
        if connection.execute(select(schema.worker.c.requested)).scalar():
            return True
        answers = count_answers(connection)
        runs = [version for version in predictions.all_versions(connection) if version.kind == TRAINED]
    if not every or answers < FEWEST_ANSWERS:
        return False
    last = runs[-MOST_INTERRUPTIONS:]
    if last and last[-1].message == INTERRUPTED:
        return len(last) < MOST_INTERRUPTIONS or any(run.message != INTERRUPTED for run in last)
    return answers - (last[-1].answers if last else 0) >= every


def request(project: Project) -> None:
    """Ask the worker to train as soon as it can."""
    project.writer.write(lambda connection: connection.execute(update(schema.worker).values(requested=True)))


def train(project: Project, worker: Worker) -> None:
    """Make a new version from the project's first model and all answers so far."""

    def begin(connection: Connection) -> tuple[int, int]:
        connection.execute(update(schema.worker).values(requested=False))
        answers = count_answers(connection)
        number = predictions.add_version(connection, f"{answers} answers", TRAINED, state=TRAINING, answers=answers)
        return number, answers

    number, answers = project.writer.write(begin)
    worker.report("training", share_done=0.0)
    try:
        f1 = _run(project, worker, number, answers)
    except MODEL_ERRORS as error:
        message = f"{type(error).__name__}: {error}" if not isinstance(error, CorefineError) else str(error)
        shutil.rmtree(project.models / f"v{number}", ignore_errors=True)
        project.writer.write(lambda connection: predictions.finish_version(connection, number, FAILED, message=message))
        worker.report("failed", message=f"training failed: {message}")
        return
    project.writer.write(lambda connection: predictions.finish_version(connection, number, READY, f1=f1))


def _run(project: Project, worker: Worker, number: int, answers: int) -> float | None:
    from corefine.models.load import load, model_folder, need_model

    need_model()
    from corefine.models.committee import member_count
    from corefine.models.devices import cores
    from corefine.models.training.events import Started, Step
    from corefine.models.training.jobs import TrainingJob, run

    # Rules and Python code cannot be trained: a project that begins with them learns from the starter model.
    warm = model_folder(project.settings.model) or model_folder("starter")
    present = {info.id for info in Snapshot(project).chosen("answered")}
    lesson = Lesson.of(project)
    lesson.check()
    job = TrainingJob(
        recipe=recipe_for(lesson.labels),
        labels=lesson.labels,
        folder=project.models / f"v{number}",
        warm=warm,
        members=member_count(warm),
        workers=max(1, cores() - 1),  # members train side by side, but leave a core to the page
        cache=project.folder / "cache",
        about={"answers": answers},
        keep_state=False,
    )
    steps, done = 1, dict.fromkeys(range(job.members), 0)
    last = time.monotonic()
    for found in run(job):
        event = found.event
        if isinstance(event, Started):
            steps = max(1, event.epochs * event.steps_per_epoch * job.members)
        elif isinstance(event, Step):
            done[found.member] = event.step
            if time.monotonic() - last >= PAUSE_SECONDS:
                worker.pause()
                worker.report("training", share_done=min(1.0, sum(done.values()) / steps))
                last = time.monotonic()
    predict = load(job.folder, cache=job.cache).model.predict
    _compare(project, number, lesson.held_back, predict)
    f1 = held_out_f1(project, predict)
    if f1 is not None and project.settings.hold_back:
        _check_f1(project, worker, f1)
    _check_deleted(project, present)
    return f1


def recipe_for(labels: Sequence[Labels]) -> Recipe:
    """The recipe for training on these labels.

    Parts annotated in full have more to teach, so training takes more steps.
    """
    from corefine.models.training.recipe import load_recipe

    recipe = load_recipe(RECIPE)
    if not any(each.full or each.complete for each in labels):
        return recipe
    return replace(recipe, training=replace(recipe.training, min_steps=STEPS_IN_FULL))


@dataclass(slots=True)
class Lesson:
    """What people's answers teach.

    labels          of every readable document with answers
    held_back       the answers that are not in the labels, to compare models on
    answers         how many answers and edits say something
    contradicted    how many more were left out, because they contradict earlier ones, and the owner has not decided
    """

    labels: list[Labels] = field(default_factory=list)
    held_back: list[HeldBackAnswer] = field(default_factory=list)
    answers: int = 0
    contradicted: int = 0

    @classmethod
    def of(cls, project: Project) -> Lesson:
        """What the answers in a project teach."""
        snapshot, lesson = Snapshot(project), cls()

        def everybody(info: DocumentInfo) -> Merged | None:
            version, prediction = snapshot.prediction(info.id)
            return None if version is None else merged(snapshot, info.id, prediction)

        for info, found in snapshot.each(everybody, only="answered"):
            if found is None:
                continue
            lesson.answers += len(found.sources)
            lesson.contradicted += found.unsettled
            if snapshot.settings.hold_back:
                lesson.held_back += hold_back(found, info.id)
            if found.session.entries:
                lesson.labels.append(found.labels)
        return lesson

    def check(self) -> None:
        """Raise if a model that learns this would be no better than the one in use."""
        if not self.labels:
            raise InputError("there is nothing to train on: no answer says anything yet")
        if self.contradicted > MOST_CONTRADICTED * (self.answers + self.contradicted):
            raise InputError(
                f"{self.contradicted} of {self.answers + self.contradicted} answers contradict others: the owner can "
                "settle them by adjudication, and then train again"
            )
        in_full = any(labels.full or labels.complete for labels in self.labels)
        if self.answers < FEWEST_ANSWERS and not in_full:
            raise InputError(
                f"{self.answers} answers that say something are too few to learn from: the model learns from "
                f"{FEWEST_ANSWERS} on"
                if self.answers > 1
                else f"one answer is too little to learn from: the model learns from {FEWEST_ANSWERS} on"
            )


def _compare(
    project: Project, number: int, held_back: list[HeldBackAnswer], predict: Callable[[Document], Prediction]
) -> None:
    """Score the new version and those before on the held-back answers; raise if one of these is clearly better.

    All are scored on the answers that there are now, so that the learning curve can be compared along its length. The
    new version is compared with all of them, so that small losses do not add up.
    """
    if len(held_back) < FEWEST:
        return
    before = _since_first(project)
    with project.database.read() as connection:
        fits = settings.get(connection, HELD_BACK, {})
    new, new_logs = fit(held_back, lambda document_id: predict(project.documents.get(document_id)))
    fits[str(number)] = asdict(new)
    worse = []
    for version in before:
        try:
            old, old_logs = fit(held_back, partial(project.predictions.load, version.id))
        except ModelError:
            if version == before[-1]:
                raise
            # it has not read all of these documents
            fits.pop(str(version.id), None)
            continue
        fits[str(version.id)] = asdict(old)
        if is_worse(new_logs, old_logs):
            worse.append((old.probability, version))
    project.writer.write(lambda connection: settings.put(connection, HELD_BACK, fits))
    if worse:
        probability, version = max(worse, key=lambda pair: pair[0])
        which = "the one in use" if version == before[-1] else f"version {version.id}"
        raise InputError(
            f"the new model finds {len(held_back)} held-back answers much less probable than {which} "
            f"({new.probability:.0%} against {probability:.0%}); the one in use stays"
        )


def _since_first(project: Project) -> list[ModelVersion]:
    """The versions that can be used, from the project's first model on, oldest first."""
    with project.database.read() as connection:
        ready = [version for version in predictions.all_versions(connection) if version.is_ready]
    return ready[max(at for at, version in enumerate(ready) if version.kind != TRAINED) :]


def _check_deleted(project: Project, present: set[int]) -> None:
    """Raise if a document was deleted since training on it began: no model may learn from a deleted document."""
    deleted = [info.key for info in project.documents.all(trashed=True) if info.id in present]
    if deleted:
        raise InputError(
            f"the new model learnt from documents that were deleted meanwhile ({', '.join(deleted)}); "
            "the one in use stays: train again to learn from the others"
        )


def _check_f1(project: Project, worker: Worker, f1: float) -> None:
    """Raise if an earlier version has a clearly better F1 on the held-out documents than the new one.

    If people's answers are wrong, so are those that are held back. Only gold labels can show it. The new version is
    compared with the one in use and with all better ones since the project's first model was chosen, so that small
    losses do not add up. Held-out documents may have been added or deleted since these were scored, so they are scored
    again. A version that can no longer be loaded is left out.
    """
    before, least = _since_first(project), f1 + LARGEST_F1_LOSS
    rivals = [version for version in before if version is before[-1] or (version.f1 or 0.0) > least]
    for rival in sorted(rivals, key=lambda version: -(version.f1 or 0.0)):
        try:
            found = held_out_f1(project, worker.predictor(rival))
        except MODEL_ERRORS:
            continue
        _keep_f1(project, rival, found)
        if found is not None and found > least:
            raise InputError(
                f"the new model has an F1 of {f1:.1f} on the held-out documents, and the best one so far {found:.1f}; "
                "the one in use stays"
            )


def _keep_f1(project: Project, version: ModelVersion, f1: float | None) -> None:
    """Replace the F1 of a version that was scored again, so that the learning curve is on the same documents."""
    if f1 != version.f1:
        project.writer.write(lambda connection: predictions.finish_version(connection, version.id, READY, f1=f1))


def held_out_f1(project: Project, predict: Callable[[Document], Prediction]) -> float | None:
    """CoNLL F1 on the held-out documents, singletons dropped; None if there are none."""
    held_out = []
    for entry in project.documents.all():
        if entry.held_out:
            with suppress(DamagedDocumentError):
                held_out.append(project.documents.get(entry.id))
    return evaluate(predict, held_out).conll_f1 if held_out else None

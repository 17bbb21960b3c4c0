"""Training on people's answers. If it fails, the project says so and keeps the previous version."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select, update

from corefine.annotation.labels import Labels
from corefine.errors import CorefineError, InputError
from corefine.project.learning import takeover
from corefine.project.learning.held_back import HeldBackAnswer, hold_back
from corefine.project.learning.long_documents import predict_long
from corefine.project.project import Project
from corefine.project.results.merged import Merged, merged
from corefine.project.results.snapshot import Snapshot
from corefine.project.store import predictions, schema
from corefine.project.store.documents import DocumentInfo
from corefine.project.store.log import count_answers
from corefine.project.store.predictions import FAILED, READY, TRAINED, TRAINING
from corefine.project.work import imported_entities

if TYPE_CHECKING:
    from corefine.models.training.recipe import Recipe
    from corefine.project.learning.worker import Worker

INTERRUPTED = "training was interrupted"
MOST_INTERRUPTIONS = 2
"""After this many interruptions in a row, training waits for as many new answers as it usually does."""
RECIPE = "app"
STEPS_IN_FULL = 100
"""The smallest number of training steps if documents, or parts of them, were annotated in full."""
PAUSE_SECONDS = 1.0
FEWEST_ANSWERS = 10
"""Fewer answers than this teach nothing that is more than chance, unless parts are annotated in full."""
MOST_CONTRADICTED = 1 / 3
"""If more of the answers than this contradict others, nobody knows which of them are right."""


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
    interrupted = [run.message == INTERRUPTED for run in last]
    if last and interrupted[-1] and (len(last) < MOST_INTERRUPTIONS or not all(interrupted)):
        return True
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
    except takeover.MODEL_ERRORS as error:
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

    def pause() -> None:
        """Let the worker read a new document, and tell the server that it is alive."""
        nonlocal last
        if time.monotonic() - last >= PAUSE_SECONDS:
            worker.pause()
            worker.report("training", share_done=min(1.0, sum(done.values()) / steps))
            last = time.monotonic()

    for found in run(job):
        event = found.event
        if isinstance(event, Started):
            steps = max(1, event.epochs * event.steps_per_epoch * job.members)
        elif isinstance(event, Step):
            done[found.member] = event.step
        pause()
    predict = partial(predict_long, load(job.folder, cache=job.cache).model.predict)
    takeover.check_held_back(project, number, lesson.held_back, predict, pause)
    f1 = takeover.held_out_f1(project, predict, pause)
    if f1 is not None and project.settings.hold_back:
        takeover.check_f1(project, worker, f1, pause)
    takeover.check_deleted(project, lesson.documents)
    return f1


def _networks(project: Project) -> set[int]:
    """The versions whose expectations say something about the network to train: the first model, and those from it.

    Rules and Python code expect other links than the network does, and so did a first model that was replaced.
    """
    from corefine.models.load import model_folder

    with project.database.read() as connection:
        versions = predictions.since_first(connection)
    return {version.id for version in versions if version.kind == TRAINED or model_folder(version.name) is not None}


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
    documents       the numbers of these documents
    held_back       the answers that are not in the labels, to compare models on
    answers         how many answers and edits say something
    contradicted    how many more were left out, because they contradict earlier ones, and the owner has not decided
    """

    labels: list[Labels] = field(default_factory=list)
    documents: set[int] = field(default_factory=set)
    held_back: list[HeldBackAnswer] = field(default_factory=list)
    answers: int = 0
    contradicted: int = 0

    @classmethod
    def of(cls, project: Project) -> Lesson:
        """What the answers in a project teach."""
        snapshot, lesson = Snapshot(project), cls()
        networks = _networks(project)

        def everybody(info: DocumentInfo) -> Merged | None:
            version, prediction = snapshot.prediction(info.id)
            return None if version is None else merged(snapshot, info.id, prediction)

        for info, found in snapshot.each(everybody, only="answered"):
            if found is None:
                continue
            lesson.documents.add(info.id)
            lesson.answers += len(found.sources)
            lesson.contradicted += found.unsettled
            with project.database.read() as connection:
                suggested = imported_entities.is_suggested(connection, info.id)
            if snapshot.settings.hold_back and not suggested:  # the first model knew the suggestions
                lesson.held_back += hold_back(found, info.id)
            if found.session.entries:
                lesson.labels.append(found.labels(() if suggested else networks))
        return lesson

    def check(self) -> None:
        """Raise if a model that learns this would be no better than the one in use."""
        if not self.answers:
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

"""The background process: predicts documents with the newest model, and trains a new one on people's answers.

It shares only the project on disk with the server, so neither waits for the other and either may be killed.

    python -m corefine.project.learning.worker FOLDER
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import DBAPIError

from corefine.errors import CorefineError, DamagedDocumentError, InputError
from corefine.files import keep_details
from corefine.models import rules
from corefine.prediction import Prediction
from corefine.project.learning import takeover, training
from corefine.project.learning.long_documents import Predict, predict_long
from corefine.project.learning.supervisor import DATABASE
from corefine.project.project import FACTS, Project
from corefine.project.store import predictions, schema, settings
from corefine.project.store.predictions import FAILED, READY, RULES, STARTER, TRAINED, TRAINING, ModelVersion
from corefine.project.work import assignments, imported_entities

IDLE_SECONDS = 0.5
T = TypeVar("T")


class _ReplacedError(Exception):
    """A backup has replaced the project's data. The process ends, and a new one starts."""


class Worker:
    """Predicts and trains for a project, one step at a time.

    lower_priority    called once, when a first document is read: until then, somebody may be waiting for a question
    """

    def __init__(
        self,
        project: Project,
        *,
        alive: Callable[[], bool] = lambda: True,
        lower_priority: Callable[[], object] = lambda: None,
    ) -> None:
        self.project = project
        self._alive = alive
        self._lower_priority: Callable[[], object] | None = lower_priority
        self._predictors: dict[int, Predict] = {}
        self._failed: set[tuple[int, int]] = set()
        self._unusable: str | None = None  # the first model that the settings name, if it cannot be loaded
        self._why: str | None = None
        self._scored: set[int] = set()
        self._restored = self._when_restored()
        self._begin()

    def run(self) -> None:
        """Work until the parent process ends, or a backup replaces the project's data."""
        with suppress(_ReplacedError):
            while self._alive():
                self._check_data()
                if not self.step():
                    self.report("idle")
                    time.sleep(IDLE_SECONDS)

    def step(self) -> bool:
        """Load the first model, predict one document, or train once. Returns whether there was anything to do."""
        version = self._version()
        if self._wants_first_model():
            self._load_first_model()
            return True
        has_read = self._read_one(version)
        if self._lower_priority is not None:
            self._lower_priority()
            self._lower_priority = None
        if has_read or self._score(version):
            return True
        if training.is_due(self.project):
            training.train(self.project, self)
            return True
        return False

    def _when_restored(self) -> float | None:
        with self.project.database.read() as connection:
            at: float | None = settings.get(connection, settings.RESTORED)
        return at

    def _check_data(self) -> None:
        """Raise if a backup has replaced the project's data: the work in progress is about documents that are gone."""
        if self._when_restored() != self._restored:
            raise _ReplacedError

    def _write(self, function: Callable[[Connection], T]) -> T:
        def write(connection: Connection) -> T:
            if settings.get(connection, settings.RESTORED) != self._restored:
                raise _ReplacedError
            return function(connection)

        return self.project.writer.write(write)

    def settle(self) -> None:
        """Step until there is nothing to do."""
        while self.step():
            pass

    def pause(self) -> None:
        """Called during training: predicts a new document, and stops if the parent process is gone."""
        if not self._alive():
            raise KeyboardInterrupt
        with self.project.database.read() as connection:
            version = predictions.latest_version(connection)
        if version is not None:
            self._read_one(version)

    def report(self, state: schema.WorkerState, *, message: str | None = None, share_done: float | None = None) -> None:
        """Record what the worker is doing, for the server. That the first model cannot be used is said all the time."""
        if message is None and self._why is not None and self.project.settings.model == self._unusable:
            message = self._why
        values: dict[str, object] = {"state": state, "share_done": share_done, "beat_at": time.time()}
        if message is not None or state != "idle":  # an error message stays until the next work begins
            values["message"] = message
        with self.project.database.write() as connection:
            connection.execute(update(schema.worker).values(**values))

    def _begin(self) -> None:
        """Take over from a worker that may have been killed during training."""
        with self.project.database.write() as connection:
            if connection.execute(select(schema.worker.c.id)).first() is None:
                connection.execute(
                    insert(schema.worker).values(id=1, state="idle", requested=False, beat_at=time.time())
                )
            for version in predictions.all_versions(connection):
                if version.state == TRAINING:
                    shutil.rmtree(self.project.models / f"v{version.id}", ignore_errors=True)
                    predictions.finish_version(connection, version.id, FAILED, message=training.INTERRUPTED)

    def _version(self) -> ModelVersion:
        """The newest version. A project's first version is the rules, in case no model can be loaded."""
        with self.project.database.write() as connection:
            latest = predictions.latest_version(connection)
            if latest is None:
                predictions.add_version(connection, RULES, RULES)
                latest = predictions.latest_version(connection)
        if latest is None:
            raise InputError("the project's first model version is gone")
        return latest

    def _wants_first_model(self) -> bool:
        """Whether the settings name another first model than the present one; if it cannot be loaded, only once."""
        name = self.project.settings.model
        if name == self._unusable:
            return False
        self._unusable = self._why = None
        with self.project.database.read() as connection:
            first = predictions.since_first(connection)[0]
        return first.name != name

    def _load_first_model(self) -> None:
        """Switch to the first model that the settings name, if it can be loaded."""
        name = self.project.settings.model
        self.report("loading")
        try:
            predict = _load(self.project, name)
        except takeover.MODEL_ERRORS as error:
            self._unusable = name
            if name != "starter":
                self._why = f"the model {name} cannot be used: {error}"
                self.report("failed")
            return
        add = partial(predictions.add_version, name=name, kind=RULES if name == RULES else STARTER)
        self._predictors[self._write(add)] = predict

    def _score(self, version: ModelVersion) -> bool:
        """Score a first model on held-out documents, once people have their questions."""
        if version.kind == TRAINED or version.f1 is not None or version.id in self._scored:
            return False
        self._scored.add(version.id)
        try:
            f1 = takeover.held_out_f1(self.project, self.predictor(version))
        except takeover.MODEL_ERRORS as error:
            self.report("failed", message=f"{version.name} cannot be scored: {error}")
            return True
        self._write(lambda connection: predictions.finish_version(connection, version.id, READY, f1=f1))
        return True

    def _read_one(self, version: ModelVersion) -> bool:
        """Predict a document that has no prediction of this version; those being annotated come first."""
        with self.project.database.read() as connection:
            begun = {assignment.document_id for assignment in assignments.all_of(connection) if not assignment.done}
        waiting = [
            entry
            for entry in self.project.documents.all()
            if not entry.held_out
            and (version.id, entry.id) not in self._failed
            and not self.project.predictions.exists(version.id, entry.id)
        ]
        if not waiting:
            return False
        entry = min(waiting, key=lambda each: (each.id not in begun, each.id))
        self.report("predicting", share_done=None)
        try:
            document = self.project.documents.get(entry.id)
        except DamagedDocumentError as error:
            self._failed.add((version.id, entry.id))
            self.report("failed", message=f"{entry.key} is left out: {error}")
            return True
        try:
            prediction = self.predictor(version)(document)
        except takeover.MODEL_ERRORS as error:
            self.report("predicting", message=f"{version.name} cannot read {entry.key} ({error}): rules are used there")
            prediction = rules.predict(document)
        if version.kind != TRAINED:
            with self.project.database.read() as connection:
                suggested = imported_entities.is_suggested(connection, entry.id)
            prediction = imported_entities.with_suggestions(document, prediction) if suggested else prediction
        try:
            self._save(version.id, entry.id, prediction)
        except OSError as error:
            self._failed.add((version.id, entry.id))
            self.report("failed", message=f"the prediction for {entry.key} cannot be written: {error.strerror}")
        return True

    def _save(self, version: int, document: int, prediction: Prediction) -> None:
        """Keep a prediction, unless the document was replaced: before, or just when the file was written."""
        self._check_data()
        self.project.predictions.save(version, document, prediction)
        try:
            self._check_data()
        except _ReplacedError:
            self.project.predictions.path(version, document).unlink(missing_ok=True)
            raise

    def predictor(self, version: ModelVersion) -> Predict:
        """What predicts with this version, long documents in pieces."""
        if version.id not in self._predictors:
            self._predictors.clear()  # one model in memory at a time
            where = self.project.models / f"v{version.id}" if version.kind == TRAINED else version.name
            self._predictors[version.id] = (
                partial(predict_long, rules.predict) if version.kind == RULES else _load(self.project, where)
            )
        return self._predictors[version.id]


def _load(project: Project, where: str | Path) -> Predict:
    from corefine.models.load import load

    return partial(predict_long, load(where, cache=project.folder / "cache").model.predict)


def main() -> None:
    import argparse

    parser = argparse.ArgumentParser(description="Predict and train for a corefine project.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parent", type=int, default=None)
    arguments = parser.parse_args()
    alive = (lambda: os.getppid() == arguments.parent) if arguments.parent else (lambda: True)
    if not alive() or not (arguments.folder / FACTS).exists():  # the parent is gone, perhaps with the project
        return
    with Project(arguments.folder, database=os.environ.get(DATABASE)) as project:
        Worker(project, alive=alive, lower_priority=lambda: os.nice(10) if hasattr(os, "nice") else None).run()


def run_safely() -> int:
    """Run `main`. An error is one message on stderr, which is the server's; returns the exit code."""
    try:
        main()
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    except CorefineError as error:
        said = str(error)
    except DBAPIError as error:
        said = f"the database cannot be used now ({error.orig})"
    except OSError as error:
        said = f"{error.filename or 'files'}: {error.strerror or error}"
    except Exception as error:
        said = keep_details(error)
    else:
        return 0
    sys.stderr.write(f"corefine: the background process ended, and is started again: {said}\n")
    return 2


if __name__ == "__main__":
    sys.exit(run_safely())

"""The background process: it reads documents with the newest model, and trains a new one when there are answers.

It shares nothing with the server but the project on disk, so neither waits for the other, and either may be killed.

    python -m corefine.project.learning.worker FOLDER [--database URL]
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, insert, select, update

from corefine.document import Document
from corefine.errors import CorefineError, InputError
from corefine.models import rules
from corefine.prediction import Prediction
from corefine.project.learning import training
from corefine.project.learning.supervisor import DATABASE
from corefine.project.project import FACTS, Project
from corefine.project.store import predictions, schema
from corefine.project.store.predictions import FAILED, READY, RULES, STARTER, TRAINING, ModelVersion
from corefine.project.work import assignments

IDLE_SECONDS = 0.5
RULES_SECONDS = 2.0
"""How long documents of a new project are read with rules before the starter model is loaded."""
Predict = Callable[[Document], Prediction]


class Worker:
    """One unit of work at a time: `step` does it and says whether there was any."""

    def __init__(self, project: Project, *, alive: Callable[[], bool] = lambda: True) -> None:
        self.project = project
        self._alive = alive
        self._predictors: dict[int, Predict] = {}
        self._failed: set[tuple[int, int]] = set()
        self._tried_starter = False
        self._rules_until = time.monotonic() + RULES_SECONDS
        self._begin()

    def run(self) -> None:
        """Work until whoever started us is gone."""
        while self._alive():
            if not self.step():
                self.tell("idle")
                time.sleep(IDLE_SECONDS)

    def step(self) -> bool:
        version = self._version()
        if version.kind == RULES and not self._tried_starter:
            # People may be waiting for a first question, and the starter takes a while to load.
            if (time.monotonic() < self._rules_until or not self._has_read_any(version)) and self._read_one(version):
                return True
            self._try_starter(version)
            return True
        if self._read_one(version):
            return True
        if training.is_due(self.project):
            training.train(self.project, self)
            return True
        return False

    def settle(self) -> None:
        """Do all there is to do now."""
        while self.step():
            pass

    def pause(self) -> None:
        """Called now and then during long work: stops if nobody waits for it, and reads documents that just came."""
        if not self._alive():
            raise KeyboardInterrupt
        with self.project.database.read() as connection:
            version = predictions.latest_version(connection)
        if version is not None:
            self._read_one(version)

    def tell(self, state: str, *, message: str | None = None, share_done: float | None = None) -> None:
        """Let the server know what goes on."""
        values: dict[str, object] = {"state": state, "share_done": share_done, "beat_at": time.time()}
        if message is not None or state != "idle":  # why something failed stays until something else begins
            values["message"] = message
        with self.project.database.write() as connection:
            connection.execute(update(schema.worker).values(**values))

    # Within

    def _begin(self) -> None:
        """Take over from a worker that may have been killed in the middle of training."""
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
        """The newest version; the very first one is rules, which are there at once."""
        with self.project.database.write() as connection:
            latest = predictions.latest_version(connection)
            if latest is None:
                predictions.add_version(connection, RULES, RULES)
                latest = predictions.latest_version(connection)
        if latest is None:
            raise InputError("the project's first model version is gone")
        return latest

    def _try_starter(self, present: ModelVersion) -> None:
        """Go on with the starter model, if it is here and can be used."""
        from corefine.models.load import load

        self._tried_starter = True
        try:
            predict = load("starter", device="cpu", cache=self.project.folder / "cache").model.predict
        except InputError:
            f1 = training.held_out_f1(self.project, rules.predict)
            self.project.writer.write(
                lambda connection: predictions.finish_version(connection, present.id, READY, f1=f1)
            )
            return
        f1 = training.held_out_f1(self.project, predict)

        def job(connection: Connection) -> int:
            number = predictions.add_version(connection, STARTER, STARTER)
            predictions.finish_version(connection, number, READY, f1=f1)
            return number

        self._predictors[self.project.writer.write(job)] = predict

    def _has_read_any(self, version: ModelVersion) -> bool:
        asked = [entry for entry in self.project.documents.all() if not entry.held_out]
        return any(self.project.predictions.exists(version.id, entry.id) for entry in asked)

    def _read_one(self, version: ModelVersion) -> bool:
        """Predict one document that the version has not read; those being worked on come first."""
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
        self.tell("predicting", share_done=None)
        document = self.project.documents.get(entry.id)
        try:
            prediction = self._predictor(version)(document)
        except (CorefineError, MemoryError, RuntimeError) as error:
            self.tell("predicting", message=f"{version.name} cannot read {entry.key} ({error}): rules are used there")
            prediction = rules.predict(document)
        try:
            self.project.predictions.save(version.id, entry.id, prediction)
        except OSError as error:
            self._failed.add((version.id, entry.id))
            self.tell("failed", message=f"the prediction for {entry.key} cannot be written: {error}")
        return True

    def _predictor(self, version: ModelVersion) -> Predict:
        if version.id not in self._predictors:
            self._predictors.clear()  # one model in memory at a time
            self._predictors[version.id] = _load(self.project, version)
        return self._predictors[version.id]


def _load(project: Project, version: ModelVersion) -> Predict:
    if version.kind == RULES:
        return rules.predict
    from corefine.models.load import load

    where = "starter" if version.kind == STARTER else project.models / f"v{version.id}"
    return load(where, device="cpu", cache=project.folder / "cache").model.predict


def main() -> None:
    import argparse

    parser = argparse.ArgumentParser(description="Predict and train for a corefine project.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parent", type=int, default=None)
    arguments = parser.parse_args()
    if hasattr(os, "nice"):
        os.nice(10)
    alive = (lambda: os.getppid() == arguments.parent) if arguments.parent else (lambda: True)
    if not alive() or not (arguments.folder / FACTS).exists():  # whoever started us is gone, perhaps with the project
        return
    with Project(arguments.folder, database=os.environ.get(DATABASE)) as project:
        Worker(project, alive=alive).run()


if __name__ == "__main__":
    try:
        main()
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(130)
    except CorefineError as error:
        sys.stderr.write(f"corefine: {error}\n")
        sys.exit(2)

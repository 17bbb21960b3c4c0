"""The workspaces of everybody in a project, and what they share: settings, model versions, sessions in memory."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace

from sqlalchemy import Connection

from corefine.annotation.cost import CostModel
from corefine.annotation.log import Budget
from corefine.errors import ConfigError, ModelError
from corefine.models.load import lasting_name, names_committee
from corefine.prediction import Prediction
from corefine.project.project import Project
from corefine.project.store import document_notes, log, predictions
from corefine.project.store.document_notes import DocumentChange
from corefine.project.store.documents import DocumentInfo
from corefine.project.store.predictions import EMPTY, ModelVersion
from corefine.project.store.settings import ProjectConfig
from corefine.project.work.assignments import Assignment
from corefine.project.work.open_document import UNREADABLE, OpenDocument, damaged, restore_session
from corefine.project.work.workspace import Workspace

MOST_OPEN = 100
"""Sessions kept in memory; others are rebuilt from the log when they are needed."""

FRESH_SECONDS = 1.0
"""How often to look for a newer model."""


class Workspaces:
    def __init__(self, project: Project, *, most_open: int = MOST_OPEN) -> None:
        self.project = project
        self._settings, self._cost = project.settings, project.cost
        self._settings_unknown = False
        self.groups = True  # False where nobody can be asked about several mentions at once
        self.without_budget: set[tuple[int, int]] = set()  # people who want to be asked more, and where
        self._most = most_open
        self._lock = threading.Lock()
        self._locks: dict[int, threading.Lock] = {}
        self._workspaces: dict[int, Workspace] = {}
        self._open: OrderedDict[tuple[int, int], OpenDocument] = OrderedDict()
        self._versions: list[ModelVersion] = []
        self._share_done: float | None = None
        self._looked_at = -FRESH_SECONDS
        self._newest: dict[int, int | None] = {}  # newest version per document, cached since `_looked_at`
        self._changes = 1
        self._documents: tuple[int, dict[int, DocumentInfo]] = (0, {})  # as of which change; by id

    @contextmanager
    def of(self, person_id: int) -> Iterator[Workspace]:
        """A person's workspace, for one thread at a time."""
        self.project.writer.check()
        self._look_up_settings()
        with self._lock:
            lock = self._locks.setdefault(person_id, threading.Lock())
        with lock:
            workspace = self._workspaces.get(person_id)
            if workspace is None:
                workspace = self._workspaces[person_id] = Workspace(self, person_id)
            yield workspace

    def forget(self, person_id: int) -> None:
        """Drop a person's sessions from memory; they are read from the log again."""
        self._workspaces.pop(person_id, None)
        with self._lock:
            for key in [key for key in self._open if key[0] == person_id]:
                del self._open[key]

    def forget_all(self) -> None:
        """Drop everything in memory, because a backup has replaced the project's data. Nobody may work meanwhile."""
        self._settings_unknown = True
        self.without_budget.clear()
        self._workspaces.clear()
        with self._lock:
            self._open.clear()
        self._versions, self._share_done, self._newest = [], None, {}
        self._looked_at = -FRESH_SECONDS
        self.project.documents.forget()
        self.project.predictions.load.cache_clear()
        self.documents_changed()

    # Settings and documents

    @property
    def settings(self) -> ProjectConfig:
        self._look_up_settings()
        return self._settings

    @property
    def cost(self) -> CostModel:
        self._look_up_settings()
        return self._cost

    def _look_up_settings(self) -> None:
        """Read the settings again if it is not certain which ones are stored."""
        if self._settings_unknown:
            self._cost = self.project.cost
            self._use_settings(self.project.settings)

    def change_settings(self, new: ProjectConfig) -> None:
        """Use new settings from now on. Open questions are chosen again."""
        if new.infer_first != self.settings.infer_first:
            with self.project.database.read() as connection:
                if log.count_answers(connection):
                    raise ConfigError("infer_first changes what answers mean: it cannot change once there are answers")
        if (new.model, new.selector) != (self.settings.model, self.settings.selector):
            check_model(new)
            new = replace(new, model=lasting_name(new.model))
        self._settings_unknown = True  # until they are written, or read again
        self.project.change_settings(new)
        self._use_settings(new)

    def _use_settings(self, new: ProjectConfig) -> None:
        self._settings, self._settings_unknown = new, False
        with self._lock:
            self._open.clear()

    def documents(self) -> list[DocumentInfo]:
        """The documents that people are asked about."""
        return list(self._asked().values())

    def document(self, document_id: int) -> DocumentInfo | None:
        """A document that people are asked about; None if it is held out, in the trash, or does not exist."""
        return self._asked().get(document_id)

    def _asked(self) -> dict[int, DocumentInfo]:
        changes = self._changes
        known_at, asked = self._documents
        if known_at != changes:  # a change during the next line is noticed by the next caller
            asked = {info.id: info for info in self.project.documents.all() if not info.held_out}
            self._documents = (changes, asked)
        return asked

    def documents_changed(self) -> None:
        """Called when documents were added or their notes changed."""
        self._changes += 1

    def change_documents(
        self, document_ids: Collection[int], change: DocumentChange, person_id: int, *, shown: int | None = None
    ) -> None:
        """Change notes about documents. People leave documents that are now in the trash or assigned to others.

        `shown` is the model version whose entities were reviewed; if not given, the newest that has read a document.
        """
        versions = {each: self.newest(each) if shown is None else shown for each in document_ids if change.reviewed}

        def write(connection: Connection) -> None:
            now = time.time()
            document_notes.change(connection, document_ids, change, person_id=person_id, now=now, versions=versions)

        try:
            self.project.writer.write(write)
        finally:
            if change.name is not None:
                self.project.documents.forget()
            self.documents_changed()
            with self._lock:
                moved = change.trashed is not None or change.assigned is not None or change.name is not None
                for key in [key for key in self._open if moved and key[1] in document_ids]:
                    del self._open[key]

    def change_language(self, document_ids: Collection[int], language: str, person_id: int) -> None:
        """Split documents again, by the rules of a language. They go to the trash, and new ones take their places."""
        stored = {document_id: self.project.documents.get(document_id) for document_id in sorted(document_ids)}
        # Splitting takes time, so it is done before the write, which others wait for.
        again = {
            document_id: document_notes.split_again(document, language)
            for document_id, document in stored.items()
            if document.language != language
        }

        def write(connection: Connection) -> None:
            for document_id, document in again.items():
                document_notes.put_in_place(connection, document_id, document, person_id=person_id, now=time.time())

        try:
            self.project.writer.write(write)
        finally:
            self.project.documents.forget()
            self.documents_changed()
            with self._lock:
                for key in [key for key in self._open if key[1] in again]:
                    del self._open[key]

    # Models

    def versions(self) -> list[ModelVersion]:
        """All versions, at most a second old."""
        now = time.monotonic()
        if now - self._looked_at >= FRESH_SECONDS:
            with self.project.database.read() as connection:
                self._versions = predictions.all_versions(connection)
                self._share_done = predictions.training_share(connection)
            self._newest = {}
            self._looked_at = now
        return self._versions

    @property
    def known_versions(self) -> list[ModelVersion]:
        """All versions, as they were when they were last looked at."""
        return self._versions

    def share_done(self) -> float | None:
        """How far training has come, while it runs."""
        return self._share_done

    def worker_state(self) -> str:
        """What the background process is doing."""
        with self.project.database.read() as connection:
            return predictions.worker_state(connection)

    def newest(self, document_id: int) -> int | None:
        """The newest version that has read the document, at most a second old, or else the one that was reviewed."""
        ready = [version.id for version in self.versions() if version.state == predictions.READY]
        info = self.document(document_id)
        reviewed = None if info is None else info.reviewed_version
        if reviewed in ready and self.project.predictions.exists(reviewed, document_id):
            return reviewed
        found = self._newest
        if document_id not in found:
            found[document_id] = self.project.predictions.newest(ready, document_id)
        return found[document_id]

    def newer_prediction(self, opened: OpenDocument) -> tuple[int, Prediction | None]:
        """The version to use next, and its prediction if it is not the one in use."""
        newest = self.newest(opened.document_id)
        if newest is None or newest == opened.version:
            return opened.version, None
        try:
            return newest, self.project.predictions.load(newest, opened.document_id)
        except ModelError:  # damaged: keep the present one
            return opened.version, None

    # Sessions

    def cached(self, person_id: int, document_id: int) -> OpenDocument | None:
        """The session, if it is in memory."""
        with self._lock:
            opened = self._open.get((person_id, document_id))
            if opened is not None:
                self._open.move_to_end((person_id, document_id))
            return opened

    def restore(self, assignment: Assignment, *, keep: bool = True) -> OpenDocument:
        """Rebuild a session from its log, with the same model version, so that the same question is open.

        Version 0 means no model. Raises `DamagedDocumentError` if the document or the log cannot be read.
        """
        person_id, document_id, version = assignment.person_id, assignment.document_id, assignment.model_version
        prediction = EMPTY
        if version:
            version, prediction = self._prediction(version, document_id)
        try:
            with self.project.database.read() as connection:
                rows = log.events_of(connection, person_id=person_id, document_id=document_id)
            document = self.project.documents.get(document_id)
            settings = replace(self.settings, groups=self.settings.groups and self.groups)
            session = restore_session(document, rows, prediction, settings, self.cost)
        except UNREADABLE as error:
            raise damaged(self._name(document_id), error) from error
        if (person_id, document_id) in self.without_budget:
            session.budget = Budget()
        opened = OpenDocument(document_id, session, version, len(rows), assignment.done, assignment.lease_until)
        if keep:
            with self._lock:
                self._open[person_id, document_id] = opened
                while len(self._open) > self._most:
                    self._open.popitem(last=False)
        return opened

    def _prediction(self, version: int, document_id: int) -> tuple[int, Prediction]:
        """A version's prediction, or the newest that can be read."""
        while True:
            try:
                return version, self.project.predictions.load(version, document_id)
            except ModelError as error:  # it is gone, or was damaged and is gone now
                self._newest.pop(document_id, None)
                newest = self.newest(document_id)
                if newest is None or newest == version:
                    raise ModelError("the model has not read this document yet: try again in a moment") from error
                version = newest

    def _name(self, document_id: int) -> str:
        info = self.document(document_id)
        return f"document {document_id}" if info is None else info.key


def check_model(settings: ProjectConfig) -> None:
    """Raise unless the first model exists, and fits the selector."""
    try:
        is_committee = names_committee(settings.model)
    except ModelError as error:
        raise ConfigError(str(error)) from error
    if settings.selector == "committee" and not is_committee:
        raise ConfigError(
            f"the selector 'committee' needs several models to vote, and {settings.model!r} is one: make a committee "
            "with `corefine train --members 3`, and name its folder as the first model"
        )

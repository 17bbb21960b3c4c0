"""All desks of a project, and what they share: settings, model versions, and room in memory."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import select

from corefine.annotation.cost import CostModel
from corefine.annotation.session import Session
from corefine.errors import ConfigError, ModelError
from corefine.prediction import Prediction
from corefine.project.project import Project
from corefine.project.store import log, schema, versions
from corefine.project.store.documents import Entry
from corefine.project.store.settings import Settings
from corefine.project.store.versions import EMPTY, Version
from corefine.project.work.assignments import SeatRow
from corefine.project.work.sessions import Seat, rebuild
from corefine.project.work.workspace import Desk, count_answers

MOST_SEATS = 100
"""Sessions kept in memory; others are brought back from the log when they are needed."""

FRESH_SECONDS = 1.0
"""How often to look whether there is a newer model."""


class Office:
    def __init__(self, project: Project, *, most_seats: int = MOST_SEATS) -> None:
        self.project = project
        self.settings: Settings = project.settings
        self.cost: CostModel = project.cost
        self._most = most_seats
        self._lock = threading.Lock()
        self._locks: dict[int, threading.Lock] = {}
        self._desks: dict[int, Desk] = {}
        self._seats: OrderedDict[tuple[int, int], Seat] = OrderedDict()
        self._versions: list[Version] = []
        self._share_done: float | None = None
        self._looked_at = -FRESH_SECONDS
        self._newest: dict[int, int | None] = {}  # what was found since then
        self._entries: list[Entry] | None = None

    @contextmanager
    def at(self, person_id: int) -> Iterator[Desk]:
        """A person's desk, for one thread at a time."""
        with self._lock:
            lock = self._locks.setdefault(person_id, threading.Lock())
        with lock:
            desk = self._desks.get(person_id)
            if desk is None:
                desk = self._desks[person_id] = Desk(self, person_id)
            yield desk

    def forget(self, person_id: int) -> None:
        """Drop what memory has of a person; the log has it all."""
        self._desks.pop(person_id, None)
        with self._lock:
            for key in [key for key in self._seats if key[0] == person_id]:
                del self._seats[key]

    # Settings

    def change_settings(self, new: Settings) -> None:
        """Put new settings in force; open questions are chosen anew under them."""
        if new.infer_first != self.settings.infer_first:
            with self.project.database.read() as connection:
                if count_answers(connection):
                    raise ConfigError("infer_first changes what answers mean: it cannot change once there are answers")
        self.project.change_settings(new)
        self.settings = new
        with self._lock:
            self._seats.clear()

    def entries(self) -> list[Entry]:
        """The documents that people are asked about."""
        if self._entries is None:
            self._entries = [entry for entry in self.project.documents.entries() if not entry.held_out]
        return self._entries

    def documents_changed(self) -> None:
        self._entries = None

    # Models

    def versions(self) -> list[Version]:
        """All versions, at most a second old."""
        now = time.monotonic()
        if now - self._looked_at >= FRESH_SECONDS:
            with self.project.database.read() as connection:
                self._versions = versions.all_of(connection)
                self._share_done = connection.execute(select(schema.worker.c.share_done)).scalar()
            self._newest = {}
            self._looked_at = now
        return self._versions

    def share_done(self) -> float | None:
        """How far training has come, while it runs."""
        return self._share_done

    def newest(self, document_id: int) -> int | None:
        """The newest version that has read the document, at most a second old."""
        ready = [version.id for version in self.versions() if version.state == versions.READY]
        found = self._newest
        if document_id not in found:
            found[document_id] = self.project.predictions.newest(ready, document_id)
        return found[document_id]

    def newer(self, seat: Seat) -> tuple[int, Prediction | None]:
        """The version to go on with, and its prediction if it is not the one in use."""
        newest = self.newest(seat.document_id)
        if newest is None or newest == seat.version:
            return seat.version, None
        try:
            return newest, self.project.predictions.load(newest, seat.document_id)
        except ModelError:  # damaged: go on with what we have
            return seat.version, None

    # Sessions

    def kept(self, person_id: int, document_id: int) -> Seat | None:
        with self._lock:
            seat = self._seats.get((person_id, document_id))
            if seat is not None:
                self._seats.move_to_end((person_id, document_id))
            return seat

    def rebuild(self, row: SeatRow) -> Seat:
        """Bring a session back from the log, with the model it had, so that the open question is the same."""
        version = row.model_version
        if not self.project.predictions.exists(version, row.document_id):
            version = self.newest(row.document_id) or version
        session, place = self.session(
            row.person_id, row.document_id, self.project.predictions.load(version, row.document_id)
        )
        seat = Seat(row.document_id, session, version, place, row.done, row.lease_until)
        with self._lock:
            self._seats[row.person_id, row.document_id] = seat
            while len(self._seats) > self._most:
                self._seats.popitem(last=False)
        return seat

    def session(self, person_id: int, document_id: int, prediction: Prediction = EMPTY) -> tuple[Session, int]:
        """A session of its own, from the log; and how many events that has."""
        with self.project.database.read() as connection:
            rows = log.events_of(connection, person_id=person_id, document_id=document_id)
        document = self.project.documents.get(document_id)
        return rebuild(document, rows, prediction, self.settings, self.cost), len(rows)

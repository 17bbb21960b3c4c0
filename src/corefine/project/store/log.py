"""The append-only log: one row for each thing a person did."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select

from corefine.project.store import schema

EVENTS = schema.events.c
_APPEND = insert(schema.events)


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds as the browser measured them, without idle time; None for what was not measured or did not occur."""

    reading: float | None = None
    initial: float | None = None
    follow_up: float | None = None

    @property
    def total(self) -> float | None:
        parts = [part for part in (self.reading, self.initial, self.follow_up) if part is not None]
        return sum(parts) if parts else None


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """A row of the log."""

    id: int
    person_id: int
    document_id: int
    place: int
    client_id: str
    kind: str
    event: dict[str, Any]
    outcome: dict[str, Any] | None
    seconds: float
    timing: Timing
    model_version: int
    at: float

    @property
    def number(self) -> int | None:
        """Of the answer or edit that was given."""
        return self.event["number"] if self.kind in ("answer", "edit") else None


def append(
    connection: Connection,
    *,
    person_id: int,
    document_id: int,
    place: int,
    client_id: str,
    event: dict[str, Any],
    outcome: dict[str, Any] | None = None,
    timing: Timing | None = None,
    model_version: int,
) -> None:
    """Add a row. The client's id, or the place in the session's log, given twice is an error of the database."""
    timing = timing or Timing()
    row = {
        "person_id": person_id,
        "document_id": document_id,
        "place": place,
        "client_id": client_id,
        "kind": event["event"],
        "event": json.dumps(event),
        "outcome": None if outcome is None else json.dumps(outcome),
        "seconds": event.get("seconds", 0.0),
        "reading": timing.reading,
        "initial": timing.initial,
        "follow_up": timing.follow_up,
        "model_version": model_version,
        "at": time.time(),
    }
    connection.execute(_APPEND, row)


def find(connection: Connection, person_id: int, client_id: str) -> LoggedEvent | None:
    """What was done under a client's id before."""
    query = select(schema.events).where(EVENTS.person_id == person_id, EVENTS.client_id == client_id)
    row = connection.execute(query).first()
    return None if row is None else _logged(row)


def events_of(
    connection: Connection, *, person_id: int | None = None, document_id: int | None = None
) -> list[LoggedEvent]:
    """The rows of a person, of a document, or of both, in the order they were written."""
    query = select(schema.events).order_by(EVENTS.id)
    if person_id is not None:
        query = query.where(EVENTS.person_id == person_id)
    if document_id is not None:
        query = query.where(EVENTS.document_id == document_id)
    return [_logged(row) for row in connection.execute(query)]


def count_answers(connection: Connection) -> int:
    """How many answers and edits the project has."""
    query = select(func.count()).select_from(schema.events).where(EVENTS.kind.in_(("answer", "edit")))
    return connection.execute(query).scalar_one()


def answers_by_document(connection: Connection, person_id: int) -> dict[int, int]:
    """How many answers a person has given in each document, withdrawn ones included."""
    query = select(EVENTS.document_id, func.count()).where(EVENTS.person_id == person_id, EVENTS.kind == "answer")
    return {row[0]: row[1] for row in connection.execute(query.group_by(EVENTS.document_id))}


def history(
    connection: Connection, person_id: int, document_id: int | None, before: int | None, limit: int
) -> list[LoggedEvent]:
    """A person's answers and edits, newest first."""
    query = select(schema.events).where(EVENTS.person_id == person_id, EVENTS.kind.in_(("answer", "edit")))
    if document_id is not None:
        query = query.where(EVENTS.document_id == document_id)
    if before is not None:
        query = query.where(EVENTS.id < before)
    return [_logged(row) for row in connection.execute(query.order_by(EVENTS.id.desc()).limit(limit))]


def _logged(row: Any) -> LoggedEvent:
    return LoggedEvent(
        id=row.id,
        person_id=row.person_id,
        document_id=row.document_id,
        place=row.place,
        client_id=row.client_id,
        kind=row.kind,
        event=json.loads(row.event),
        outcome=None if row.outcome is None else json.loads(row.outcome),
        seconds=row.seconds,
        timing=Timing(row.reading, row.initial, row.follow_up),
        model_version=row.model_version,
        at=row.at,
    )

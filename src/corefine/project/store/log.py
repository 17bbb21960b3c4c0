"""The append-only log: one row for each thing a person did."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, func, insert, select

from corefine.project.store import schema

EVENTS = schema.events.c
_APPEND = insert(schema.events)
_GIVEN = ("answer", "edit")


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
    """A row of the log; `outcome` has the request and what it brought about."""

    id: int
    person_id: int
    document_id: int
    kind: str
    event: dict[str, Any]
    outcome: dict[str, Any]
    model_version: int
    at: float

    @property
    def number(self) -> int | None:
        """Of the answer or edit that was given."""
        return self.event.get("number") if self.kind in _GIVEN else None


class LoggedStep(NamedTuple):
    """What a workspace needs of every row."""

    client_id: str
    document_id: int
    kind: str
    seconds: float


_COLUMNS = tuple(EVENTS[name] for name in LoggedEvent.__dataclass_fields__)


def append(
    connection: Connection,
    step: LoggedStep,
    *,
    person_id: int,
    place: int,
    event: dict[str, Any],
    outcome: dict[str, Any],
    timing: Timing,
    model_version: int,
) -> None:
    """Add a row. Giving a client's id or a place in the session's log twice is an error of the database."""
    row = {
        **step._asdict(),
        **asdict(timing),
        "person_id": person_id,
        "place": place,
        "event": json.dumps(event),
        "outcome": json.dumps(outcome),
        "model_version": model_version,
        "at": time.time(),
    }
    connection.execute(_APPEND, row)


def find(connection: Connection, person_id: int, client_id: str) -> LoggedEvent | None:
    """What was done under a client's id before."""
    query = select(*_COLUMNS).where(EVENTS.person_id == person_id, EVENTS.client_id == client_id)
    return next(iter(_events(connection, query)), None)


def events_of(connection: Connection, *, document_id: int, person_id: int | None = None) -> list[LoggedEvent]:
    """The rows of a document, or of one person in it, in the order they were written."""
    query = select(*_COLUMNS).where(EVENTS.document_id == document_id).order_by(EVENTS.id)
    return _events(connection, query if person_id is None else query.where(EVENTS.person_id == person_id))


def rows_by_document(connection: Connection) -> dict[int, list[Row[Any]]]:
    """All rows of all documents in the order they were written, for `parsed`."""
    found: dict[int, list[Row[Any]]] = {}
    for row in connection.execute(select(*_COLUMNS).order_by(EVENTS.id)):
        found.setdefault(row.document_id, []).append(row)
    return found


def steps_of(connection: Connection, person_id: int) -> list[LoggedStep]:
    """All that a person did, in order, without the answers that came with documents."""
    query = select(EVENTS.client_id, EVENTS.document_id, EVENTS.kind, EVENTS.seconds)
    own = (EVENTS.person_id == person_id, ~EVENTS.event.contains('"source"'))
    rows = connection.execute(query.where(*own).order_by(EVENTS.id))
    return [LoggedStep(*row) for row in rows]


def history(
    connection: Connection, person_id: int, *, document_id: int | None = None, before: int | None = None, limit: int
) -> list[LoggedEvent]:
    """A person's answers and edits, newest first; `before` is the id of a row. The event of a damaged row is empty."""
    query = select(*_COLUMNS).where(EVENTS.person_id == person_id, EVENTS.kind.in_(_GIVEN))
    if document_id is not None:
        query = query.where(EVENTS.document_id == document_id)
    if before is not None:
        query = query.where(EVENTS.id < before)
    rows = connection.execute(query.order_by(EVENTS.id.desc()).limit(limit))
    return [event for row in rows for event in _parsed_or_empty(row)]


def count_answers(connection: Connection) -> int:
    """How many answers and edits the project has."""
    return connection.execute(select(func.count()).where(EVENTS.kind.in_(_GIVEN))).scalar_one()


def answers_by_document(connection: Connection, person_id: int | None = None) -> dict[int, int]:
    """How many answers a person, or everybody, has given in each document, withdrawn ones included."""
    query = select(EVENTS.document_id, func.count()).where(EVENTS.kind == "answer")
    if person_id is not None:
        query = query.where(EVENTS.person_id == person_id)
    return {row[0]: row[1] for row in connection.execute(query.group_by(EVENTS.document_id))}


def worked_on(connection: Connection, person_id: int | None = None) -> set[tuple[int, int]]:
    """People, or one of them, and the documents in which they answered or edited something.

    Entities that came with a file are not their work.
    """
    own = EVENTS.kind.in_(_GIVEN) & ~EVENTS.event.contains('"source"')
    query = select(EVENTS.person_id, EVENTS.document_id).where(own).distinct()
    if person_id is not None:
        query = query.where(EVENTS.person_id == person_id)
    return {(row[0], row[1]) for row in connection.execute(query)}


def documents_with_complete_parts(connection: Connection) -> set[int]:
    """The documents in which somebody has ticked sentences off as annotated in full."""
    query = select(EVENTS.document_id).where(EVENTS.kind == "edit", EVENTS.event.contains('"complete"'))
    return set(connection.execute(query.distinct()).scalars())


def documents_with_withdrawals(connection: Connection, person_id: int) -> list[int]:
    """The documents in which a person took something back, so that not every answer in the log stands."""
    back = EVENTS.kind.in_(("undo", "redo", "withdraw")) | EVENTS.event.contains('"withdrawing"')
    query = select(EVENTS.document_id).where(EVENTS.person_id == person_id, back)
    return list(connection.execute(query.distinct()).scalars())


def documents_with_answers(connection: Connection) -> set[int]:
    return set(connection.execute(select(EVENTS.document_id).distinct()).scalars())


def _events(connection: Connection, query: Select[Any]) -> list[LoggedEvent]:
    return parsed(connection.execute(query))


def parsed(rows: Iterable[Row[Any]]) -> list[LoggedEvent]:
    """The entries of log rows. Raises `ValueError` if one is damaged."""
    found = []
    for row in rows:
        fields = row._asdict()
        fields["event"] = _json_object(row.event)
        fields["outcome"] = event_or_empty(row.outcome or "{}")  # only a repeated request needs it
        found.append(LoggedEvent(**fields))
    return found


def event_or_empty(text: str) -> dict[str, Any]:
    """The event or the outcome of a row; an empty one if it is damaged."""
    try:
        return _json_object(text)
    except ValueError:
        return {}


def _json_object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    return found


def _parsed_or_empty(row: Row[Any]) -> list[LoggedEvent]:
    try:
        return parsed([row])
    except ValueError:
        return [LoggedEvent(**{**row._asdict(), "event": {}, "outcome": {}})]

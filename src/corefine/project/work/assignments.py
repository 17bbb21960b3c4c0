"""Who works on which document: leases, and the share that several people annotate.

A document is held by whoever finished it, and by whoever works on it as long as the lease lasts. It has room for one
person, or for as many as the settings say if it is one of those kept for agreement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, insert, select, update

from corefine.errors import TakenError
from corefine.project.store import documents, schema
from corefine.project.store.documents import Entry
from corefine.project.store.settings import Settings

SEATS = schema.seats.c
_TOUCH = update(schema.seats).where(
    SEATS.person_id == bindparam("of_person"), SEATS.document_id == bindparam("of_document")
)


@dataclass(frozen=True, slots=True)
class SeatRow:
    """A person at a document, as the database has it."""

    person_id: int
    document_id: int
    model_version: int
    done: bool
    lease_until: float
    touched_at: float


def seats(connection: Connection) -> list[SeatRow]:
    return [SeatRow(*row) for row in connection.execute(select(schema.seats))]


def seat_of(connection: Connection, person_id: int, document_id: int) -> SeatRow | None:
    query = select(schema.seats).where(SEATS.person_id == person_id, SEATS.document_id == document_id)
    row = connection.execute(query).first()
    return None if row is None else SeatRow(*row)


def is_overlap(position: int, settings: Settings) -> bool:
    """Whether the document at this place, from 0, is for several people; those are spread evenly."""
    return math.floor((position + 1) * settings.overlap + 1e-9) > math.floor(position * settings.overlap + 1e-9)


def overlaps(entries: list[Entry], settings: Settings) -> set[int]:
    """The ids of the documents that several people annotate."""
    asked = [entry.id for entry in entries if not entry.held_out]
    return {document for position, document in enumerate(asked) if is_overlap(position, settings)}


class Board:
    """Everybody's seats at one moment."""

    def __init__(self, connection: Connection, settings: Settings, now: float) -> None:
        self.settings, self.now = settings, now
        self.entries = [entry for entry in documents.entries(connection) if not entry.held_out]
        self.overlaps = overlaps(self.entries, settings)
        self._seats: dict[int, list[SeatRow]] = {}
        for seat in seats(connection):
            self._seats.setdefault(seat.document_id, []).append(seat)

    def has_room(self, document_id: int, person_id: int) -> bool:
        """Whether the person may work on the document: nobody else holds the last place."""
        holders = {
            seat.person_id
            for seat in self._seats.get(document_id, ())
            if seat.person_id != person_id and (seat.done or self._is_leased(seat))
        }
        return len(holders) < (self.settings.overlap_people if document_id in self.overlaps else 1)

    def seat(self, document_id: int, person_id: int) -> SeatRow | None:
        return next((seat for seat in self._seats.get(document_id, ()) if seat.person_id == person_id), None)

    def next_for(self, person_id: int, *, besides: int | None = None) -> int | None:
        """The document for a person: the one they worked on last, else the first with room that is not done."""
        begun: list[SeatRow] = []
        fresh: list[int] = []
        for entry in self.entries:
            seat = self.seat(entry.id, person_id)
            if entry.id == besides or (seat is not None and seat.done) or not self.has_room(entry.id, person_id):
                continue
            if seat is not None:
                begun.append(seat)
            else:
                fresh.append(entry.id)
        if begun:
            return max(begun, key=lambda seat: seat.touched_at).document_id
        return fresh[0] if fresh else None

    def _is_leased(self, seat: SeatRow) -> bool:
        # A lease that ends later than any can was given before the clock was set back.
        return self.now < seat.lease_until <= self.now + self.settings.lease_minutes * 60.0 + 1.0


def take(connection: Connection, board: Board, document_id: int, person_id: int, version: int) -> SeatRow:
    """Give a person a document, or go on with it."""
    until = board.now + board.settings.lease_minutes * 60.0
    if not board.has_room(document_id, person_id):
        raise TakenError("somebody else is working on this document, or has done it: choose another")
    seat = board.seat(document_id, person_id)
    if seat is None:
        seat = SeatRow(person_id, document_id, version, False, until, board.now)
        values = {"person_id": person_id, "document_id": document_id, "model_version": version}
        connection.execute(insert(schema.seats).values(**values, done=False, lease_until=until, touched_at=board.now))
    else:
        touch(connection, person_id, document_id, lease_until=until, touched_at=board.now)
    return seat


def touch(connection: Connection, person_id: int, document_id: int, **values: object) -> None:
    """Change a seat."""
    connection.execute(_TOUCH, {"of_person": person_id, "of_document": document_id, **values})

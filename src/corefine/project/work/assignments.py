"""Who works on which document.

A document has room for one person, or for `overlap_people` if several people are to annotate it. A person takes up room
while they hold a lease on the document, and permanently once they have finished it. A document that is assigned to
certain people has room for all of them and for nobody else.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, insert, select, update

from corefine.errors import DocumentTakenError
from corefine.project.store import log, schema
from corefine.project.store.documents import DocumentInfo
from corefine.project.store.settings import ProjectConfig
from corefine.project.work.imported_entities import copy_answers

FEWEST_IN_FULL = 2
"""This many documents annotated in full are enough to train a model on."""

_COLUMNS = schema.assignments.c
_UPDATE = update(schema.assignments).where(
    _COLUMNS.person_id == bindparam("of_person"), _COLUMNS.document_id == bindparam("of_document")
)


@dataclass(frozen=True, slots=True)
class Assignment:
    """A person and a document they work on or have finished, as the database has it."""

    person_id: int
    document_id: int
    model_version: int
    done: bool
    lease_until: float
    touched_at: float


def all_of(connection: Connection, document_id: int | None = None) -> list[Assignment]:
    """Everybody's assignments, to one document or to all."""
    query = select(schema.assignments)
    if document_id is not None:
        query = query.where(_COLUMNS.document_id == document_id)
    return [Assignment(*row) for row in connection.execute(query)]


def find(connection: Connection, person_id: int, document_id: int) -> Assignment | None:
    query = select(schema.assignments).where(_COLUMNS.person_id == person_id, _COLUMNS.document_id == document_id)
    row = connection.execute(query).first()
    return None if row is None else Assignment(*row)


def change(connection: Connection, person_id: int, document_id: int, **values: object) -> None:
    connection.execute(_UPDATE, {"of_person": person_id, "of_document": document_id, **values})


def request_training_in_full(connection: Connection) -> None:
    """Ask the worker to train, if at least two documents that are done were annotated in full."""
    done = connection.execute(select(_COLUMNS.document_id).where(_COLUMNS.done)).scalars()
    if len(log.documents_with_complete_parts(connection) & set(done)) >= FEWEST_IN_FULL:
        connection.execute(update(schema.worker).values(requested=True))


class Assignments:
    """Everybody's assignments at one moment, `now`; those of one document alone if `document_id` is given."""

    def __init__(
        self,
        connection: Connection,
        documents: Sequence[DocumentInfo],
        settings: ProjectConfig,
        now: float,
        *,
        document_id: int | None = None,
    ) -> None:
        self.documents, self.settings, self.now = documents, settings, now
        self.overlap = overlap([document.id for document in documents], settings.overlap)
        self._for = {document.id: document.assigned for document in documents if document.assigned}
        self._by_document: dict[int, list[Assignment]] = {}
        for assignment in all_of(connection, document_id):
            self._by_document.setdefault(assignment.document_id, []).append(assignment)

    def of(self, document_id: int) -> Sequence[Assignment]:
        """Everybody's assignments to one document."""
        return self._by_document.get(document_id, ())

    def find(self, document_id: int, person_id: int) -> Assignment | None:
        return next((each for each in self._by_document.get(document_id, ()) if each.person_id == person_id), None)

    def has_room(self, document_id: int, person_id: int) -> bool:
        """Whether the person may work on the document."""
        if document_id in self._for:
            return person_id in self._for[document_id]
        others = [
            each
            for each in self._by_document.get(document_id, ())
            if each.person_id != person_id and (each.done or self._is_leased(each))
        ]
        return len(others) < (self.settings.overlap_people if document_id in self.overlap else 1)

    def check_room(self, document_id: int, person_id: int) -> None:
        """Raise unless the person may work on the document."""
        if not self.has_room(document_id, person_id):
            raise DocumentTakenError("somebody else is working on this document, or has done it: choose another")

    def next_for(self, person_id: int, *, besides: Collection[int | None] = ()) -> int | None:
        """The unfinished document with room that the person worked on last, else the first they have not begun.

        Among the latter, those assigned to this person come first.
        """
        begun = self._begun_by(person_id, besides)
        if begun:
            return max(begun, key=lambda assignment: assignment.touched_at).document_id
        new = (
            document.id
            for document in self.documents
            if document.id not in besides
            and self.find(document.id, person_id) is None
            and self.has_room(document.id, person_id)
        )
        if not self._for:
            return next(new, None)  # a project may have thousands of documents: look no further than the first
        return min(new, key=lambda each: each not in self._for, default=None)

    def _begun_by(self, person_id: int, besides: Collection[int | None]) -> list[Assignment]:
        """The assignments that a person has not finished, in the order of the documents, where there is room."""
        asked = {document.id for document in self.documents}
        return [
            assignment
            for document_id in sorted(asked.intersection(self._by_document).difference(besides))
            for assignment in self._by_document[document_id]
            if assignment.person_id == person_id and not assignment.done and self.has_room(document_id, person_id)
        ]

    def take(self, connection: Connection, document_id: int, person_id: int, version: int) -> Assignment:
        """Lease a document to a person, or renew their lease."""
        self.check_room(document_id, person_id)
        lease = self._lease()
        assignment = self.find(document_id, person_id)
        if assignment is None:
            assignment = Assignment(person_id, document_id, version, done=False, **lease)
            values = {"person_id": person_id, "document_id": document_id, "model_version": version, "done": False}
            connection.execute(insert(schema.assignments).values(**values, **lease))
            copy_answers(connection, document_id, person_id)
        else:
            change(connection, person_id, document_id, **lease)
        return assignment

    def touch(
        self, connection: Connection, document_id: int, person_id: int, version: int, *, reopen: bool = False
    ) -> bool:
        """Record that the person worked on a document, and renew their lease. `reopen` makes it unfinished again.

        Returns False and changes nothing if their lease has ended and somebody else has the document now.
        """
        room = self.has_room(document_id, person_id)
        values: dict[str, object] = {"model_version": version}
        if room:
            values |= self._lease() | ({"done": False} if reopen else {})
        change(connection, person_id, document_id, **values)
        return room

    def _lease(self) -> dict[str, float]:
        return {"lease_until": self.now + self.settings.lease_minutes * 60.0, "touched_at": self.now}

    def _is_leased(self, assignment: Assignment) -> bool:
        # No lease granted now can end that late, so the clock must have been set back since. Treat it as expired.
        return self.now < assignment.lease_until <= self.now + self.settings.lease_minutes * 60.0 + 1.0


def overlap(document_ids: Sequence[int], share: float) -> set[int]:
    """The documents that several people annotate: this share of them, spread evenly."""
    if not share:
        return set()
    counts = [math.floor(position * share + 1e-9) for position in range(len(document_ids) + 1)]
    return {document for position, document in enumerate(document_ids) if counts[position + 1] > counts[position]}

"""A project at one moment, for exports and reports that go through all documents.

Everything except texts and predictions is read at once. A document that cannot be read is left out and named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeVar

from corefine.annotation.session import Session
from corefine.document import Document
from corefine.errors import ModelError
from corefine.prediction import Prediction
from corefine.project.project import Project
from corefine.project.results import adjudication
from corefine.project.results.adjudication import OwnerDecision
from corefine.project.store import documents, log, people, predictions, settings
from corefine.project.store.documents import DocumentInfo
from corefine.project.store.log import LoggedEvent
from corefine.project.store.predictions import EMPTY
from corefine.project.work import assignments
from corefine.project.work.open_document import UNREADABLE, everybodys_sessions

T = TypeVar("T")

Skipped = list[tuple[str, str]]
"""The documents that were left out, with reasons."""


Only = Literal["all", "answered", "finished", "reviewed"]
"""Which documents: all, those with answers or decisions, those that somebody has finished, those marked as reviewed."""


class Snapshot:
    """`skipped` are the documents that could not be read so far, with reasons."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.skipped: Skipped = []
        self._read: Document
        self._read_id: int | None = None
        with project.database.read() as connection:
            self.settings = settings.load(connection)
            self.cost = settings.load_cost(connection)
            self.names = people.names(connection)
            self.all = documents.all_of(connection)
            self._reviewed = {info.id: info.reviewed_version for info in self.all}
            self._ready = predictions.ready_versions(connection)
            self._rows = log.rows_by_document(connection)
            self._finished = {each.document_id for each in assignments.all_of(connection) if each.done}
            self._decisions = adjudication.rows_by_document(connection)

    def each(self, read: Callable[[DocumentInfo], T], *, only: Only = "all") -> Iterator[tuple[DocumentInfo, T]]:
        """The results of a function for every annotated document, or for some of them."""
        chosen = {info.id: info for info in self.chosen(only)}
        for document_id, content in self.project.documents.contents(chosen):
            info = chosen[document_id]
            try:
                self._read = documents.parsed(document_id, content)
                self._read_id = document_id
                found = read(info)
            except UNREADABLE as error:
                self.skipped.append((info.key, str(error)))
            else:
                yield info, found

    def chosen(self, only: Only) -> list[DocumentInfo]:
        """The documents that are annotated, or some of them."""
        fits: dict[Only, Callable[[DocumentInfo], bool]] = {
            "all": lambda _: True,
            "answered": lambda info: self.has_answers(info.id),
            "finished": lambda info: info.id in self._finished,
            "reviewed": lambda info: info.reviewed_at is not None,
        }
        return [info for info in self.all if not info.held_out and fits[only](info)]

    def has_answers(self, document_id: int) -> bool:
        return document_id in self._rows or document_id in self._decisions

    def document(self, document_id: int) -> Document:
        """A document. The one that `each` is working on is in memory."""
        return self._read if self._read_id == document_id else self.project.documents.get(document_id)

    def rows(self, document_id: int) -> list[LoggedEvent]:
        return log.parsed(self._rows.get(document_id, ()))

    def decisions(self, document_id: int) -> list[OwnerDecision]:
        return adjudication.parsed(self._decisions.get(document_id, ()))

    def sessions(self, document_id: int, prediction: Prediction = EMPTY) -> dict[int, Session]:
        """By person, the sessions of all who have worked on a document."""
        return everybodys_sessions(self.document(document_id), self.rows(document_id), self.settings, prediction)

    def prediction(self, document_id: int) -> tuple[int | None, Prediction]:
        """The newest version that has read a document, and its prediction; an empty one if there is none.

        A document that was reviewed keeps the version that the reviewer saw, so that what was approved stays.
        """
        reviewed = self._reviewed.get(document_id)
        seen = [reviewed] if reviewed in self._ready else []
        for version in (*seen, *sorted(self._ready, reverse=True)):
            if self.project.predictions.exists(version, document_id):
                try:
                    return version, self.project.predictions.load(version, document_id)
                except ModelError:  # damaged; it will be computed again
                    continue
        return None, EMPTY

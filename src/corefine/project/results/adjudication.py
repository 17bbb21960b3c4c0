"""The owner's decisions where people differ. When answers are merged, decisions come first."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from corefine.annotation.question import span_from_json, span_to_json
from corefine.document import Span
from corefine.errors import InvalidSpanError
from corefine.links import Assertion, First, NotAMention
from corefine.project.project import Project
from corefine.project.store import schema


@dataclass(frozen=True, slots=True)
class OwnerDecision:
    """Whether `span` is a mention, and the first mention of its entity."""

    document_id: int
    span: Span
    is_mention: bool
    first: Span | None
    person_id: int
    at: float

    @property
    def assertions(self) -> tuple[Assertion, ...]:
        if not self.is_mention:
            return (NotAMention(self.span),)
        return () if self.first is None else (First(self.first, self.span),)


def rows_by_document(connection: Connection) -> dict[int, list[Row[Any]]]:
    """The owner's decisions about all documents, for `parsed`."""
    found: dict[int, list[Row[Any]]] = {}
    for row in connection.execute(select(schema.decisions)):
        found.setdefault(row.document_id, []).append(row)
    return found


def parsed(rows: Iterable[Row[Any]]) -> list[OwnerDecision]:
    """The decisions of rows. A damaged one raises one of the errors in `open_document.UNREADABLE`."""
    found = []
    for row in rows:
        fields = json.loads(row.decision)
        first = None if fields.get("first") is None else span_from_json(fields["first"])
        span, is_mention = span_from_json(json.loads(row.mention)), fields.get("mention", True)
        found.append(OwnerDecision(row.document_id, span, is_mention, first, row.person_id, row.at))
    return found


def decide(project: Project, decision: OwnerDecision) -> None:
    """Store a decision of the owner, in place of an earlier one about the same span."""
    first = decision.first
    _check_inside(project, decision.document_id, decision.span, first or decision.span)
    if first is not None and first > decision.span:
        raise InvalidSpanError(f"the first appearance {first} comes after the mention {decision.span}")
    fields = {"mention": decision.is_mention, "first": None if first is None else span_to_json(first)}
    values = {"decision": json.dumps(fields), "person_id": decision.person_id, "at": decision.at}

    def write(connection: Connection) -> None:
        _delete(connection, decision.document_id, decision.span)
        key = {"document_id": decision.document_id, "mention": _key(decision.span)}
        connection.execute(insert(schema.decisions).values(**key, **values))

    project.writer.write(write)


def withdraw_decision(project: Project, document_id: int, span: Span) -> None:
    """Remove the owner's decision about a span, if there is one."""
    _check_inside(project, document_id, span)
    project.writer.write(lambda connection: _delete(connection, document_id, span))


def _check_inside(project: Project, document_id: int, *spans: Span) -> None:
    document = project.documents.get(document_id)
    for span in spans:
        if not document.holds(span):
            raise InvalidSpanError(f"span {span} is outside document {document.key}")


def _delete(connection: Connection, document_id: int, span: Span) -> None:
    connection.execute(delete(schema.decisions).filter_by(document_id=document_id, mention=_key(span)))


def _key(span: Span) -> str:
    return json.dumps(span_to_json(span))

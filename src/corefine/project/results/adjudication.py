"""Where people differ, and what the owner decides. A decision counts before every answer when answers are merged."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import combinations

from sqlalchemy import Connection, delete, insert, select

from corefine.annotation.question import Answer, span_from_json, span_to_json
from corefine.annotation.session import Session
from corefine.document import Span, document_order
from corefine.errors import InvalidSpanError
from corefine.links import Assertion, First, NotAMention, Relation
from corefine.project.project import Project
from corefine.project.store import log, people, schema
from corefine.project.work.open_document import everybodys_sessions


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one person's answers say about a mention; `first` is the first mention of its entity, if they said it."""

    person: str
    is_mention: bool
    first: Span | None
    answer: Answer | None


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


@dataclass(frozen=True, slots=True)
class Disagreement:
    document_id: int
    document_name: str
    mention: Span
    opinions: tuple[Opinion, ...]
    decision: OwnerDecision | None


def disagreements(project: Project) -> list[Disagreement]:
    """Every mention about which two people's answers cannot both be true."""
    with project.database.read() as connection:
        names = people.names(connection)
        decided = {(each.document_id, each.span): each for each in decisions_of(connection)}
    found = []
    for document in project.documents.all():
        with project.database.read() as connection:
            rows = log.events_of(connection, document_id=document.id)
        sessions = everybodys_sessions(project, document.id, rows)
        asked = {answered.question.mention for session in sessions.values() for answered in session.answers}
        for mention in sorted(asked, key=document_order):
            pairs = combinations(sessions.values(), 2)
            if any(_differ(a, b, mention) or _differ(b, a, mention) for a, b in pairs):
                opinions = tuple(_opinion(names[person], session, mention) for person, session in sessions.items())
                decision = decided.get((document.id, mention))
                found.append(Disagreement(document.id, document.key, mention, opinions, decision))
    return found


def decisions_of(connection: Connection, document_id: int | None = None) -> list[OwnerDecision]:
    """The owner's decisions, about one document or all."""
    query = select(schema.decisions)
    if document_id is not None:
        query = query.where(schema.decisions.c.document_id == document_id)
    found = []
    for row in connection.execute(query):
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


def _differ(a: Session, b: Session, mention: Span) -> bool:
    """Whether `b`'s answers exclude something that `a`'s say about the mention."""
    if a.links.is_mention(mention) != b.links.is_mention(mention):
        return a.links.entity_id(mention) is not None or b.links.entity_id(mention) is not None
    entity = a.links.entity_of(mention) or ()
    if any(b.links.relation(other, mention) is Relation.CANNOT for other in entity if other != mention):
        return True
    return b.links.has_no_antecedent(mention) and bool(entity) and entity[0] < mention


def _opinion(name: str, session: Session, mention: Span) -> Opinion:
    links = session.links
    entity = links.entity_of(mention)
    known = entity is not None and (len(entity) > 1 or links.has_no_antecedent(mention))
    answers = [answered.answer for answered in session.answers if answered.question.mention == mention]
    return Opinion(
        person=name,
        is_mention=links.is_mention(mention),
        first=entity[0] if entity is not None and known else None,
        answer=answers[-1] if answers else None,
    )

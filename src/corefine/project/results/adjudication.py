"""Where people differ, and what the owner decides. A decision outweighs every answer when answers are combined."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from corefine.annotation.question import Answer, span_to_json
from corefine.annotation.session import Session
from corefine.document import Span, document_order
from corefine.errors import OutsideError
from corefine.links import Relation
from corefine.project.project import Project
from corefine.project.results.agreement import sessions_of
from corefine.project.store import schema
from corefine.project.store.people import Person


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one person's answers say of a mention; `first` is the earliest mention they tie it to."""

    person: str
    is_mention: bool
    first: Span | None
    answer: Answer | None


@dataclass(frozen=True, slots=True)
class Difference:
    document_id: int
    document_name: str
    mention: Span
    opinions: tuple[Opinion, ...]
    decision: dict[str, Any] | None


def differences(project: Project) -> list[Difference]:
    """Every mention of which two people's answers cannot both be true."""
    with project.database.read() as connection:
        decided = {
            (row.document_id, row.mention): json.loads(row.decision)
            for row in connection.execute(select(schema.decisions))
        }
    found = []
    for entry in project.documents.all():
        sessions = sessions_of(project, entry.id, with_model=False)
        if len(sessions) < 2:
            continue
        asked = {answered.question.mention for session in sessions.values() for answered in session.answers}
        for mention in sorted(asked, key=document_order):
            pairs = combinations(sessions.values(), 2)
            if any(_differ(a, b, mention) or _differ(b, a, mention) for a, b in pairs):
                opinions = tuple(_opinion(name, session, mention) for name, session in sessions.items())
                decision = decided.get((entry.id, key_of(mention)))
                found.append(Difference(entry.id, entry.key, mention, opinions, decision))
    return found


def decide(
    project: Project,
    person: Person,
    document_id: int,
    mention: Span,
    decision: dict[str, Any] | None,
    first: Span | None,
) -> None:
    """Keep the owner's decision about a mention; None takes it back."""
    document = project.documents.get(document_id)
    for span in (mention, first):
        if span is not None and not document.holds(span):
            raise OutsideError(f"span {span} is outside document {document.key}")
    if first is not None and first > mention:
        raise OutsideError(f"the first appearance {first} comes after the mention {mention}")
    key = {"document_id": document_id, "mention": key_of(mention)}

    def job(connection: Connection) -> None:
        connection.execute(delete(schema.decisions).filter_by(**key))
        if decision is not None:
            values = {**key, "decision": json.dumps(decision), "person_id": person.id, "at": time.time()}
            connection.execute(insert(schema.decisions).values(values))

    project.writer.write(job)


def key_of(mention: Span) -> str:
    return json.dumps(span_to_json(mention))


def _differ(a: Session, b: Session, mention: Span) -> bool:
    """Whether something that `a` says of the mention is excluded by what `b` says."""
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

"""What all people together say about a document: the owner's decisions first, then answers in the order given.

What contradicts something earlier is left out and counted, never mixed in: it is what adjudication is for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from sqlalchemy import select

from corefine.annotation.log import LogEntry
from corefine.annotation.question import span_from_json
from corefine.annotation.session import Session
from corefine.document import Span
from corefine.errors import ContradictionError
from corefine.links import Assertion, First, NotAMention
from corefine.prediction import Prediction
from corefine.project.project import Project
from corefine.project.store import log, schema
from corefine.project.store.log import LoggedEvent
from corefine.project.work.sessions import rebuild


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """Where an entry of a combined session comes from; `number` is None for a decision of the owner."""

    person_id: int
    number: int | None
    at: float


@dataclass(slots=True)
class Merged:
    """`sources` by the combined session's own numbers; `left_out` are answers that contradict others'."""

    session: Session
    sources: dict[int, AnswerSource] = field(default_factory=dict)
    left_out: list[AnswerSource] = field(default_factory=list)


def merged(project: Project, document_id: int, prediction: Prediction) -> Merged:
    """One session with everybody's standing answers and edits about a document."""
    settings = project.settings
    document = project.documents.get(document_id)
    with project.database.read() as connection:
        rows = log.events_of(connection, document_id=document_id)
        decided = connection.execute(
            select(schema.decisions).where(schema.decisions.c.document_id == document_id)
        ).all()
    result = Merged(rebuild(document, [], prediction, settings, project.cost))
    for row in decided:
        decision = decision_assertions(span_from_json(json.loads(row.mention)), json.loads(row.decision))
        _add(result, AnswerSource(row.person_id, None, row.at), decision, ())
    for row_, entry in standing_entries(project, document_id, rows):
        _add(result, AnswerSource(row_.person_id, entry.number, row_.at), entry.assertions, entry.mentions)
    return result


def standing_entries(project: Project, document_id: int, rows: list[LoggedEvent]) -> list[tuple[LoggedEvent, LogEntry]]:
    """Every person's standing answers and edits, in the order they were given."""
    from corefine.project.store.predictions import EMPTY

    settings = project.settings
    document = project.documents.get(document_id)
    found: list[tuple[LoggedEvent, LogEntry]] = []
    for person_id in dict.fromkeys(row.person_id for row in rows):
        own = [row for row in rows if row.person_id == person_id]
        by_number = {row.number: row for row in own if row.number is not None}
        session = rebuild(document, own, EMPTY, settings)
        found += [(by_number[entry.number], entry) for entry in session.entries]
    return sorted(found, key=lambda pair: pair[0].id)


def decision_assertions(mention: Span, decision: dict[str, object]) -> tuple[Assertion, ...]:
    """What the owner decided about a mention, as assertions."""
    if not decision.get("mention", True):
        return (NotAMention(mention),)
    first = decision.get("first")
    if not isinstance(first, list):
        return ()
    return (First(span_from_json(first), mention),)


def _add(result: Merged, source: AnswerSource, assertions: tuple[Assertion, ...], mentions: tuple[Span, ...]) -> None:
    if not assertions and not mentions:
        return
    try:
        outcome = result.session.edit(assertions, mentions=mentions)
    except ContradictionError:
        result.left_out.append(source)
    else:
        result.sources[outcome.number] = source

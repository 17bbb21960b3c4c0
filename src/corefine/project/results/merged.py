"""What all people together say about a document: the owner's decisions first, then answers in the order given.

An answer that contradicts an earlier one is left out and counted. Adjudication is for those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from corefine.annotation.session import Session
from corefine.document import Span
from corefine.errors import ContradictionError
from corefine.links import Assertion
from corefine.prediction import Prediction
from corefine.project.project import Project
from corefine.project.results.adjudication import decisions_of
from corefine.project.store import log
from corefine.project.work.open_document import everybodys_sessions, restore_session


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """Where an answer or edit of a merged session comes from; `number` is None for a decision of the owner."""

    person_id: int
    number: int | None
    at: float


@dataclass(slots=True)
class Merged:
    """`sources` by the merged session's own numbers; `left_out` are answers that contradict earlier ones."""

    session: Session
    sources: dict[int, AnswerSource] = field(default_factory=dict)
    left_out: list[AnswerSource] = field(default_factory=list)

    def add(self, source: AnswerSource, assertions: Sequence[Assertion], mentions: Sequence[Span] = ()) -> None:
        if not assertions and not mentions:
            return
        try:
            outcome = self.session.edit(assertions, mentions=mentions)
        except ContradictionError:
            self.left_out.append(source)
        else:
            self.sources[outcome.number] = source


def merged(project: Project, document_id: int, prediction: Prediction) -> Merged:
    """One session with everybody's standing answers and edits about a document."""
    with project.database.read() as connection:
        rows = log.events_of(connection, document_id=document_id)
        decisions = decisions_of(connection, document_id)
    result = Merged(restore_session(project.documents.get(document_id), [], prediction, project.settings, project.cost))
    for decision in decisions:
        result.add(AnswerSource(decision.person_id, None, decision.at), decision.assertions)
    row_of = {(row.person_id, row.number): row for row in rows if row.number is not None}
    standing = [
        (row_of[person_id, entry.number], entry)
        for person_id, session in everybodys_sessions(project, document_id, rows).items()
        for entry in session.entries
    ]
    for row, entry in sorted(standing, key=lambda pair: pair[0].id):
        result.add(AnswerSource(row.person_id, entry.number, row.at), entry.assertions, entry.mentions)
    return result

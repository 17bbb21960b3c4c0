"""What all people together say about a document: the owner's decisions first, then answers in the order given.

An answer that contradicts an earlier one is left out and counted. The owner can settle such cases by adjudication.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from corefine.annotation.labels import Labels
from corefine.annotation.log import AnswerEntry, LogEntry
from corefine.annotation.question import Question
from corefine.annotation.session import Session
from corefine.document import Document, Span
from corefine.errors import ContradictionError
from corefine.links import Assertion, Links
from corefine.prediction import Prediction
from corefine.project.results.snapshot import Snapshot
from corefine.project.store.predictions import EMPTY
from corefine.project.work.open_document import everybodys_sessions, restore_session


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """Where an answer or edit of a merged session comes from; `number` is None for a decision of the owner.

    `version` is the model version that was in use; 0 for decisions, and for answers that came with the document.
    """

    person_id: int
    number: int | None
    at: float
    version: int = 0


@dataclass(slots=True)
class Merged:
    """`sources` by the merged session's own numbers; `left_out` are answers that contradict earlier ones.

    `unsettled` of these contradict other answers only, and no decision of the owner.
    """

    session: Session
    sources: dict[int, AnswerSource] = field(default_factory=dict)
    left_out: list[AnswerSource] = field(default_factory=list)
    unsettled: int = 0
    _decided: Links = field(default_factory=Links)
    _asked: dict[int, Question] = field(default_factory=dict)  # by the merged session's numbers

    def labels(self, asked_by: Container[int]) -> Labels:
        """What the session teaches. What was expected of an answer counts if one of these versions asked for it.

        The session's entries are edits; the questions that they answered are kept beside them.
        """
        numbers = (entry.number for entry in self.session.entries if entry.number in self._asked)
        asked = (self._asked[number] for number in numbers if self.sources[number].version in asked_by)
        return Labels.from_session(self.session, asked)

    def add(self, source: AnswerSource, assertions: Sequence[Assertion], entry: LogEntry | None = None) -> None:
        mentions, complete, origin = ((), (), None) if entry is None else (entry.mentions, entry.complete, entry.source)
        if not assertions and not mentions and not complete:
            return
        try:
            outcome = self.session.edit(assertions, mentions=mentions, complete=complete, source=origin)
        except ContradictionError:
            self.left_out.append(source)
            self.unsettled += not self._is_settled(assertions, mentions)
        else:
            self.sources[outcome.number] = source
            if isinstance(entry, AnswerEntry):
                self._asked[outcome.number] = entry.question
            if source.number is None:
                self._decided.add(outcome.number, *assertions)

    def _is_settled(self, assertions: Sequence[Assertion], mentions: Sequence[Span]) -> bool:
        """Whether the owner's decisions alone exclude what an answer says."""
        answer = self.session.next_number
        try:
            self._decided.add(answer, *assertions)
        except ContradictionError:
            return True
        denied = not all(map(self._decided.is_mention, mentions))
        self._decided.withdraw(answer)
        return denied


def merged(snapshot: Snapshot, document_id: int, prediction: Prediction) -> Merged:
    """One session with everybody's standing answers and edits about a document."""
    document, settings = snapshot.document(document_id), snapshot.settings
    result = Merged(restore_session(document, [], EMPTY, settings, snapshot.cost))
    for decision in snapshot.decisions(document_id):
        result.add(AnswerSource(decision.person_id, None, decision.at), decision.assertions)
    rows = snapshot.rows(document_id)
    row_of = {(row.person_id, row.number): row for row in rows if row.number is not None}
    standing = [
        (row_of[person_id, entry.number], entry)
        for person_id, session in everybodys_sessions(document, rows, settings).items()
        for entry in session.entries
    ]
    for row, entry in sorted(standing, key=lambda pair: pair[0].id):
        result.add(AnswerSource(row.person_id, entry.number, row.at, row.model_version), entry.assertions, entry)
    result.session.use(prediction)  # added last, which gives the same session in less time
    return result


def relabelled(snapshot: Snapshot, document_id: int, prediction: Prediction) -> Document:
    """The document with the clusters of everybody's answers and a prediction."""
    return merged(snapshot, document_id, prediction).session.annotated()

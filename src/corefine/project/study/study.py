"""The paper's timing study with a project's own people: sessions of a fixed length, both sets in alternating order."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, func, insert, select

from corefine.annotation.question import (
    Answer,
    Protocol,
    Question,
    check_fits,
    check_span,
    span_from_json,
    span_to_json,
)
from corefine.document import Document
from corefine.errors import InputError, QuestionNotOpenError, ReusedIdError
from corefine.project.project import Project
from corefine.project.results import times
from corefine.project.store import people, schema, settings
from corefine.project.store.log import Timing
from corefine.project.study.sampling import SETS, SampledQuestion, sample

QUESTIONS, SESSIONS, ANSWERS = schema.study_questions.c, schema.study_sessions.c, schema.study_answers.c
INSTRUCTIONS = """\
- You see a document, a mention in yellow and a proposed antecedent in blue. Say whether they are the same entity.
- On no, mark where the entity of the yellow mention first appears.
- Answer as many questions as you can, as carefully as usual. There is no undo; if you cannot tell, say *unsure*.
- Stay on the page: time is measured while it is visible and you are active.
"""


@dataclass(frozen=True, slots=True)
class StudyQuestion:
    id: int
    document_id: int
    question: Question


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """Where a person is in their session; `state` is none, ready, asking or over.

    `document` is what the question is about; `with_document` sets it.
    """

    state: str
    minutes: float
    first_set: str = "A"
    order: int = 0
    answered: int = 0
    of: int = 0
    seconds_left: float = 0.0
    asked: StudyQuestion | None = None
    document: Document | None = None


class SetSummary(NamedTuple):
    """The size of a set, and how many of its questions are from early and late rounds."""

    name: str
    questions: int
    early: int
    late: int
    documents: int


class Participation(NamedTuple):
    """A person's session, for the owner."""

    person: str
    set: str
    order: int
    answers: int
    seconds: float
    state: str


def draw(project: Project, *, documents: int, questions: int) -> list[SampledQuestion]:
    """Draw both sets."""
    found = sample(project, documents=documents, questions=questions)
    if not found:
        raise InputError("there is nothing to draw from: the study needs documents with gold clusters, or answers")
    return found


def keep(connection: Connection, drawn: Sequence[SampledQuestion], *, minutes: float) -> None:
    """Make the drawn questions those of the study. Raises once somebody has begun."""
    if connection.execute(select(SESSIONS.id)).first() is not None:
        raise InputError("somebody has begun this study; its questions stay")
    connection.execute(delete(schema.study_questions))
    for name in SETS:
        own = [each for each in drawn if each.set_name == name]
        if own:
            connection.execute(insert(schema.study_questions), [_row(place, each) for place, each in enumerate(own)])
    settings.put(connection, "study", {"minutes": minutes})


def progress_of(connection: Connection, person_id: int, now: float) -> StudyProgress:
    """What a person is to see of the study."""
    rows = connection.execute(select(schema.study_questions).order_by(QUESTIONS.place)).all()
    minutes = float(settings.get(connection, "study", {"minutes": 30.0})["minutes"])
    if not rows:
        return StudyProgress("none", minutes)
    session = _session(connection, person_id)
    if session is None:
        begun = connection.execute(select(func.count()).select_from(schema.study_sessions)).scalar_one()
        return StudyProgress("ready", minutes, SETS[begun % 2], begun + 1, of=len(rows), seconds_left=minutes * 60.0)
    done = set(connection.execute(select(ANSWERS.question_id).where(ANSWERS.session_id == session.id)).scalars())
    left = minutes * 60.0 - max(0.0, now - session.began_at)  # a clock set back gives no more than the whole time
    asked = None if left <= 0 else _next(rows, session, done)
    state = "over" if asked is None else "asking"
    return StudyProgress(state, minutes, session.first_set, session.id, len(done), len(rows), max(0.0, left), asked)


def with_document(project: Project, found: StudyProgress) -> StudyProgress:
    """The same with its document, read before anything is committed: afterwards nothing may fail."""
    return found if found.asked is None else replace(found, document=project.documents.get(found.asked.document_id))


def begin(project: Project, person_id: int, protocol: Protocol) -> StudyProgress:
    """Start a person's session, unless it has been started."""

    def write(connection: Connection) -> StudyProgress:
        now = time.time()
        found = progress_of(connection, person_id, now)
        if found.state != "ready":
            return with_document(project, found)
        values = {"person_id": person_id, "first_set": found.first_set, "protocol": protocol.value, "began_at": now}
        connection.execute(insert(schema.study_sessions).values(values))
        return with_document(project, progress_of(connection, person_id, now))

    return project.writer.write(write)


def answer(
    project: Project, person_id: int, client_id: str, question_id: int, given: Answer, timing: Timing
) -> StudyProgress:
    """Store an answer and its times. The same answer under the same client's id does nothing."""

    def write(connection: Connection) -> StudyProgress:
        now = time.time()
        session = _session(connection, person_id)
        if session is None:
            raise QuestionNotOpenError("the session has not begun")
        known = select(schema.study_answers).where(ANSWERS.session_id == session.id, ANSWERS.client_id == client_id)
        before = connection.execute(known).first()
        if before is not None and (before.question_id, json.loads(before.answer)) != (question_id, given.to_json()):
            raise ReusedIdError(f"the client_id {client_id} was sent before with another answer: use a new one")
        if before is None:
            asked = progress_of(connection, person_id, now).asked
            if asked is None or asked.id != question_id:
                raise QuestionNotOpenError("this question is no longer open: it was answered, or the session is over")
            check_fits(given, asked.question)
            check_span(given, asked.question)
            values = {"session_id": session.id, "question_id": question_id, "client_id": client_id, "at": now}
            said = {"answer": json.dumps(given.to_json()), **asdict(timing)}
            connection.execute(insert(schema.study_answers).values({**values, **said}))
        return with_document(project, progress_of(connection, person_id, now))

    return project.writer.write(write)


def sets(connection: Connection) -> list[SetSummary]:
    rows = connection.execute(select(schema.study_questions)).all()
    found = []
    for name in sorted({row.set_name for row in rows}):
        own = [row for row in rows if row.set_name == name]
        late = sum(row.late for row in own)
        found.append(SetSummary(name, len(own), len(own) - late, late, len({row.document_id for row in own})))
    return found


def sessions(connection: Connection, now: float) -> list[Participation]:
    """Who has taken part, and how far they came."""
    names = people.names(connection)
    found = []
    for row in connection.execute(select(schema.study_sessions).order_by(SESSIONS.id)):
        here = progress_of(connection, row.person_id, now)
        spent = select(func.sum(func.coalesce(ANSWERS.initial, 0) + func.coalesce(ANSWERS.follow_up, 0)))
        seconds = float(connection.execute(spent.where(ANSWERS.session_id == row.id)).scalar() or 0.0)
        found.append(Participation(names[row.person_id], row.first_set, row.id, here.answered, seconds, here.state))
    return found


def measure(connection: Connection) -> list[times.TimingRow]:
    """The timing table of the study alone."""
    query = select(SESSIONS.protocol, ANSWERS.reading, ANSWERS.initial, ANSWERS.follow_up)
    rows = connection.execute(query.join(schema.study_sessions, SESSIONS.id == ANSWERS.session_id))
    return times.table((Protocol(protocol), Timing(*seconds)) for protocol, *seconds in rows)


def _session(connection: Connection, person_id: int) -> Row[Any] | None:
    return connection.execute(select(schema.study_sessions).where(SESSIONS.person_id == person_id)).first()


def _row(place: int, each: SampledQuestion) -> dict[str, object]:
    question = each.question
    asked = {
        "mention": span_to_json(question.mention),
        "antecedent": None if question.antecedent is None else span_to_json(question.antecedent),
        "probability": question.probability,
        "score": question.score,
    }
    where = {"set_name": each.set_name, "place": place, "late": each.late, "labels": each.labels}
    return {**where, "document_id": each.document_id, "question": json.dumps(asked)}


def _next(rows: Sequence[Row[Any]], session: Row[Any], done: set[int]) -> StudyQuestion | None:
    """The next question: of the person's first set in its order, then of the other."""
    ordered = sorted(rows, key=lambda row: row.set_name != session.first_set)  # stable: the order within a set stays
    row = next((row for row in ordered if row.id not in done), None)
    if row is None:
        return None
    fields = json.loads(row.question)
    protocol = Protocol(session.protocol)
    antecedent = None if protocol is Protocol.FOLLOW_UP else fields["antecedent"]
    question = Question(
        number=len(done) + 1,
        mention=span_from_json(fields["mention"]),
        antecedent=None if antecedent is None else span_from_json(antecedent),
        protocol=protocol,
        probability=fields["probability"],
        score=fields["score"],
    )
    return StudyQuestion(row.id, row.document_id, question)

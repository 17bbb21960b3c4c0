"""The paper's timing study with the people of a project: sessions of fixed length, with both sets in alternating order.

A session asks discrete questions, which times both steps, or asks only for first appearances. A person may do several
sessions. The next one begins with the other set and does not repeat questions.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

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
- In a session of *first appearances only*, you see no antecedent: mark at once where the entity first appears.
"""


@dataclass(frozen=True, slots=True)
class StudyQuestion:
    id: int
    document_id: int
    question: Question


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """Where a person is in their last session; it has a question while `state` is asking.

    set          the set that it began with
    order        the number of the session in the study
    protocol     what it asks
    again        whether the person can begin another session, which would start with the set `next_set`
    """

    state: Literal["none", "ready", "asking", "over"]
    minutes: float
    set: str = "A"
    order: int = 0
    answered: int = 0
    of: int = 0
    seconds_left: float = 0.0
    protocol: Protocol = Protocol.DISCRETE
    again: bool = False
    next_set: str = "A"


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """The state of a person's last session, its question, and the question's document, which `with_document` sets."""

    session: SessionState
    asked: StudyQuestion | None = None
    document: Document | None = None


@dataclass(frozen=True, slots=True)
class SetSummary:
    """The size of a set, and how many of its questions are from early and late rounds."""

    name: str
    questions: int
    early: int
    late: int
    documents: int


@dataclass(frozen=True, slots=True)
class Participation:
    """A person's session, for the owner."""

    person: str
    set: str
    protocol: str
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
    """Store the drawn questions as the study's. Raises if somebody has begun."""
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
        return StudyProgress(SessionState(state="none", minutes=minutes))
    own = _sessions(connection, person_id)
    if not own:
        people_before = select(func.count(SESSIONS.person_id.distinct()))
        first = SETS[connection.execute(people_before).scalar_one() % 2]
        order = connection.execute(select(func.count()).select_from(schema.study_sessions)).scalar_one() + 1
        size, seconds = len(rows), minutes * 60.0
        return StudyProgress(
            SessionState(
                state="ready", minutes=minutes, set=first, order=order, of=size, seconds_left=seconds, next_set=first
            )
        )
    return _standing(connection, rows, own, minutes, now)


def _standing(
    connection: Connection, rows: Sequence[Row[Any]], own: Sequence[Row[Any]], minutes: float, now: float
) -> StudyProgress:
    """A person's progress in their last session."""
    session = own[-1]
    answered = select(ANSWERS.question_id, ANSWERS.session_id).where(ANSWERS.session_id.in_([each.id for each in own]))
    sessions_of = {row.question_id: row.session_id for row in connection.execute(answered)}
    here = sum(each == session.id for each in sessions_of.values())
    left = minutes * 60.0 - max(0.0, now - session.began_at)  # a clock set back gives no more than the whole time
    open_rows = [row for row in rows if row.id not in sessions_of]
    asked = _next(open_rows, session, here) if left > 0 else None
    state = SessionState(
        state="over" if asked is None else "asking",
        minutes=minutes,
        set=session.first_set,
        order=session.id,
        answered=here,
        of=here + len(open_rows),
        seconds_left=max(0.0, left),
        protocol=Protocol(session.protocol),
        again=asked is None and bool(open_rows),
        next_set=next(name for name in SETS if name != session.first_set),
    )
    return StudyProgress(state, asked)


def with_document(project: Project, found: StudyProgress) -> StudyProgress:
    """The same progress with its document. It is read before the commit, because nothing may fail afterwards."""
    return found if found.asked is None else replace(found, document=project.documents.get(found.asked.document_id))


def begin(project: Project, person_id: int, client_id: str, protocol: Protocol) -> StudyProgress:
    """Start a person's next session, unless one is running or this request has started one."""

    def write(connection: Connection) -> StudyProgress:
        now = time.time()
        found = progress_of(connection, person_id, now)
        repeated = any(each.client_id == client_id for each in _sessions(connection, person_id))
        session = found.session
        if repeated or not (session.state == "ready" or session.again):
            return with_document(project, found)
        values = {"person_id": person_id, "first_set": session.next_set, "protocol": protocol.value, "began_at": now}
        connection.execute(insert(schema.study_sessions).values({**values, "client_id": client_id}))
        return with_document(project, progress_of(connection, person_id, now))

    return project.writer.write(write)


def answer(
    project: Project, person_id: int, client_id: str, question_id: int, given: Answer, timing: Timing
) -> StudyProgress:
    """Store an answer and its times. The same answer under the same client's id does nothing."""

    def write(connection: Connection) -> StudyProgress:
        now = time.time()
        own = _sessions(connection, person_id)
        if not own:
            raise QuestionNotOpenError("the session has not begun")
        session = own[-1]
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
    """Everybody's sessions, and how far they got in each."""
    names = people.names(connection)
    found = []
    rows = connection.execute(select(schema.study_sessions).order_by(SESSIONS.id)).all()
    last = {row.person_id: row.id for row in rows}
    for row in rows:
        spent = func.sum(func.coalesce(ANSWERS.initial, 0) + func.coalesce(ANSWERS.follow_up, 0))
        own = select(func.count(), spent).select_from(schema.study_answers).where(ANSWERS.session_id == row.id)
        answers, seconds = connection.execute(own).one()
        state = progress_of(connection, row.person_id, now).session.state if row.id == last[row.person_id] else "over"
        name = names[row.person_id]
        found.append(Participation(name, row.first_set, row.protocol, row.id, answers, float(seconds or 0.0), state))
    return found


def measure(connection: Connection) -> list[times.TimingRow]:
    """The timing table of the study alone."""
    query = select(SESSIONS.protocol, ANSWERS.reading, ANSWERS.initial, ANSWERS.follow_up)
    rows = connection.execute(query.join(schema.study_sessions, SESSIONS.id == ANSWERS.session_id))
    return times.table((Protocol(protocol), Timing(*seconds)) for protocol, *seconds in rows)


def _sessions(connection: Connection, person_id: int) -> Sequence[Row[Any]]:
    """A person's sessions, the last one last."""
    own = select(schema.study_sessions).where(SESSIONS.person_id == person_id)
    return connection.execute(own.order_by(SESSIONS.id)).all()


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


def _next(rows: Sequence[Row[Any]], session: Row[Any], done: int) -> StudyQuestion | None:
    """The next question: first those of the session's first set in order, then those of the other."""
    row = min(rows, key=lambda row: row.set_name != session.first_set, default=None)  # the first: order in a set stays
    if row is None:
        return None
    fields = json.loads(row.question)
    protocol = Protocol(session.protocol)
    antecedent = None if protocol is Protocol.FOLLOW_UP else fields["antecedent"]
    question = Question(
        number=done + 1,
        mention=span_from_json(fields["mention"]),
        antecedent=None if antecedent is None else span_from_json(antecedent),
        protocol=protocol,
        probability=fields["probability"],
        score=fields["score"],
    )
    return StudyQuestion(row.id, row.document_id, question)

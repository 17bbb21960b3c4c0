"""The paper's timing study, run with a project's own people: fixed sessions, both sets in alternating order."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from corefine.annotation.question import (
    Answer,
    Protocol,
    Question,
    check_fits,
    check_span,
    span_from_json,
    span_to_json,
)
from corefine.errors import InputError, NotOpenError, ReusedIdError
from corefine.project.project import Project
from corefine.project.results import times
from corefine.project.store import people, schema, settings
from corefine.project.store.log import Timing
from corefine.project.study.sampling import SETS, Sampled, sample

QUESTIONS, SESSIONS, ANSWERS = schema.study_questions.c, schema.study_sessions.c, schema.study_answers.c
INSTRUCTIONS = """\
- You see a document, a mention in yellow and a proposed antecedent in blue. Say whether they are the same entity.
- On no, mark where the entity of the yellow mention first appears.
- Answer as many questions as you can, as carefully as usual. There is no undo; if you cannot tell, say *unsure*.
- Stay on the page: time is measured while it is visible and you are active.
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the study, as it is put to somebody."""

    id: int
    document_id: int
    question: Question


@dataclass(frozen=True, slots=True)
class Sitting:
    """Where somebody is in their session; `state` is none, ready, asking or over."""

    state: str
    minutes: float
    first_set: str
    order: int
    answered: int
    of: int
    seconds_left: float
    asked: Asked | None = None


def draw(project: Project, *, minutes: float, documents: int, questions: int) -> None:
    """Draw both sets. A study that somebody has begun is not drawn again."""
    found = sample(project, documents=documents, questions=questions)
    if not found:
        raise InputError("there is nothing to draw from: the study needs documents with gold clusters, or answers")

    def job(connection: Connection) -> None:
        if connection.execute(select(SESSIONS.id)).first() is not None:
            raise InputError("somebody has begun this study; its questions stay")
        connection.execute(delete(schema.study_questions))
        for name in SETS:
            rows = [_row(place, each) for place, each in enumerate(each for each in found if each.set_name == name)]
            if rows:
                connection.execute(insert(schema.study_questions), rows)
        settings.put(connection, "study", {"minutes": minutes})

    project.writer.write(job)


def sitting(connection: Connection, person_id: int, now: float) -> Sitting:
    """What a person is to see of the study."""
    of = connection.execute(select(func.count()).select_from(schema.study_questions)).scalar_one()
    minutes = float(settings.get(connection, "study", {"minutes": 30.0})["minutes"])
    session = connection.execute(select(schema.study_sessions).where(SESSIONS.person_id == person_id)).first()
    begun = connection.execute(select(func.count()).select_from(schema.study_sessions)).scalar_one()
    if not of:
        return Sitting("none", minutes, "A", 0, 0, 0, 0.0)
    if session is None:
        return Sitting("ready", minutes, SETS[begun % 2], begun + 1, 0, of, minutes * 60.0)
    query = select(ANSWERS.question_id).where(ANSWERS.session_id == session.id)
    done = set(connection.execute(query).scalars())
    left = minutes * 60.0 - max(0.0, now - session.began_at)  # a clock set back gives no more than the whole time
    asked = None if left <= 0 else _next(connection, session, done)
    state = "over" if asked is None else "asking"
    return Sitting(state, minutes, session.first_set, session.id, len(done), of, max(0.0, left), asked)


def begin(project: Project, person_id: int, protocol: Protocol) -> Sitting:
    """Start a person's session, unless it has been started."""

    def job(connection: Connection) -> Sitting:
        now = time.time()
        found = sitting(connection, person_id, now)
        if found.state != "ready":
            return found
        values = {"person_id": person_id, "first_set": found.first_set, "protocol": protocol.value, "began_at": now}
        connection.execute(insert(schema.study_sessions).values(values))
        return sitting(connection, person_id, now)

    return project.writer.write(job)


def answer(
    project: Project, person_id: int, client_id: str, question_id: int, given: Answer, timing: Timing
) -> Sitting:
    """Keep an answer and its times; the same answer under the same client's id again does nothing."""

    def job(connection: Connection) -> Sitting:
        now = time.time()
        session = connection.execute(select(schema.study_sessions).where(SESSIONS.person_id == person_id)).first()
        if session is None:
            raise NotOpenError("the session has not begun")
        known = select(schema.study_answers).where(ANSWERS.session_id == session.id, ANSWERS.client_id == client_id)
        before = connection.execute(known).first()
        if before is not None and (before.question_id, json.loads(before.answer)) != (question_id, given.to_json()):
            raise ReusedIdError(f"the client_id {client_id} was sent before with another answer: use a new one")
        if before is None:
            present = sitting(connection, person_id, now)
            if present.asked is None or present.asked.id != question_id:
                raise NotOpenError("this question is no longer open: it was answered, or the session is over")
            check_fits(given, present.asked.question)
            check_span(given, present.asked.question)
            values = {"session_id": session.id, "question_id": question_id, "client_id": client_id}
            spent = {"reading": timing.reading, "initial": timing.initial, "follow_up": timing.follow_up}
            said = {"answer": json.dumps(given.to_json()), "at": now}
            connection.execute(insert(schema.study_answers).values({**values, **spent, **said}))
        return sitting(connection, person_id, now)

    return project.writer.write(job)


def sets(connection: Connection) -> list[dict[str, Any]]:
    """Each set's size, and how much of it is from early and late rounds."""
    found: dict[str, dict[str, Any]] = {}
    documents: dict[str, set[int]] = {}
    for row in connection.execute(select(schema.study_questions).order_by(QUESTIONS.set_name)):
        one = found.setdefault(row.set_name, {"name": row.set_name, "questions": 0, "early": 0, "late": 0})
        one["questions"] += 1
        one["late" if row.late else "early"] += 1
        documents.setdefault(row.set_name, set()).add(row.document_id)
    return [{**one, "documents": len(documents[name])} for name, one in found.items()]


def sessions(connection: Connection, now: float) -> list[dict[str, Any]]:
    """Who has taken part, and how far they came."""
    names = {person.id: person.name for person in people.everybody(connection)}
    found = []
    for row in connection.execute(select(schema.study_sessions).order_by(SESSIONS.id)):
        here = sitting(connection, row.person_id, now)
        spent = select(func.sum(func.coalesce(ANSWERS.initial, 0) + func.coalesce(ANSWERS.follow_up, 0)))
        seconds = connection.execute(spent.where(ANSWERS.session_id == row.id)).scalar() or 0.0
        one = {"person": names[row.person_id], "set": row.first_set, "order": row.id, "answers": here.answered}
        found.append({**one, "seconds": float(seconds), "state": here.state})
    return found


def measure(connection: Connection) -> list[times.Row]:
    """The timing table of the study alone."""
    query = select(SESSIONS.protocol, ANSWERS.reading, ANSWERS.initial, ANSWERS.follow_up)
    rows = connection.execute(query.join(schema.study_sessions, SESSIONS.id == ANSWERS.session_id))
    return times.table((Protocol(protocol), Timing(*seconds)) for protocol, *seconds in rows)


def _row(place: int, each: Sampled) -> dict[str, Any]:
    question = each.question
    asked = {
        "mention": span_to_json(question.mention),
        "antecedent": None if question.antecedent is None else span_to_json(question.antecedent),
        "probability": question.probability,
        "score": question.score,
    }
    where = {"set_name": each.set_name, "place": place, "late": each.late, "labels": each.labels}
    return {**where, "document_id": each.document_id, "question": json.dumps(asked)}


def _next(connection: Connection, session: Any, done: set[int]) -> Asked | None:
    """The next question: one's first set in its order, then the other."""
    rows = connection.execute(select(schema.study_questions).order_by(QUESTIONS.place)).all()
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
    return Asked(row.id, row.document_id, question)

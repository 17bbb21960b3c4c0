"""The API of the timing study."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass
from sqlalchemy import Connection

from corefine.annotation.question import Protocol
from corefine.project.results import times
from corefine.project.study import study
from corefine.project.study.study import SessionState, StudyProgress
from corefine.web.api.annotator import StepRequest
from corefine.web.api.context import InContext, Somebody, owner, somebody
from corefine.web.api.state import QuestionView, Why
from corefine.web.api.types import AnswerJson, ClientId, Id, RequestModel, TimingJson

routes = APIRouter(prefix="/api", dependencies=[Depends(somebody)])
owner_routes = APIRouter(prefix="/api", dependencies=[Depends(owner)])

NOTE = "Questions are drawn from simulated runs over documents with gold, or else from what people were asked."


class StudyRequest(RequestModel):
    minutes: Annotated[float, Field(gt=0, le=600)] = 30.0
    documents: Annotated[int, Field(ge=4, le=1000)] = 20
    questions: Annotated[int, Field(ge=4, le=10_000)] = 60


class TimingTable(BaseModel):
    rows: list[times.TimingRow]


class StudyView(BaseModel):
    exists: bool
    note: str | None
    minutes: float
    sets: list[study.SetSummary]
    sessions: list[study.Participation]
    times: TimingTable | None


class StudyBeginRequest(StepRequest):
    """What the session asks: discrete questions, or only where entities first appear."""

    protocol: Literal["discrete", "follow-up"] = "discrete"


@pydantic_dataclass(frozen=True, kw_only=True)
class StudySession(SessionState):
    """This person's last session, and its question."""

    instructions: str
    document: int | None
    question: QuestionView | None


class StudyAnswerRequest(RequestModel):
    client_id: ClientId
    document: Id
    question: Annotated[str, Field(pattern=r"^study-\d{1,9}$")]
    answer: AnswerJson
    timing: TimingJson = TimingJson()


@owner_routes.get("/times")
def show_times(here: InContext) -> TimingTable:
    """The paper's timing table, over all answers of the project."""
    with here.project.database.read() as connection:
        return TimingTable(rows=times.measure(connection))


@owner_routes.get("/study")
def show_study(here: InContext) -> StudyView:
    with here.project.database.read() as connection:
        return _view(connection)


def _view(connection: Connection) -> StudyView:
    sets = study.sets(connection)
    found = study.progress_of(connection, 0, time.time())
    sessions = study.sessions(connection, time.time())
    return StudyView(
        exists=bool(sets),
        note=None if sets else NOTE,
        minutes=found.session.minutes,
        sets=sets,
        sessions=sessions,
        times=TimingTable(rows=study.measure(connection)) if sessions else None,
    )


@owner_routes.post("/study")
def draw_study(body: StudyRequest, here: InContext) -> StudyView:
    """Draw two sets of questions, as in the paper's sampling table."""
    drawn = study.draw(here.project, documents=body.documents, questions=body.questions)

    def job(connection: Connection) -> StudyView:
        study.keep(connection, drawn, minutes=body.minutes)
        return _view(connection)

    return here.project.writer.write(job)


@routes.get("/study/session")
def show_session(person: Somebody, here: InContext) -> StudySession:
    with here.project.database.read() as connection:
        found = study.progress_of(connection, person.id, time.time())
    return _session(study.with_document(here.project, found))


@routes.post("/study/session")
def begin_session(body: StudyBeginRequest, person: Somebody, here: InContext) -> StudySession:
    """Start the next session. Nothing is done while one is running, or for the same client_id."""
    return _session(study.begin(here.project, person.id, body.client_id, Protocol(body.protocol)))


@routes.post("/study/answers")
def answer_study(body: StudyAnswerRequest, person: Somebody, here: InContext) -> StudySession:
    number = int(body.question.removeprefix("study-"))
    given = body.answer.to_answer()
    return _session(study.answer(here.project, person.id, body.client_id, number, given, body.timing))


def _session(found: StudyProgress) -> StudySession:
    asked, document, question = found.asked, found.document, None
    if asked is not None and document is not None:
        score = asked.question.score
        why = Why(selector="study", score=score, entropy=score)
        question = QuestionView.of(f"study-{asked.id}", asked.document_id, document, asked.question, why)
    return StudySession(
        **asdict(found.session),
        instructions=study.INSTRUCTIONS,
        document=None if asked is None else asked.document_id,
        question=question,
    )

"""The API of the timing study."""

from __future__ import annotations

import time
from typing import Annotated, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from corefine.annotation.question import Protocol, span_to_json
from corefine.project.results import times
from corefine.project.store.log import Timing as Measured
from corefine.project.study import study
from corefine.project.study.study import Sitting
from corefine.web.api.annotator import answer_of
from corefine.web.api.context import Context, InContext, Somebody, owner, somebody
from corefine.web.api.types import AnswerJson, ClientId, QuestionView, StepRequest, Strict, Timing, Why

routes = APIRouter(prefix="/api", dependencies=[Depends(somebody)])
owner_routes = APIRouter(prefix="/api", dependencies=[Depends(owner)])


NOTE = "Questions are drawn from simulated runs over documents with gold, or else from what people were asked."


class StudyRequest(Strict):
    minutes: Annotated[float, Field(gt=0, le=600)] = 30.0
    documents: Annotated[int, Field(ge=4, le=1000)] = 20
    questions: Annotated[int, Field(ge=4, le=10_000)] = 60


class TimesRow(BaseModel):
    """Seconds that one step of a question takes, over `n` answers."""

    what: str
    n: int
    mean: float | None
    median: float | None
    sd: float | None


class Times(BaseModel):
    rows: list[TimesRow]


class StudySet(BaseModel):
    name: str
    documents: int
    questions: int
    early: int
    late: int


class StudySession(BaseModel):
    person: str
    set: str
    order: int
    answers: int
    seconds: float
    state: str


class Study(BaseModel):
    exists: bool
    note: str | None
    minutes: float
    sets: list[StudySet]
    sessions: list[StudySession]
    times: Times | None


class Session(BaseModel):
    """One's own session; a question while `state` is asking."""

    state: Literal["none", "ready", "asking", "over"]
    instructions: str
    minutes: float
    set: str
    order: int
    answered: int
    of: int
    seconds_left: float
    document: int | None
    question: QuestionView | None


class StudyAnswer(Strict):
    client_id: ClientId
    document: int
    question: Annotated[str, Field(pattern=r"^study-\d{1,9}$")]
    answer: AnswerJson
    timing: Timing = Timing()


@owner_routes.get("/times")
def show_times(here: InContext) -> Times:
    """The paper's timing table, over all answers of the project."""
    with here.project.database.read() as connection:
        return _times(times.measure(connection))


@owner_routes.get("/study")
def show_study(here: InContext) -> Study:
    with here.project.database.read() as connection:
        sets = study.sets(connection)
        found = study.sitting(connection, 0, time.time())
        sessions = study.sessions(connection, time.time())
        measured = study.measure(connection) if sessions else None
    return Study(
        exists=bool(sets),
        note=None if sets else NOTE,
        minutes=found.minutes,
        sets=[StudySet(**each) for each in sets],
        sessions=[StudySession(**each) for each in sessions],
        times=None if measured is None else _times(measured),
    )


@owner_routes.post("/study")
def draw_study(body: StudyRequest, here: InContext) -> Study:
    """Draw two sets of questions, as in the paper's sampling table."""
    study.draw(here.project, minutes=body.minutes, documents=body.documents, questions=body.questions)
    return show_study(here)


@routes.get("/study/session")
def show_session(person: Somebody, here: InContext) -> Session:
    with here.project.database.read() as connection:
        return _session(here, study.sitting(connection, person.id, time.time()))


@routes.post("/study/session")
def begin_session(_: StepRequest, person: Somebody, here: InContext) -> Session:
    """Start one's session; starting it again does nothing, so that its client_id is not needed."""
    return _session(here, study.begin(here.project, person.id, _protocol(here)))


@routes.post("/study/answers")
def answer_study(body: StudyAnswer, person: Somebody, here: InContext) -> Session:
    timing = Measured(body.timing.reading, body.timing.initial, body.timing.follow_up)
    number = int(body.question.removeprefix("study-"))
    given = answer_of(body.answer)
    return _session(here, study.answer(here.project, person.id, body.client_id, number, given, timing))


def _protocol(here: Context) -> Protocol:
    """Only the follow-up where that is the project's mode; else discrete questions, which time both steps."""
    mode = here.workspaces.settings.protocol
    return mode if mode is Protocol.FOLLOW_UP else Protocol.DISCRETE


def _times(rows: list[times.Row]) -> Times:
    return Times(
        rows=[
            TimesRow(what=row.name, n=row.answers, mean=row.mean, median=row.median, sd=row.deviation) for row in rows
        ]
    )


def _session(here: Context, found: Sitting) -> Session:
    asked = found.asked
    view = None
    if asked is not None:
        document, question = here.project.documents.get(asked.document_id), asked.question
        antecedent = question.antecedent
        view = QuestionView(
            id=f"study-{asked.id}",
            number=question.number,
            document=asked.document_id,
            protocol=question.protocol.value,
            mention=span_to_json(question.mention),
            mention_text=document.words(question.mention),
            antecedent=None if antecedent is None else span_to_json(antecedent),
            antecedent_text=None if antecedent is None else document.words(antecedent),
            probability=question.probability,
            why=Why(selector="study", score=question.score, entropy=question.score, entities=[]),
        )
    return Session(
        state=found.state,  # type: ignore[arg-type]  # the same words
        instructions=study.INSTRUCTIONS,
        minutes=found.minutes,
        set=found.first_set,
        order=found.order,
        answered=found.answered,
        of=found.of,
        seconds_left=found.seconds_left,
        document=None if asked is None else asked.document_id,
        question=view,
    )

"""The API for annotators: questions and answers, history, and review."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from corefine.annotation.log import AnswerEntry, Outcome
from corefine.annotation.question import Answer
from corefine.annotation.session import Session
from corefine.errors import ContradictionError, DamagedDocumentError, QuestionNotOpenError
from corefine.project.store import log
from corefine.project.work import edits
from corefine.project.work.actions import ActionOutcome
from corefine.project.work.workspace import Workspace
from corefine.web.api.context import InContext, Somebody, check_document, respond, somebody
from corefine.web.api.documents import EntitiesView
from corefine.web.api.problems import ApiError
from corefine.web.api.state import ModelStatus, State
from corefine.web.api.types import (
    STRICT,
    AnswerJson,
    ClientId,
    Guidelines,
    HistoryEntry,
    Id,
    LogId,
    RequestModel,
    Seconds,
    SpanJson,
    TimingJson,
)

routes = APIRouter(prefix="/api", dependencies=[Depends(somebody)])

Withdrawn = Annotated[tuple[Id, ...], Field(max_length=1000)]


# Questions and answers


class AnswerRequest(RequestModel):
    """A retry keeps the `client_id`. `withdraw` resolves a contradiction."""

    client_id: ClientId
    document: Id
    question: Annotated[str, Field(max_length=1000)]
    answer: AnswerJson
    timing: TimingJson = TimingJson()
    withdraw: Withdrawn = ()


class OutcomeView(BaseModel):
    """`settled` are other mentions that need no question any more; `pairs` counts newly known pairs of mentions."""

    number: int
    settled: list[SpanJson]
    settled_texts: list[str]
    pairs: int

    @classmethod
    def of(cls, done: ActionOutcome) -> OutcomeView:
        document = done.session.document
        outcome = done.outcome or Outcome(done.number or 0, settled=(), pairs=0)
        texts = [document.words(span) for span in outcome.settled]
        return cls(number=outcome.number, settled=list(outcome.settled), settled_texts=texts, pairs=outcome.pairs)


class AnswerResult(BaseModel):
    """`repeated`: this request had been taken before, and nothing was done again."""

    outcome: OutcomeView
    repeated: bool
    next: State


class StepRequest(RequestModel):
    """Undo, redo, or the start of a study session."""

    client_id: ClientId


class WithdrawRequest(StepRequest):
    document: Id
    number: Id


class ActionResult(BaseModel):
    """`document` is where it happened; that can be another one than is shown."""

    document: int
    did: HistoryEntry | None
    repeated: bool
    next: State

    @classmethod
    def of(cls, workspace: Workspace, done: ActionOutcome) -> ActionResult:
        session = done.session
        entry = next((each for each in session.given if each.number == done.number), None)
        return cls(
            document=done.document_id,
            did=None if entry is None else HistoryEntry.of(done.document_id, session, entry),
            repeated=done.repeated,
            next=State.after(workspace, done.document_id),
        )


@routes.get("/next")
def next_question(person: Somebody, here: InContext, document: Id | None = None) -> State:
    if document is not None:
        check_document(here, document)
    with here.workspaces.of(person.id) as workspace:
        return State.of(workspace, workspace.show(document))


@routes.post("/answers", response_model=AnswerResult)
def answer(body: AnswerRequest, person: Somebody, here: InContext) -> Response:
    """Answer the open question and get the next. An answer that is acknowledged is on disk."""
    check_document(here, body.document)
    with here.workspaces.of(person.id) as workspace:
        try:
            done = workspace.answer(
                body.client_id,
                body.document,
                body.question,
                body.answer.to_answer(),
                timing=body.timing,
                withdrawing=body.withdraw,
            )
        except QuestionNotOpenError as error:
            shown = State.of(workspace, workspace.show(body.document))
            raise ApiError(409, "not-open", str(error), next=shown) from error
        except ContradictionError as error:
            raise contradiction(workspace, body.document, error, body.answer.to_answer()) from error
        result = AnswerResult(
            outcome=OutcomeView.of(done),
            repeated=done.repeated,
            next=State.after(workspace, done.document_id),
        )
    return respond(result)


def contradiction(
    workspace: Workspace, document_id: int, error: ContradictionError, given: Answer | None = None
) -> ApiError:
    """The error for an answer, if `given`, or an edit."""
    session = workspace.open(document_id).session
    question = session.next_question()
    new = None
    if given is not None and question is not None:
        new = HistoryEntry.of(document_id, session, AnswerEntry(question, given, 0.0))
    entries = {entry.number: entry for entry in session.given}
    answers = [HistoryEntry.of(document_id, session, entries[n]) for n in error.answers if n in entries]
    if not answers:
        return ApiError(422, "answer", "this contradicts itself")
    numbers = " and ".join(str(entry.number) for entry in answers)
    noun = "answer" if len(answers) == 1 else "answers"
    message = f"This contradicts {noun} {numbers}. Withdraw what was wrong, or give another answer."
    return ApiError(409, "contradiction", message, answers=answers, new=new)


@routes.post("/withdraw")
def withdraw(body: WithdrawRequest, person: Somebody, here: InContext) -> ActionResult:
    check_document(here, body.document)
    with here.workspaces.of(person.id) as workspace:
        return ActionResult.of(workspace, workspace.withdraw(body.client_id, body.document, body.number))


@routes.post("/undo")
def undo(body: StepRequest, person: Somebody, here: InContext) -> ActionResult:
    with here.workspaces.of(person.id) as workspace:
        return ActionResult.of(workspace, workspace.undo(body.client_id))


@routes.post("/redo")
def redo(body: StepRequest, person: Somebody, here: InContext) -> ActionResult:
    with here.workspaces.of(person.id) as workspace:
        return ActionResult.of(workspace, workspace.redo(body.client_id))


@routes.get("/status")
def status(here: InContext) -> ModelStatus:
    return ModelStatus.of(here.workspaces, None)


# History and review


class HistoryPage(BaseModel):
    """Newest first. `next_before` is `before` of the next page."""

    entries: list[HistoryEntry]
    next_before: int | None


@pydantic_dataclass(frozen=True, config=STRICT)
class MergeJson(edits.Merge):
    a: SpanJson
    b: SpanJson


@pydantic_dataclass(frozen=True, config=STRICT)
class SplitJson(edits.Split):
    mentions: Annotated[tuple[SpanJson, ...], Field(min_length=1, max_length=5000)]


@pydantic_dataclass(frozen=True, config=STRICT)
class MoveJson(edits.Move):
    mention: SpanJson
    to: SpanJson


@pydantic_dataclass(frozen=True, config=STRICT)
class RemoveJson(edits.Remove):
    mention: SpanJson


@pydantic_dataclass(frozen=True, config=STRICT)
class AddJson(edits.Add):
    mention: SpanJson
    to: SpanJson | None = None


@pydantic_dataclass(frozen=True, config=STRICT)
class ConfirmJson(edits.Confirm):
    mention: SpanJson


class EditRequest(RequestModel):
    client_id: ClientId
    document: Id
    edit: Annotated[MergeJson | SplitJson | MoveJson | RemoveJson | AddJson | ConfirmJson, Field(discriminator="kind")]
    seconds: Seconds | None = None
    withdraw: Withdrawn = ()


class EditResult(BaseModel):
    number: int
    repeated: bool
    entities: EntitiesView
    next: State


@routes.get("/history")
def history(
    person: Somebody,
    here: InContext,
    document: Id | None = None,
    before: LogId | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> HistoryPage:
    """This person's answers and edits, newest first."""
    with here.workspaces.of(person.id) as workspace:
        with here.project.database.read() as connection:
            rows = log.history(connection, person.id, document_id=document, before=before, limit=limit)
        there = {row.document_id for row in rows if here.workspaces.document(row.document_id) is not None}
        sessions = {each: _session(workspace, each) for each in there}
        entries = []
        for row in rows:
            if (session := sessions.get(row.document_id)) is not None:
                given = (entry for entry in session.given if entry.number == row.number)
                entries += [HistoryEntry.of(row.document_id, session, each, row) for each in given]
    return HistoryPage(entries=entries, next_before=rows[-1].id if len(rows) == limit else None)


def _session(workspace: Workspace, document_id: int) -> Session | None:
    """The session, to show past answers; None if it cannot be opened, so that the others are still shown."""
    try:
        return workspace.open(document_id, needs_model=False).session
    except DamagedDocumentError:
        return None


@routes.post("/edits")
def edit(body: EditRequest, person: Somebody, here: InContext) -> EditResult:
    """Review: split, merge, move, remove, add or confirm."""
    check_document(here, body.document)
    with here.workspaces.of(person.id) as workspace:
        try:
            seconds = body.seconds or 0.0
            done = workspace.edit(body.client_id, body.document, body.edit, seconds=seconds, withdrawing=body.withdraw)
        except ContradictionError as error:
            raise contradiction(workspace, body.document, error) from error
        return EditResult(
            number=done.number or 0,
            repeated=done.repeated,
            entities=EntitiesView.of(done.document_id, done.session),
            next=State.after(workspace, done.document_id),
        )


@routes.get("/guidelines")
def guidelines(here: InContext) -> Guidelines:
    return Guidelines(markdown=here.project.guidelines)

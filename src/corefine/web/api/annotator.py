"""The API for annotators."""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel

from corefine import __version__
from corefine.annotation.question import Answer, span_from_json
from corefine.document import Span
from corefine.errors import AnswerError, ContradictionError, NotOpenError, OutsideError
from corefine.project.store import log, people
from corefine.project.store.log import Timing
from corefine.project.study import study
from corefine.project.work import edits
from corefine.project.work.assignments import Assignments
from corefine.project.work.workspace import Recorded, Workspace
from corefine.web.api import tutorial, views
from corefine.web.api.context import COOKIE, InContext, Somebody, asked_about, give_cookie, somebody
from corefine.web.api.problems import ApiError
from corefine.web.api.text import text_of
from corefine.web.api.types import (
    ActionResult,
    AnswerJson,
    AnswerRequest,
    AnswerResult,
    DocumentRow,
    DocumentText,
    EditRequest,
    EditResult,
    EntitiesView,
    Guidelines,
    History,
    Login,
    Me,
    ModelStatus,
    Person,
    State,
    StepRequest,
    Strict,
    Tutorial,
    TutorialAnswer,
    TutorialVerdict,
    WithdrawRequest,
)

public = APIRouter(prefix="/api")
"""For anybody who reaches the server."""

routes = APIRouter(prefix="/api", dependencies=[Depends(somebody)])
"""For whoever takes part in the project."""


class DoneRequest(Strict):
    done: bool


class Gone(BaseModel):
    gone: Literal[True] = True


# Who and where


@public.post("/login")
def login(body: Login, request: Request, response: Response, here: InContext) -> Me:
    """Trade an invitation's token for a cookie."""
    found = here.project.writer.write(lambda connection: people.enter(connection, body.token))
    if found is None:
        raise ApiError(401, "unauthorised", "this invitation is not valid any more: ask the owner for a new one")
    person, secret = found
    give_cookie(response, request, secret)
    return _me(here, person)


@public.post("/logout")
def logout(request: Request, response: Response, here: InContext) -> Gone:
    secret = request.cookies.get(COOKIE)
    if secret is not None:
        here.project.writer.write(lambda connection: people.log_out(connection, secret))
        here.forget_logins()
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return Gone()


@routes.get("/me")
def me(person: Somebody, here: InContext) -> Me:
    return _me(here, person)


def _me(here: InContext, person: people.Person) -> Me:
    with here.project.database.read() as connection:
        sitting = study.sitting(connection, person.id, time.time())
    return Me(
        person=Person(id=person.id, name=person.name, role=person.role),  # type: ignore[arg-type]  # the same words
        auth="open" if here.open else "tokens",
        project=here.project.name,
        version=__version__,
        mode=here.workspaces.settings.protocol.value,
        notices=here.notices if person.is_owner else [],
        study=sitting.state in ("ready", "asking"),
    )


# Documents


@routes.get("/documents")
def documents(person: Somebody, here: InContext) -> list[DocumentRow]:
    """All documents in project order, with one's own state of each."""
    workspaces = here.workspaces
    with here.project.database.read() as connection:
        assignments = Assignments(connection, workspaces.settings, time.time())
        counts = log.answers_by_document(connection, person.id)
        several = assignments.overlap
    rows = []
    for document in assignments.documents:
        assigned = assignments.find(document.id, person.id)
        live = workspaces.kept(person.id, document.id)
        state: Literal["new", "open", "done", "taken"] = "new"
        if assigned is not None and assigned.done:
            state = "done"
        elif not assignments.has_room(document.id, person.id):
            state = "taken"
        elif counts.get(document.id):
            state = "open"
        settled = None
        if live is not None:
            settled = 1.0 - live.session.open_mentions / max(1, len(live.session.revision.prediction))
        rows.append(
            DocumentRow(
                id=document.id,
                name=document.key,
                tokens=document.tokens,
                state=state,
                ready=workspaces.newest(document.id) is not None,
                answers=counts.get(document.id, 0),
                budget=workspaces.settings.questions(document.tokens),
                settled=settled,
                overlap=document.id in several,
                has_gold=document.has_gold,
            )
        )
    return rows


@routes.get("/documents/{document_id}")
def document(document_id: int, here: InContext) -> DocumentText:
    asked_about(here, document_id)
    return text_of(document_id, here.project.documents.get(document_id))


@routes.get("/documents/{document_id}/entities", response_model=EntitiesView)
def entities(document_id: int, person: Somebody, here: InContext) -> Response:
    """The entities as model and one's own answers make them."""
    asked_about(here, document_id)
    with here.workspaces.of(person.id) as workspace:
        workspace.look_ahead(document_id)  # the page asks for these while the person reads the question
        return _unchecked(views.entities(document_id, workspace.view(document_id)))


@routes.post("/documents/{document_id}/done")
def done(document_id: int, body: DoneRequest, person: Somebody, here: InContext) -> State:
    """Leave a document, or take it up again."""
    asked_about(here, document_id)
    with here.workspaces.of(person.id) as workspace:
        workspace.finish(document_id, done=body.done)
        return views.state(workspace, workspace.show(document_id))


# Questions and answers


@routes.get("/next")
def next_question(person: Somebody, here: InContext, document: int | None = None) -> State:
    if document is not None:
        asked_about(here, document)
    with here.workspaces.of(person.id) as workspace:
        return views.state(workspace, workspace.show(document))


@routes.post("/answers", response_model=AnswerResult)
def answer(body: AnswerRequest, person: Somebody, here: InContext) -> Response:
    """Answer the open question and get the next. What is acknowledged is on disk."""
    asked_about(here, body.document)
    with here.workspaces.of(person.id) as workspace:
        try:
            did = workspace.answer(
                body.client_id,
                body.document,
                body.question,
                answer_of(body.answer),
                timing=Timing(body.timing.reading, body.timing.initial, body.timing.follow_up),
                withdrawing=body.withdraw,
            )
        except NotOpenError as error:
            shown = views.state(workspace, workspace.show(body.document))
            raise ApiError(409, "not-open", str(error), next=shown) from error
        except ContradictionError as error:
            raise _contradiction(workspace, body.document, error) from error
        document = here.project.documents.get(did.document_id)
        result = AnswerResult(
            outcome=views.outcome(document, did),
            repeated=did.repeated,
            next=views.state(workspace, workspace.show(did.document_id)),
        )
    return _unchecked(result)


@routes.post("/withdraw")
def withdraw(body: WithdrawRequest, person: Somebody, here: InContext) -> ActionResult:
    asked_about(here, body.document)
    with here.workspaces.of(person.id) as workspace:
        return _action(workspace, workspace.withdraw(body.client_id, body.document, body.number))


@routes.post("/undo")
def undo(body: StepRequest, person: Somebody, here: InContext) -> ActionResult:
    with here.workspaces.of(person.id) as workspace:
        return _action(workspace, workspace.undo(body.client_id))


@routes.post("/redo")
def redo(body: StepRequest, person: Somebody, here: InContext) -> ActionResult:
    with here.workspaces.of(person.id) as workspace:
        return _action(workspace, workspace.redo(body.client_id))


@routes.get("/history")
def history(
    person: Somebody,
    here: InContext,
    document: int | None = None,
    before: int | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> History:
    """One's own answers and edits, newest first."""
    with here.workspaces.of(person.id) as workspace:
        with here.project.database.read() as connection:
            rows = log.history(connection, person.id, document, before, limit)
        sessions = {each: workspace.past(each) for each in {row.document_id for row in rows}}
        entries = [views.logged_entry(row.document_id, sessions[row.document_id], row) for row in rows]
    return History(entries=entries, next_before=rows[-1].id if len(rows) == limit else None)


@routes.post("/edits")
def edit(body: EditRequest, person: Somebody, here: InContext) -> EditResult:
    """Review: split, merge, move, remove or add."""
    asked_about(here, body.document)
    with here.workspaces.of(person.id) as workspace:
        try:
            did = workspace.edit(
                body.client_id,
                body.document,
                _edit_of(body),
                seconds=body.seconds or 0.0,
                withdrawing=body.withdraw,
            )
        except ContradictionError as error:
            raise _contradiction(workspace, body.document, error) from error
        return EditResult(
            number=did.number or 0,
            repeated=did.repeated,
            entities=views.entities(did.document_id, workspace.own(did.document_id).session),
            next=views.state(workspace, workspace.show(did.document_id)),
        )


@routes.get("/status")
def status(here: InContext) -> ModelStatus:
    return views.model_status(here.workspaces, None)


# To read


@routes.get("/guidelines")
def guidelines(here: InContext) -> Guidelines:
    return Guidelines(markdown=here.project.guidelines)


@routes.get("/tutorial")
def show_tutorial() -> Tutorial:
    return tutorial.tutorial()


@routes.post("/tutorial/check")
def check_tutorial(body: TutorialAnswer) -> TutorialVerdict:
    if body.step >= len(tutorial.LESSONS):
        raise AnswerError(f"the tutorial has {len(tutorial.LESSONS)} steps")
    return tutorial.check(body.step, answer_of(body.answer))


# Within


def _unchecked(body: BaseModel) -> Response:
    """For what somebody waits for, or what is large: FastAPI would check it a second time."""
    return Response(body.model_dump_json(), media_type="application/json")


def answer_of(body: AnswerJson) -> Answer:
    span = None if body.span is None else span_of(body.span)
    return Answer.from_json({**body.model_dump(exclude={"span"}), "span": None if span is None else _json(span)})


def _json(span: Span) -> list[Any]:
    return [list(part) for part in span.parts]


def span_of(value: list[Any]) -> Span:
    """A span that a client sent; raises for what is none."""
    parts = value if value and isinstance(value[0], list) else [value]
    for part in parts:
        if len(part) != 2 or not 0 <= part[0] <= part[1]:
            raise OutsideError(f"{value} is not a span: it needs a first and a last token")
    return span_from_json(value)


def _edit_of(body: EditRequest) -> edits.Edit:
    given = body.edit
    match given.kind:
        case "merge":
            return edits.Merge(span_of(given.a), span_of(given.b))
        case "split":
            return edits.Split(tuple(map(span_of, given.mentions)))
        case "move":
            return edits.Move(span_of(given.mention), span_of(given.to))
        case "remove":
            return edits.Remove(span_of(given.mention))
        case "add":
            return edits.Add(span_of(given.mention), None if given.to is None else span_of(given.to))


def _action(workspace: Workspace, did: Recorded) -> ActionResult:
    opened = workspace.own(did.document_id)
    entry = next((each for each in opened.session.given if each.number == did.number), None)
    return ActionResult(
        document=did.document_id,
        did=None if entry is None else views.history_entry(did.document_id, opened.session, entry),
        repeated=did.repeated,
        next=views.state(workspace, workspace.show(did.document_id)),
    )


def _contradiction(workspace: Workspace, document_id: int, error: ContradictionError) -> ApiError:
    session = workspace.own(document_id).session
    entries = {entry.number: entry for entry in session.given}
    answers = [views.history_entry(document_id, session, entries[n]) for n in error.answers if n in entries]
    if not answers:
        return ApiError(422, "answer", "this contradicts itself")
    numbers = " and ".join(str(entry.number) for entry in answers)
    noun = "answer" if len(answers) == 1 else "answers"
    message = f"This contradicts {noun} {numbers}. Withdraw what was wrong, or answer otherwise."
    return ApiError(409, "contradiction", message, answers=answers)

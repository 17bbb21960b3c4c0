"""The API for a person's own account: login, profile, and the introduction."""

from __future__ import annotations

import time
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from corefine import __version__
from corefine.annotation.question import Protocol
from corefine.project.store import people
from corefine.project.store.people import Person
from corefine.project.study import study
from corefine.web.api.context import COOKIE, InContext, Somebody, give_cookie, somebody
from corefine.web.api.problems import ApiError
from corefine.web.api.types import PersonView, RequestModel
from corefine.web.peers import address_of

public = APIRouter(prefix="/api")
"""For anybody who reaches the server."""

routes = APIRouter(prefix="/api", dependencies=[Depends(somebody)])
"""For people of the project."""


class LoginRequest(RequestModel):
    token: Annotated[str, Field(min_length=1, max_length=200)]


class Me(BaseModel):
    """Who is logged in.

    auth     "open" where everybody who reaches the server is the owner (loopback, no invitations yet), or "tokens"
    study    whether a timing study waits for this person
    new      whether the person has not been introduced to the work yet: name, guidelines, tutorial
    """

    person: PersonView
    auth: Literal["open", "tokens"]
    project: str
    version: str
    protocol: Protocol
    notices: list[str]
    study: bool
    new: bool


class IntroducedRequest(RequestModel):
    """A new name for the person who asks, or that they have seen the guidelines and the tutorial."""

    name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    introduced: bool = False


class LoggedOut(BaseModel):
    gone: Literal[True] = True


@public.post("/login")
def login(body: LoginRequest, request: Request, response: Response, here: InContext) -> Me:
    """Exchange an invitation's token for a cookie."""
    here.failed_logins.check(address_of(request.scope))
    with here.project.database.read() as connection:
        person = people.guest(connection, body.token)
    shown = None if person is None else me(person, here)  # read before a token that works once is used up
    found = None
    if person is not None:
        found = here.project.writer.write(lambda connection: people.enter(connection, body.token))
    if shown is None or found is None:
        here.failed_logins.note(address_of(request.scope))
        raise ApiError(401, "unauthorised", "this invitation is no longer valid: ask the owner for a new one")
    give_cookie(response, request, found[1])
    return shown


@public.post("/logout")
def logout(request: Request, response: Response, here: InContext) -> LoggedOut:
    secret = request.cookies.get(COOKIE)
    if secret is not None and here.person(secret, straight=False) is not None:
        here.project.writer.write(lambda connection: people.log_out(connection, secret))
        here.forget_logins()
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return LoggedOut()


@routes.get("/me")
def me(person: Somebody, here: InContext) -> Me:
    with here.project.database.read() as connection:
        study_progress = study.progress_of(connection, person.id, time.time())
        introduced = people.is_introduced(connection, person)
    return Me(
        person=PersonView.model_validate(person),
        auth="open" if here.is_open() else "tokens",
        project=here.project.name,
        version=__version__,
        protocol=here.workspaces.settings.protocol,
        notices=here.notices if person.is_owner else [],
        study=study_progress.session.state in ("ready", "asking"),
        new=not introduced,
    )


@routes.post("/me")
def introduce(body: IntroducedRequest, person: Somebody, here: InContext) -> Me:
    """Change your own name, or record that you have seen the guidelines and the tutorial."""

    def job(connection: Connection) -> Person:
        named = person if body.name is None else people.rename(connection, person, body.name)
        if body.introduced:
            people.introduce(connection, person)
        return named

    named = here.project.writer.write(job)
    here.forget_logins()
    return me(named, here)

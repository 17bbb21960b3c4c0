"""What the routes share: the project, who is asking, and whether they may."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from corefine.project.project import Project
from corefine.project.store import people
from corefine.project.store.people import LOGIN_DAYS, Person
from corefine.project.work.workspaces import Workspaces
from corefine.web.api.problems import ApiError, not_found

COOKIE = "corefine"
REMEMBER_SECONDS = 10.0
"""How long a login is believed without asking the database.

One that is revoked through this server ends at once, one revoked on the command line so much later at most.
"""


@dataclass(slots=True)
class Context:
    """One server's state. `open` means that whoever reaches it is its owner: on loopback, before any invitation."""

    project: Project
    workspaces: Workspaces
    open: bool
    notices: list[str] = field(default_factory=list)
    _owner: Person | None = None
    _logins: dict[str, tuple[float, Person | None]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def remembered(self, secret: str | None) -> Person | None:
        """Who shows this cookie, if that can be told without asking the database."""
        if secret is None:
            return self._owner if self.open else None
        seen = self._logins.get(secret)
        return seen[1] if seen is not None and time.monotonic() - seen[0] < REMEMBER_SECONDS else None

    def person(self, secret: str | None) -> Person | None:
        """Who shows this cookie."""
        known = None if secret is None else self._by_secret(secret)
        if known is None and self.open:
            if self._owner is None:
                self._owner = self.project.owner()
            return self._owner
        return known

    def forget_logins(self) -> None:
        with self._lock:
            self._logins.clear()

    def _by_secret(self, secret: str) -> Person | None:
        now = time.monotonic()
        with self._lock:
            seen = self._logins.get(secret)
        if seen is not None and now - seen[0] < REMEMBER_SECONDS:
            return seen[1]
        with self.project.database.read() as connection:
            person = people.by_login(connection, secret)
        with self._lock:
            if len(self._logins) > 10_000:
                self._logins.clear()
            self._logins[secret] = (now, person)
        return person


async def context(request: Request) -> Context:
    found: Context = request.app.state.context
    return found


InContext = Annotated[Context, Depends(context)]


async def somebody(request: Request, here: InContext) -> Person:
    secret = request.cookies.get(COOKIE)
    person = here.remembered(secret) or await run_in_threadpool(here.person, secret)
    if person is None:
        raise ApiError(401, "unauthorised", "log in with the link of your invitation; the project's owner can make one")
    return person


Somebody = Annotated[Person, Depends(somebody)]


async def owner(person: Somebody) -> Person:
    if not person.is_owner:
        raise ApiError(403, "forbidden", "only the project's owner can do this")
    return person


Owner = Annotated[Person, Depends(owner)]


def check_document(here: Context, document_id: int) -> None:
    """Raise unless there is such a document and it is open to annotation."""
    if all(info.id != document_id for info in here.workspaces.documents()):
        raise not_found(f"document {document_id}")


def respond(body: BaseModel) -> Response:
    """A response that FastAPI does not validate a second time: for what is large or must be fast."""
    return Response(body.model_dump_json(), media_type="application/json")


def give_cookie(response: Response, request: Request, secret: str) -> None:
    response.set_cookie(
        COOKIE,
        secret,
        max_age=LOGIN_DAYS * 86_400,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        path="/",
    )

"""What the routes share: the project, who is logged in, and what they may do."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated

from fastapi import Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse
from pydantic import BaseModel
from starlette.background import BackgroundTask

from corefine.project.project import Project
from corefine.project.store import people
from corefine.project.store.people import LOGIN_DAYS, Person
from corefine.project.uploads import Importer
from corefine.project.work.workspaces import Workspaces
from corefine.web.api.problems import ApiError, not_found
from corefine.web.fair_queue import FairQueue
from corefine.web.logins import FailedLogins
from corefine.web.peers import is_straight

COOKIE = "corefine"
REMEMBER_SECONDS = 2.0
"""How long a login is trusted without asking the database.

Revoking through this server works at once; revoking on the command line works after this time at the latest.
"""
MOST_LOGINS = 1_000


@dataclass(slots=True)
class Context:
    """The state of a server.

    open             whether every program on this machine counts as the owner. The first invitation ends this for good,
                     even if it was made on the command line
    requests         the queue in which requests wait for their turn
    login_changes    how often `forget_logins` was called. What was known about a person before may be wrong
    """

    project: Project
    workspaces: Workspaces
    open: bool
    notices: list[str] = field(default_factory=list)
    failed_logins: FailedLogins = field(default_factory=FailedLogins)
    requests: FairQueue = field(default_factory=FairQueue)
    login_changes: int = 0
    importer: Importer = field(init=False)
    _owner: Person | None = None
    _logins: dict[str, tuple[float, Person]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.importer = Importer(self.project, lambda: self.workspaces.documents_changed())

    def remembered(self, secret: str | None) -> Person | None:
        """Whose cookie this is, if that is known without asking the database."""
        if secret is None:
            return None
        at, person = self._logins.get(secret, (-REMEMBER_SECONDS, None))
        return person if time.monotonic() - at < REMEMBER_SECONDS else None

    def known_before(self, secret: str | None) -> int | None:
        """The person whose cookie this was, when the database was asked for the last time."""
        found = None if secret is None else self._logins.get(secret)
        return None if found is None else found[1].id

    def person(self, secret: str | None, *, straight: bool) -> Person | None:
        """Whose request this is, from the database. `straight`: it comes from this machine, through no proxy."""
        if secret is not None:
            with self.project.database.read() as connection:
                person = people.by_login(connection, secret)
            if person is not None:
                if len(self._logins) >= MOST_LOGINS:
                    self._logins.clear()
                self._logins[secret] = (time.monotonic(), person)
                return person
        return self._the_owner() if straight and self.is_open() else None

    def is_open(self) -> bool:
        """Whether nobody needs a login. The database is asked, since `corefine invite` may have ended it just now."""
        if self.open:
            with self.project.database.read() as connection:
                self.open = not people.anybody_invited(connection)
        return self.open

    def _the_owner(self) -> Person:
        self._owner = self._owner or self.project.owner()
        return self._owner

    def forget_logins(self) -> None:
        """Ask the database again who everybody is."""
        self.login_changes += 1
        self._logins.clear()
        self._owner = None


async def context(request: Request) -> Context:
    found: Context = request.app.state.context
    return found


InContext = Annotated[Context, Depends(context)]


async def somebody(request: Request, here: InContext) -> Person:
    if not hasattr(request.state, "person"):  # `Turns` has usually found it out
        secret, straight = request.cookies.get(COOKIE), is_straight(request.scope)
        request.state.person = await run_in_threadpool(here.person, secret, straight=straight)
    person: Person | None = request.state.person
    if person is not None:
        return person
    if here.open:  # the request did not come directly from this machine
        message = "without invitations only programs on this machine get in, and no proxy: run `corefine invite` first"
        raise ApiError(401, "unauthorised", message)
    raise ApiError(401, "unauthorised", "log in with the link of your invitation; the project's owner can make one")


Somebody = Annotated[Person, Depends(somebody)]


async def owner(person: Somebody) -> Person:
    if not person.is_owner:
        raise ApiError(403, "forbidden", "only the project's owner can do this")
    return person


Owner = Annotated[Person, Depends(owner)]


def check_document(here: Context, document_id: int) -> None:
    """Raise unless there is such a document and it is open to annotation."""
    if here.workspaces.document(document_id) is None:
        raise not_found(f"document {document_id}")


def respond(body: BaseModel) -> Response:
    """A response that FastAPI does not validate a second time: for what is large or must be fast."""
    return Response(body.model_dump_json(), media_type="application/json")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for a file to send with `sent_once`; it is removed if the block raises."""
    folder = Path(mkdtemp(prefix="corefine-"))
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def sent_once(path: Path) -> FileResponse:
    """The file as a download. Its folder is removed when it is sent."""
    remove = BackgroundTask(shutil.rmtree, path.parent, ignore_errors=True)
    return FileResponse(path, filename=path.name, background=remove)


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

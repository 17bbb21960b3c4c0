"""Every request of the API finds out who asks, and waits for its turn."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager, suppress

from fastapi.concurrency import run_in_threadpool
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from corefine.project.store.people import Person
from corefine.web.api.context import COOKIE, Context
from corefine.web.api.problems import ApiError
from corefine.web.fair_queue import FairQueue
from corefine.web.peers import address_of, is_straight, network_of
from corefine.web.security import is_upload, limited

BODY_SECONDS = 20.0
"""How long a request's whole body may take to arrive; for an upload, the next piece of it."""
STRANGER_BYTES = 10_000
"""The largest body of a request without a login. Logging in needs less, and many large bodies would fill the memory."""


class Turns:
    """ASGI middleware: finds out who asks, reads the body, and waits for a turn."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.lookups = FairQueue(places=4)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/api/"):
            await self.app(scope, receive, send)
            return
        context: Context = scope["app"].state.context
        changes = context.login_changes
        person = await self._identify(scope)
        who: Hashable = network_of(address_of(scope)) if person is None else person.id
        if is_upload(scope["method"], scope["path"]):  # reading it piece by piece takes long, so it takes no turn
            await self.app(scope, _patient(receive), send)
            return
        receive = await _with_body(receive if person is not None else limited(receive, STRANGER_BYTES))
        async with context.requests.turn(who):
            if context.login_changes != changes:  # somebody may have been revoked while this waited
                await self._identify(scope)
            await self.app(scope, receive, send)

    async def _identify(self, scope: Scope) -> Person | None:
        """Find out who asks, and note it for the route."""
        state = scope.setdefault("state", {})
        state.pop("person", None)
        with suppress(SQLAlchemyError):  # the route asks again, and reports it
            state["person"] = await self._person(scope)
        person: Person | None = state.get("person")
        return person

    async def _person(self, scope: Scope) -> Person | None:
        """Who asks. Unknown cookies are looked up in a queue of their own, so that nobody else waits for them."""
        context: Context = scope["app"].state.context
        secret = HTTPConnection(scope).cookies.get(COOKIE)
        if (person := context.remembered(secret)) is not None:
            return person
        straight = is_straight(scope)
        if secret is None and not (context.open and straight):
            return None
        who = context.known_before(secret) or network_of(address_of(scope))
        async with self.lookups.turn(who):
            return await run_in_threadpool(context.person, secret, straight=straight)


async def _with_body(receive: Receive) -> Receive:
    """Wait for the whole body. Returns a `receive` that gives it without waiting."""
    messages: deque[Message] = deque()
    more = True
    async with _in_time():
        while more:
            messages.append(await receive())
            more = messages[-1]["type"] == "http.request" and messages[-1].get("more_body", False)

    async def again() -> Message:
        return messages.popleft() if messages else await receive()

    return again


def _patient(receive: Receive) -> Receive:
    """The same `receive`, but it raises if the next piece takes too long."""

    async def patient() -> Message:
        async with _in_time():
            return await receive()

    return patient


@asynccontextmanager
async def _in_time() -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(BODY_SECONDS):
            yield
    except TimeoutError as error:
        raise ApiError(408, "too-slow", "the request did not arrive in time") from error

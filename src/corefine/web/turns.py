"""Whose request is handled next. Requests wait in a queue of their person, and the persons take turns.

So one person's many requests hold up that person, and nobody else. What belongs to no person waits in the queue of its
address.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager, suppress

from fastapi.concurrency import run_in_threadpool
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from corefine.project.store.people import Person
from corefine.web.api.context import COOKIE, Context
from corefine.web.api.problems import ApiError
from corefine.web.peers import address_of, is_straight, network_of
from corefine.web.security import is_upload

PLACES = 16
"""Requests handled at the same time."""
OWN = 2
"""Of one person, at the same time. The rest wait."""
FEW, CROWD_SECONDS = 4, 0.25
"""Who has more than a few requests waiting gets a turn when nobody else is being served, or after this time."""
MOST_WAITING = 200
"""Requests that may wait in one queue."""
BODY_SECONDS = 20.0
"""Until a request's body is there; for an upload, between two pieces of it."""


class FairQueue:
    """Gives turns. For one event loop, so it needs no locks."""

    def __init__(self, *, places: int = PLACES, own: int = OWN, most_waiting: int = MOST_WAITING) -> None:
        self._places, self._own, self._most = places, own, most_waiting
        self._running: Counter[Hashable] = Counter()
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()  # who is next comes first
        self._began: dict[Hashable, float] = {}  # the last turn of those who wait

    @asynccontextmanager
    async def turn(self, who: Hashable) -> AsyncIterator[None]:
        """Wait until it is `who`'s turn; the turn ends with the block. Raises if too many wait there already."""
        line = self._waiting.setdefault(who, deque())
        if len(line) >= self._most:
            raise ApiError(429, "too-many", "too many requests are waiting: wait for their answers first")
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line.append(mine)
        self._call()
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():  # the turn had come
                self._end(who)
            raise
        try:
            yield
        finally:
            self._end(who)

    def _end(self, who: Hashable) -> None:
        self._running[who] -= 1
        if not self._running[who]:
            del self._running[who]
        self._call()

    def _call(self) -> None:
        """Let in whoever can come in."""
        while self._running.total() < self._places:
            who = next(filter(self._may_come, self._waiting), None)
            if who is None:
                return
            line = self._waiting[who]
            mine = line.popleft()
            self._began[who] = time.monotonic()
            if line:
                self._waiting.move_to_end(who)
            else:
                del self._waiting[who], self._began[who]
            if not mine.cancelled():
                self._running[who] += 1
                mine.set_result(None)

    def _may_come(self, who: Hashable) -> bool:
        running = self._running.get(who, 0)
        if len(self._waiting[who]) <= FEW:
            return running < self._own
        alone = self._running.total() == running
        return running == 0 and (alone or time.monotonic() - self._began.get(who, 0.0) > CROWD_SECONDS)


class Turns:
    """ASGI middleware: finds out who asks, reads the body, and waits for a turn."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.requests, self.lookups = FairQueue(), FairQueue(places=4)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/api/"):
            await self.app(scope, receive, send)
            return
        who: Hashable = network_of(address_of(scope))
        with suppress(SQLAlchemyError):  # the route asks again, and tells
            person = scope.setdefault("state", {})["person"] = await self._person(scope)
            who = who if person is None else person.id
        if is_upload(scope["method"], scope["path"]):  # it is read piece by piece, which takes its time: no turn
            await self.app(scope, _patient(receive), send)
            return
        receive = await _with_body(receive)
        async with self.requests.turn(who):
            await self.app(scope, receive, send)

    async def _person(self, scope: Scope) -> Person | None:
        """Who asks. Strange cookies wait for one another, and nobody else for them."""
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
    """The same, after the whole body has arrived."""
    messages: deque[Message] = deque()
    more = True
    while more:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                message = await receive()
        except TimeoutError as error:
            raise ApiError(408, "too-slow", "the request did not arrive in time") from error
        messages.append(message)
        more = message["type"] == "http.request" and message.get("more_body", False)

    async def again() -> Message:
        return messages.popleft() if messages else await receive()

    return again


def _patient(receive: Receive) -> Receive:
    """The same, but it waits only so long for the next piece."""

    async def patient() -> Message:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await receive()
        except TimeoutError as error:
            raise ApiError(408, "too-slow", "the request did not arrive in time") from error

    return patient

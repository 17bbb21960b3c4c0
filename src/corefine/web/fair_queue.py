"""Decides whose request is handled next. Each person has a queue of requests, and the queues take turns.

So many requests of one person delay that person and nobody else. Requests of unknown people have a queue for each
address.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from corefine.web.api.problems import ApiError

PLACES = 16
"""Requests handled at the same time."""
OWN = 2
"""Requests of one person handled at the same time. The others wait."""
FEW, CROWD_SECONDS = 4, 0.25
"""A person with more than a few waiting requests gets a turn when nobody else is being served, or after this time."""
MOST_WAITING = 200
"""Requests that may wait in one queue."""


class FairQueue:
    """Gives turns. For one event loop, so it needs no locks."""

    def __init__(self, *, places: int = PLACES, own: int = OWN, most_waiting: int = MOST_WAITING) -> None:
        self._places, self._own, self._most = places, own, most_waiting
        self._running: Counter[Hashable] = Counter()
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()  # in the order of their turns
        self._began: dict[Hashable, float] = {}  # when those who wait had their last turn
        self._sole = asyncio.Lock()  # held while somebody is alone, or waits to be
        self._empty: asyncio.Future[None] | None = None  # resolved when all turns have ended, while the lock is held

    @asynccontextmanager
    async def turn(self, who: Hashable) -> AsyncIterator[None]:
        """Wait until it is `who`'s turn; the turn ends with the block. Raises if that queue is too long."""
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

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Wait until all turns have ended. Nobody gets another one before the block ends."""
        async with self._sole:
            self._empty = asyncio.get_running_loop().create_future()
            try:
                if self._running:
                    await self._empty
                yield
            finally:
                self._empty = None
                self._call()

    def _end(self, who: Hashable) -> None:
        self._running[who] -= 1
        if not self._running[who]:
            del self._running[who]
        if self._empty is not None and not self._running and not self._empty.done():
            self._empty.set_result(None)
        self._call()

    def _call(self) -> None:
        """Give turns to all who can have one now."""
        while self._empty is None and self._running.total() < self._places:
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

"""One thread does all the writing of a process. Writes that wait at the same time share one commit.

A commit can fail and still take effect, if the connection breaks before the database confirms it. Each batch of writes
therefore leaves its number in the table `writers`. After such a failure the writer checks whether the number is there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar
from uuid import uuid4

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from corefine.errors import ServerReplacedError
from corefine.project.store import schema
from corefine.project.store.database import Database
from corefine.project.store.server_lock import ServerLock

T = TypeVar("T")

_Write = tuple[Callable[[Connection], Any], Future[Any]]

MOST_AT_ONCE = 200
"""Most writes in one transaction. It limits how long one of them waits for the others."""

PATIENCE_SECONDS = 5.0
"""How long a write waits for an unreachable database, for example while PostgreSQL restarts."""
RETRY_SECONDS = 0.1
GUARD_SECONDS = 5.0
"""How often to check the lock of the server."""
STALE_SECONDS = 86_400.0
"""After this time, the mark of another writer is no longer needed."""

SERVER = "server"
"""The mark of a project's only server. A server takes it when it starts; one that has lost it stops writing."""

WRITERS = schema.writers.c


class Writer:
    """Runs functions of a connection, in order.

    A function may be run again after another one failed or the connection was lost, so it must change nothing but the
    database.
    """

    def __init__(self, database: Database) -> None:
        self.replaced = False  # whether another server has taken over
        self._database = database
        self._holder = self._id = uuid4().hex
        self._batch = 0
        self._lock: ServerLock | None = None
        self._guarded_at = time.monotonic()
        self._queue: SimpleQueue[_Write | None] = SimpleQueue()
        self._closed = False
        self._closing = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="corefine-writer", daemon=True)
        self._thread.start()

    def write(self, function: Callable[[Connection], T]) -> T:
        """Run a function. If this returns, what it wrote is on disk; if it raises, nothing is.

        There is one exception: if the connection breaks during the commit and the database does not come back in
        time, this raises although the write may be on disk.
        """
        if threading.current_thread() is self._thread:
            raise RuntimeError("a write within a write would wait for itself")
        done: Future[T] = Future()
        with self._closing:
            if self._closed:
                raise RuntimeError("the project is closed")
            self._queue.put((function, done))
        return done.result()

    def serve(self, lock: ServerLock) -> None:
        """Become the project's only server. A previous server can no longer write."""

        def take(connection: Connection) -> None:
            connection.execute(delete(schema.writers).where(WRITERS.id == SERVER))
            values = {"id": SERVER, "holder": self._holder, "batch": 0, "at": time.time()}
            connection.execute(insert(schema.writers).values(values))

        self.write(take)
        self._id, self._lock = SERVER, lock

    def check(self) -> None:
        """Raise if another server has taken over: what this one has in memory may be out of date."""
        if self.replaced:
            raise ServerReplacedError(
                f"another corefine server has opened the database {self._database.name}: this one has stopped. "
                "Use the other one, or stop both and start one"
            )

    def close(self) -> None:
        """Finish all waiting writes, then stop."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        if self._lock is not None:
            self._lock.close()

    def _run(self) -> None:
        while True:
            try:
                first = self._queue.get(timeout=GUARD_SECONDS)
            except Empty:
                self._guard()
                continue
            if first is None:
                return
            batch = [first]
            while len(batch) < MOST_AT_ONCE and not self._queue.empty():
                item = self._queue.get()
                if item is None:
                    self._commit(batch)
                    return
                batch.append(item)
            if time.monotonic() - self._guarded_at >= GUARD_SECONDS:
                self._guard()
            self._commit(batch)

    def _commit(self, batch: list[_Write]) -> None:
        """Commit all writes in one transaction. If that fails, commit each in its own, so that errors stay separate."""
        try:
            results = self._try(batch)
        except BaseException as error:
            if len(batch) == 1 or self._database.is_lost(error):
                for _, done in batch:
                    done.set_exception(error)
            else:
                for each in batch:
                    self._commit([each])
            return
        for (_, done), result in zip(batch, results, strict=True):
            done.set_result(result)

    def _try(self, batch: list[_Write]) -> list[Any]:
        """Write a batch, on a new connection if the first one is lost."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            self._batch += 1
            results: list[Any] | None = None
            try:
                with self._database.write() as connection:
                    self._mark(connection)
                    results = [function(connection) for function, _ in batch]
            except SQLAlchemyError as error:
                if results is None or not self._has_landed(end):
                    if not self._database.is_lost(error) or time.monotonic() >= end:
                        raise
                    time.sleep(RETRY_SECONDS)
                    continue
            return results

    def _mark(self, connection: Connection) -> None:
        """Leave the number of this batch; raise if another server has taken over."""
        values = {"batch": self._batch, "at": time.time()}
        own = (WRITERS.id == self._id, WRITERS.holder == self._holder)
        if connection.execute(update(schema.writers).where(*own).values(values)).rowcount:
            return
        if self._id == SERVER:
            self.replaced = True
            self.check()
        connection.execute(delete(schema.writers).where(WRITERS.id != SERVER, WRITERS.at < time.time() - STALE_SECONDS))
        connection.execute(insert(schema.writers).values(id=self._id, holder=self._holder, **values))

    def _has_landed(self, end: float) -> bool:
        """Whether the last batch was committed although its commit failed."""
        while True:
            try:
                return self._marked() == (self._holder, self._batch)
            except SQLAlchemyError as error:
                if not self._database.is_lost(error) or time.monotonic() >= end:
                    return False
            time.sleep(RETRY_SECONDS)

    def _marked(self) -> tuple[str, int] | None:
        with self._database.read() as connection:
            row = connection.execute(select(WRITERS.holder, WRITERS.batch).where(WRITERS.id == self._id)).first()
        return None if row is None else (row.holder, row.batch)

    def _guard(self) -> None:
        """Take the server's lock again if it was lost, and note whether another server has it."""
        self._guarded_at = time.monotonic()
        if self._lock is not None and not self._lock.keep():
            with suppress(SQLAlchemyError):
                marked = self._marked()
                self.replaced = marked is None or marked[0] != self._holder

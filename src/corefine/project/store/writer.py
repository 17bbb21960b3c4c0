"""One thread writes to the database. Writes that wait at the same time share one commit: one wait for the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

from sqlalchemy import Connection

from corefine.project.store.database import Database

T = TypeVar("T")
_Write = tuple[Callable[[Connection], Any], Future[Any]]

MOST_AT_ONCE = 200
"""Writes in one transaction; bounds how long one of them may wait for the others."""


class Writer:
    """Runs functions of a connection, in order."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: SimpleQueue[_Write | None] = SimpleQueue()
        self._closed = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="corefine-writer", daemon=True)
        self._thread.start()

    def write(self, function: Callable[[Connection], T]) -> T:
        """Run a function. When this returns, what it wrote is on disk; when this raises, nothing of it is."""
        done: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the project is closed")
            self._queue.put((function, done))
        return done.result()

    def close(self) -> None:
        """Finish what is waiting, then stop."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            batch = [first]
            while len(batch) < MOST_AT_ONCE and not self._queue.empty():
                item = self._queue.get()
                if item is None:
                    self._commit(batch)
                    return
                batch.append(item)
            self._commit(batch)

    def _commit(self, batch: list[_Write]) -> None:
        """All in one transaction, each in a savepoint of its own, so that one that fails takes no other with it."""
        results: list[tuple[Future[Any], Any]] = []
        try:
            with self._database.write() as connection:
                for function, done in batch:
                    try:
                        with connection.begin_nested():
                            result = function(connection)
                    except BaseException as error:
                        done.set_exception(error)
                    else:
                        results.append((done, result))
        except BaseException as error:  # the commit failed, and with it every write
            for _, done in batch:
                if not done.done():
                    done.set_exception(error)
            return
        for done, result in results:
            done.set_result(result)

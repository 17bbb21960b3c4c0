"""One thread that writes: whoever waits at the same time shares one commit, and so one wait for the disk."""

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
    """Takes functions of a connection and runs them in order.

    When `write` returns, what the function did is on disk; when it raises, nothing of it is. A function may be run
    again where somebody else's failed, so it must change nothing but the database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: SimpleQueue[_Write | None] = SimpleQueue()
        self._closed = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="corefine-writer", daemon=True)
        self._thread.start()

    def write(self, job: Callable[[Connection], T]) -> T:
        done: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the project is closed")
            self._queue.put((job, done))
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
        more = True
        while more:
            first = self._queue.get()
            if first is None:
                return
            batch = [first]
            while len(batch) < MOST_AT_ONCE and not self._queue.empty():
                item = self._queue.get()
                if item is None:
                    more = False
                    break
                batch.append(item)
            self._commit(batch)

    def _commit(self, batch: list[_Write]) -> None:
        """All in one transaction; if that fails, each in a part of its own, so that no error takes others with it."""
        try:
            with self._database.write() as connection:
                results = [job(connection) for job, _ in batch]
        except BaseException as error:
            if len(batch) == 1:
                batch[0][1].set_exception(error)
            else:
                self._commit_apart(batch)
            return
        for (_, done), result in zip(batch, results, strict=True):
            done.set_result(result)

    def _commit_apart(self, batch: list[_Write]) -> None:
        results: list[tuple[Future[Any], Any]] = []
        failures: list[tuple[Future[Any], BaseException]] = []
        try:
            with self._database.write() as connection:
                for job, done in batch:
                    try:
                        with connection.begin_nested():
                            results.append((done, job(connection)))
                    except BaseException as error:
                        failures.append((done, error))
        except BaseException as error:  # the commit failed, so all of it did
            for _, done in batch:
                done.set_exception(error)
            return
        for done, failure in failures:
            done.set_exception(failure)
        for done, result in results:
            done.set_result(result)

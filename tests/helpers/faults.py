"""A database whose calls are counted, and one of which fails: before it takes effect, or after."""

from __future__ import annotations

import threading
from typing import Any

from corefine.project.store.database import Database

CALLS = ("do_execute", "do_execute_no_params", "do_executemany", "do_commit")


class Faults:
    """Counts statements and commits while it is armed, and makes one of them fail.

    On SQLite the call fails as on a broken disk; on PostgreSQL the connection is lost, as when the server goes away.
    """

    def __init__(self, database: Database) -> None:
        self.calls = 0
        self.fired = False
        self._at: int | None = None
        self._after = False
        self._lock = threading.Lock()
        self._dialect = database.engine.dialect
        self._is_sqlite = database.is_sqlite
        for name in CALLS:
            setattr(self._dialect, name, self._wrapped(getattr(self._dialect, name)))

    def arm(self, at: int, *, after: bool) -> None:
        """Let the call with this number, from 1, fail."""
        self.calls, self.fired, self._at, self._after = 0, False, at, after

    def disarm(self) -> None:
        self._at = None

    def _wrapped(self, call: Any) -> Any:
        def run(target: Any, *arguments: Any, **options: Any) -> Any:
            with self._lock:
                self.calls += self._at is not None
                fails = self.calls == self._at and not self.fired
                self.fired |= fails
            if not fails:
                return call(target, *arguments, **options)
            if self._after:
                call(target, *arguments, **options)
            raise self._error(target)

        return run

    def _error(self, target: Any) -> Exception:
        dbapi: Any = self._dialect.dbapi
        if not self._is_sqlite:
            connection = target.connection if hasattr(target, "fetchall") else target
            getattr(connection, "dbapi_connection", connection).close()
            return Exception.__new__(dbapi.OperationalError, "the connection was lost")
        return Exception.__new__(dbapi.OperationalError, "disk I/O error")

"""A database, or files, whose calls are counted, and one of which fails: before it takes effect, or after."""

from __future__ import annotations

import errno
import os
import sys
import threading
from pathlib import Path
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


FILE_CALLS = frozenset((
    "open", "os.chmod", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.scandir",
))  # fmt: skip
"""The audit events of Python that are about files."""


class FileFaults:
    """Counts the uses of files in a folder while it is armed, and makes one of them fail, as on a broken disk.

    What SQLite itself and other processes do with files does not count.
    """

    def __init__(self, folder: Path) -> None:
        self.fired = False
        self._folder = str(folder)
        self._calls = 0
        self._at: int | None = None
        sys.addaudithook(self._hear)  # for good: Python cannot remove it

    def arm(self, at: int) -> None:
        self._calls, self.fired, self._at = 0, False, at

    def disarm(self) -> None:
        self._at = None

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._at is None or event not in FILE_CALLS or not isinstance(arguments[0], str | bytes):
            return
        path = os.fsdecode(arguments[0])
        if path.startswith(self._folder):
            self._calls += 1
            if self._calls == self._at:
                self.fired = True
                raise OSError(errno.EIO, "Input/output error", path)

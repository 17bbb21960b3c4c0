"""The lock that keeps a second server out of a PostgreSQL database. SQLite projects use a file instead."""

from __future__ import annotations

import time
from contextlib import suppress

from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from corefine.errors import InputError
from corefine.project.store.database import Database

_KEY = 0x636F7266
_PATIENCE = 3.0
"""Seconds in which a server that was just stopped may still have the lock: PostgreSQL frees it a moment later."""


class ServerLock:
    """Held as long as its connection lives. A restart of the database releases it, so call `keep` regularly."""

    def __init__(self, database: Database) -> None:
        """Take the lock; raises if another server has it."""
        self._database = database
        self._connection: Connection | None = None
        if database.is_sqlite:
            return
        end = time.monotonic() + _PATIENCE
        while not self._take():
            if time.monotonic() > end:
                raise InputError(f"the database {database.name} is in use by another corefine server: stop it first")
            time.sleep(0.1)

    def keep(self) -> bool:
        """Take the lock again if its connection was lost. False if another server has it, or it is unknown who does."""
        if self._database.is_sqlite:
            return True
        try:
            if self._connection is not None:
                self._connection.execute(text("SELECT 1"))
                self._connection.commit()
                return True
        except SQLAlchemyError:
            self.close()
        try:
            return self._take()
        except SQLAlchemyError:
            return False

    def close(self) -> None:
        if self._connection is not None:
            with suppress(SQLAlchemyError):
                self._connection.close()
            self._connection = None

    def _take(self) -> bool:
        connection = self._database.engine.connect()
        connection.detach()  # so that `close` ends it and frees the lock, instead of returning it to the pool
        try:
            taken = connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": _KEY}).scalar()
            connection.commit()
        except BaseException:
            connection.close()
            raise
        if not taken:
            connection.close()
            return False
        self._connection = connection
        return True

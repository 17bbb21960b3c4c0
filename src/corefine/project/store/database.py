"""The database of a project: SQLite in the project's folder, or PostgreSQL.

What is committed is on disk: SQLite forces its write-ahead log to disk at every commit. In the server one thread does
all writing, so that writes that wait at the same time share one commit, and one wait for the disk.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import QueuePool

from corefine.errors import InputError, MissingExtraError

T = TypeVar("T")

MIGRATIONS = Path(__file__).with_name("migrations")
BUSY_SECONDS = 30.0
"""How long one process waits for another's write."""

_Write = tuple[Callable[[Connection], Any], Future[Any]]

MOST_AT_ONCE = 200
"""Writes in one transaction; bounds how long one of them may wait for the others."""

_MIGRATION_LOCK = 0x636F7265
_SERVER_LOCK = 0x636F7266


class Database:
    def __init__(self, url: str | URL) -> None:
        self.url = _checked(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.engine = _engine(self.url)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees the database in one state."""
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction. After the block, all of it is on disk; if the block raises, nothing of it is."""
        with self.engine.connect().execution_options(corefine_writes=True) as connection, connection.begin():
            yield connection

    def upgrade(self) -> None:
        """Bring the tables up to date; raise if a newer corefine made them."""
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
        try:
            with self.write() as connection:
                if not self.is_sqlite:  # two servers started at once
                    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
                current = MigrationContext.configure(connection).get_current_revision()
                if current is not None and current not in known:
                    raise InputError(
                        f"the database {self.name} was made by a newer corefine (schema {current}): "
                        "upgrade corefine; nothing was changed"
                    )
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except DBAPIError as error:
            raise InputError(f"the database {self.name} cannot be opened: {error.orig}") from error

    def lock(self) -> Connection | None:
        """Keep other servers out of a PostgreSQL database as long as the returned connection is open."""
        if self.is_sqlite:
            return None
        connection = self.engine.connect()
        taken = connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": _SERVER_LOCK}).scalar()
        connection.commit()
        if not taken:
            connection.close()
            raise InputError(f"the database {self.name} is in use by another corefine server: stop it first")
        connection.detach()  # so that closing it really closes it, and frees the lock
        return connection

    @property
    def name(self) -> str:
        """For messages: the file, or the URL without its password."""
        return str(self.url.database) if self.is_sqlite else self.url.render_as_string(hide_password=True)

    def close(self) -> None:
        self.engine.dispose()


class Writer:
    """Runs functions of a connection, in order.

    A function may be run again after another one failed, so it must change nothing but the database.
    """

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
        """All in one transaction. If that fails, one transaction for each, so that one error stops no other write."""
        try:
            with self._database.write() as connection:
                results = [function(connection) for function, _ in batch]
        except BaseException as error:
            if len(batch) == 1:
                batch[0][1].set_exception(error)
            else:
                for each in batch:
                    self._commit([each])
            return
        for (_, done), result in zip(batch, results, strict=True):
            done.set_result(result)


def sqlite_url(path: Path) -> URL:
    return URL.create("sqlite", database=str(path))


def _checked(url: str | URL) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise InputError("--database needs a URL like postgresql://user@host/name") from error
    backend = parsed.get_backend_name()
    if backend == "postgresql":
        if find_spec("psycopg") is None:
            raise MissingExtraError("psycopg", "postgres")
        return parsed.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise InputError(f"--database takes postgresql:// or sqlite:// URLs, not {backend}://")
    return parsed


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        # No ping before use: a connection that was cut fails once, and the client repeats a request that got a 503.
        return create_engine(url, pool_size=20, max_overflow=40)
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=20,
        max_overflow=100,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None  # transactions begin below, not where sqlite3 would begin them
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that begins by reading may fail when it writes, if another one wrote in between.
        writes = connection.get_execution_options().get("corefine_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine

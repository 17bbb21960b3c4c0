"""The database of a project: SQLite in the project's folder, or PostgreSQL.

A commit is durable: SQLite forces its write-ahead log to disk each time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.pool import QueuePool

from corefine.errors import InputError, MissingExtraError

MIGRATIONS = Path(__file__).with_name("migrations")
BUSY_SECONDS = 30.0
"""How long one process waits for another's write."""

_MIGRATION_LOCK = 0x636F7265


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
            if is_damage(error):
                raise InputError(
                    f"the database {self.name} is damaged ({error.orig}): see `corefine project check`, then "
                    "`corefine project repair`; nothing was changed"
                ) from error
            raise InputError(f"the database {self.name} cannot be opened: {error.orig}") from error

    def is_lost(self, error: BaseException) -> bool:
        """Whether an error means that the connection to the database was lost, so that trying again may help."""
        if self.is_sqlite or not isinstance(error, DBAPIError):
            return False
        state: str | None = getattr(error.orig, "sqlstate", None)
        unreachable = isinstance(error, OperationalError) and (state is None or state.startswith(("08", "57P")))
        return error.connection_invalidated or unreachable

    @property
    def name(self) -> str:
        """For messages: the file, or the URL without its password."""
        return str(self.url.database) if self.is_sqlite else self.url.render_as_string(hide_password=True)

    def close(self) -> None:
        self.engine.dispose()


def is_damage(error: BaseException) -> bool:
    """Whether an error means that an SQLite file is damaged, so that trying again will not help."""
    name: str = getattr(getattr(error, "orig", error), "sqlite_errorname", "")
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


def is_out_of_reach(error: BaseException) -> bool:
    """Whether an error means that an SQLite file cannot be opened now, which says nothing about what is in it."""
    name: str = getattr(getattr(error, "orig", error), "sqlite_errorname", "")
    return name.startswith(
        ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL")
    )


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
        return create_engine(url, pool_size=20, max_overflow=40, pool_pre_ping=True)  # replaces broken connections
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

"""Writing: what a lost connection leaves behind, and a second server."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from corefine.errors import ServerReplacedError
from corefine.project import Project
from corefine.project.store import settings, writer
from corefine.project.store.server_lock import ServerLock
from corefine.project.work.workspaces import Workspaces


def kept(project: Project, name: str) -> object:
    with project.database.read() as connection:
        return settings.get(connection, name)


@pytest.fixture
def postgres_project(project: Project, database_url: str | None) -> Project:
    if database_url is None:
        pytest.skip("this is about PostgreSQL")
    return project


def cut_connections(project: Project) -> None:
    """End every connection of the database but one, as its restart does."""
    with project.database.read() as connection:
        own = "datname = current_database() AND pid <> pg_backend_pid()"
        connection.execute(text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {own}")).all()


def test_connections_that_died_are_replaced(postgres_project: Project) -> None:
    postgres_project.change_guidelines("before")
    cut_connections(postgres_project)
    assert postgres_project.guidelines == "before"
    cut_connections(postgres_project)
    postgres_project.change_guidelines("after")
    assert postgres_project.guidelines == "after"


def test_a_write_whose_connection_dies_is_done_once_on_another(postgres_project: Project) -> None:
    times = []

    def job(connection: object) -> None:
        times.append(1)
        settings.put(connection, "number", len(times))  # type: ignore[arg-type]
        if len(times) == 1:
            cut_connections(postgres_project)

    postgres_project.writer.write(job)
    assert kept(postgres_project, "number") == 2


def test_the_lock_is_taken_again_after_a_restart(
    postgres_project: Project, database_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "GUARD_SECONDS", 0.0)
    postgres_project.lock()
    cut_connections(postgres_project)
    postgres_project.change_guidelines("the lock is looked after when something is written")
    with (
        Project(postgres_project.folder.parent / "far", database=database_url) as other,
        pytest.raises(Exception, match="in use"),
    ):
        other.lock()


def test_a_server_waits_for_the_lock_of_one_that_is_stopping(postgres_project: Project) -> None:
    """PostgreSQL frees a lock a moment after its connection is closed."""
    stopping = ServerLock(postgres_project.database)
    timer = threading.Timer(0.5, stopping.close)
    timer.start()
    started = ServerLock(postgres_project.database)
    timer.join()
    assert started.keep()
    started.close()


def test_a_server_that_was_replaced_writes_no_more(
    postgres_project: Project, database_url: str | None, tmp_path: Path
) -> None:
    workspaces = Workspaces(postgres_project)
    person = postgres_project.owner().id
    postgres_project.lock()
    cut_connections(postgres_project)
    with Project(tmp_path / "far", database=database_url) as other:
        other.lock()
        other.change_guidelines("by the other")
        with pytest.raises(ServerReplacedError, match="another corefine"):
            postgres_project.change_guidelines("by the old one")
        with pytest.raises(ServerReplacedError), workspaces.of(person):
            pass
        other.change_guidelines("by the other again")
        assert other.guidelines == "by the other again"


def test_a_write_within_a_write_is_an_error_and_waits_for_nothing(sqlite_project: Project) -> None:
    with pytest.raises(RuntimeError, match="wait for itself"):
        sqlite_project.writer.write(lambda _: sqlite_project.owner())
    sqlite_project.owner()

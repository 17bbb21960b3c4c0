"""The database: migrations, durability, one server at a time, and writing together."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, func, insert, select, text
from sqlalchemy.exc import IntegrityError

from corefine.errors import InputError
from corefine.project import Project
from corefine.project.store import schema, settings
from corefine.project.store.database import MIGRATIONS, Database, sqlite_url


def test_migrations_make_the_tables_that_the_code_uses(project: Project) -> None:
    with project.database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []


def test_a_database_of_a_newer_version_is_left_alone(project: Project, database_url: str | None) -> None:
    with project.database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InputError, match="newer corefine"):
        Project(project.folder, database=database_url)
    with project.database.read() as connection:
        assert connection.execute(select(func.count()).select_from(schema.documents)).scalar() == 3


def test_opening_again_changes_nothing(project: Project, database_url: str | None) -> None:
    owner = project.owner()
    with Project(project.folder, database=database_url) as again:
        assert again.owner() == owner
        assert again.documents.all() == project.documents.all()


def test_what_is_committed_is_forced_to_disk(sqlite_project: Project) -> None:
    with sqlite_project.database.read() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


@pytest.mark.parametrize("url", ["mysql://x/y", "nonsense", "postgresql://nobody@127.0.0.1:1/none"])
def test_databases_that_cannot_be(tmp_path: Path, url: str) -> None:
    with pytest.raises(InputError):
        Project(tmp_path / "project", database=url)


def test_a_password_is_not_shown() -> None:
    pytest.importorskip("psycopg")
    assert "secret" not in Database("postgresql://me:secret@127.0.0.1:1/none").name


def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "project.sqlite").write_bytes(b"this is no database, but long enough to look like one" * 100)
    with pytest.raises(InputError, match="is damaged"):
        Project(tmp_path)


def test_a_postgres_project_says_so(project: Project, database_url: str | None) -> None:
    if database_url is None:
        pytest.skip("this is about PostgreSQL")
    with pytest.raises(InputError, match="--database"):
        Project(project.folder)


def test_one_server_at_a_time(project: Project, database_url: str | None, tmp_path: Path) -> None:
    project.lock()
    with Project(project.folder, database=database_url) as other, pytest.raises(InputError, match="another corefine"):
        other.lock()
    if database_url is not None:  # the same database, from a folder of another machine
        with Project(tmp_path / "elsewhere", database=database_url) as far, pytest.raises(InputError, match="in use"):
            far.lock()
    project.close()
    with Project(project.folder, database=database_url) as next_one:
        next_one.lock()


# Writing together


def test_one_failing_write_takes_no_other_with_it(project: Project) -> None:
    """Writes that wait together share a commit, but not their errors."""
    gate = threading.Event()
    failures: list[Exception] = []

    def slow(_: Connection) -> None:
        gate.wait(5)

    def good(number: int) -> None:
        project.writer.write(lambda connection: settings.put(connection, f"good {number}", number))

    def bad() -> None:
        def job(connection: Connection) -> None:
            settings.put(connection, "bad", 1)
            connection.execute(insert(schema.settings).values(name="bad", value="2"))

        try:
            project.writer.write(job)
        except IntegrityError as error:
            failures.append(error)

    threads = [threading.Thread(target=project.writer.write, args=(slow,))]
    threads[0].start()
    time.sleep(0.1)
    threads += [threading.Thread(target=good, args=(number,)) for number in range(5)]
    threads += [threading.Thread(target=bad) for _ in range(3)]
    for thread in threads[1:]:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join()
    assert len(failures) == 3
    with project.database.read() as connection:
        assert [settings.get(connection, f"good {number}") for number in range(5)] == list(range(5))
        assert settings.get(connection, "bad") is None


def test_sessions_of_a_study_outlive_that_a_person_may_have_several(tmp_path: Path) -> None:
    """The table of sessions is made anew in SQLite, and answers refer to it."""
    database = Database(sqlite_url(tmp_path / "project.sqlite"))
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with database.write() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0003")
        for statement in (
            "INSERT INTO people (id, name, role, active, created_at) VALUES (1, 'Ada', 'annotator', 1, 0)",
            "INSERT INTO documents VALUES (1, 'd', 0, 1, '{}', 0, 0, NULL, NULL, 0)",
            "INSERT INTO study_questions VALUES (1, 'A', 0, 0, 20, 1, '{}')",
            "INSERT INTO study_sessions VALUES (7, 1, 'A', 'discrete', 5.0)",
            "INSERT INTO study_answers VALUES (3, 7, 1, 'c', '{}', NULL, 2.0, NULL, 6.0)",
        ):
            connection.execute(text(statement))
    database.upgrade()
    with database.read() as connection:
        [session] = connection.execute(select(schema.study_sessions)).all()
        [answer] = connection.execute(select(schema.study_answers)).all()
    assert (session.id, session.began_at, session.client_id) == (7, 5.0, None)
    assert (answer.id, answer.session_id, answer.initial) == (3, 7, 2.0)
    database.engine.dispose()

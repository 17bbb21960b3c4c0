"""Checking, repairing, backing up and restoring: every answer that was acknowledged stays."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
import threading
from pathlib import Path

import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.exc import OperationalError
from typer.testing import CliRunner

from corefine.annotation.log import AnswerEntry
from corefine.annotation.question import Answer, Protocol, Question
from corefine.cli import app
from corefine.cli.annotate import check_quickly
from corefine.corpora import stories
from corefine.document import Span
from corefine.errors import InputError
from corefine.project import Project
from corefine.project.store import people, predictions, schema
from corefine.project.upkeep.backup import backup, restore
from corefine.project.upkeep.checking import check, quick_check
from corefine.project.upkeep.repairing import _answer_event, repair
from corefine.project.work.workspace import question_id_of
from corefine.project.work.workspaces import Workspaces
from helpers.projects import fill, fresh_postgres, new_id, serve

EVENTS = schema.events.c


def answer(project: Project, count: int = 4, document: int = 1) -> int:
    """Answers by the owner, whose number is returned."""
    person = project.owner().id
    with Workspaces(project).of(person) as workspace:
        for _ in range(count):
            question = workspace.show(document).question
            assert question is not None
            workspace.answer(new_id(), document, question_id_of(question), Answer.unsure())
    return person


def numbers(project: Project, person: int, document: int = 1) -> list[int]:
    with Workspaces(project).of(person) as workspace:
        return [entry.number for entry in workspace.open(document).session.answers]


def test_nothing_is_wrong_with_a_good_project(project: Project) -> None:
    answer(project)
    assert check(project) == []
    assert quick_check(project) == []
    assert repair(project) == []


def test_a_gap_in_a_log_is_closed(project: Project) -> None:
    person = answer(project)
    with project.database.write() as connection:
        connection.execute(delete(schema.events).where(EVENTS.place == 2))
    assert [finding.kind for finding in quick_check(project)] == ["log"]
    assert "1 of 4 rows are missing" in str(check(project)[0])
    repair(project)
    assert check(project) == []
    assert numbers(project, person) == [1, 3, 4]
    answer(project, 1)
    assert numbers(project, person) == [1, 3, 4, 5]


def test_an_undo_of_a_missing_answer_takes_back_no_other(project: Project) -> None:
    """What memory had and the log did not: the answer was refused, then undone, and a restart undid another."""
    person = answer(project, 3)
    with Workspaces(project).of(person) as workspace:
        workspace.undo(new_id())
    with project.database.write() as connection:
        connection.execute(delete(schema.events).where(EVENTS.place == 3))
    done = repair(project)
    assert numbers(project, person) == [1, 2]
    assert any("left out" in line for line in done)
    kept = next(project.folder.glob("removed-*.jsonl"))
    assert json.loads(kept.read_text().splitlines()[0])["kind"] == "undo"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_an_event_that_cannot_be_read_is_made_again_from_its_request(project: Project) -> None:
    person = answer(project)
    before = numbers(project, person)
    with project.database.write() as connection:
        connection.execute(update(schema.events).where(EVENTS.place == 2).values(event='{"event": "ans'))
    assert [finding.kind for finding in check(project)] == ["log"]
    repair(project)
    assert check(project) == []
    assert numbers(project, person) == before


def test_an_answer_about_a_group_is_made_again_too() -> None:
    group = (Span(0, 1), Span(4, 5), Span(8, 9))
    entry = AnswerEntry(Question(7, group[1], None, Protocol.GROUP, group=group), Answer.yes(group[:1]), 20.0)
    request = ["answer", 1, entry.question.id, entry.answer.to_json()]
    assert _answer_event(request, 20.0) == {"event": "answer", **entry.to_json()}


def test_damaged_files_are_found_and_taken_out(project: Project) -> None:
    answer(project)
    path = project.predictions.path(1, 2)
    path.write_bytes(path.read_bytes()[:100])

    def add(connection: object) -> int:
        return predictions.add_version(connection, "5 answers", predictions.TRAINED)  # type: ignore[arg-type]

    number = project.writer.write(add)
    assert sorted(finding.kind for finding in check(project)) == ["model", "prediction"]
    repair(project)
    assert check(project) == []
    assert not path.exists()
    with project.database.read() as connection:
        assert number not in predictions.ready_versions(connection)


# Damage of the database file


def test_an_empty_or_missing_database_is_no_new_project(sqlite_project: Project) -> None:
    sqlite_project.close()
    path = sqlite_project.folder / "project.sqlite"
    path.write_bytes(b"")
    with pytest.raises(InputError, match="empty"):
        Project(sqlite_project.folder)
    path.unlink()
    with pytest.raises(InputError, match="missing"):
        Project(sqlite_project.folder)
    assert not path.exists()
    path.mkdir()
    with pytest.raises(InputError, match="no file"):
        Project(sqlite_project.folder)


def test_an_empty_file_alone_is_no_new_project(tmp_path: Path) -> None:
    (tmp_path / "project.sqlite").touch()
    with pytest.raises(InputError, match=r"restore a backup .* if there was a project, remove it if there was none"):
        Project(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["project.sqlite"]


@pytest.mark.parametrize("size", [0, 8192])
def test_where_nothing_is_left_nothing_is_made(sqlite_project: Project, size: int) -> None:
    """An empty database in the place of a damaged one would look like a new project, and let everybody in."""
    sqlite_project.close()
    path = sqlite_project.folder / "project.sqlite"
    damaged = path.read_bytes()[:size] or b"this is no database" * 1000
    path.write_bytes(damaged)
    done = CliRunner().invoke(app, ["project", "repair", "--project", str(sqlite_project.folder)])
    assert "restore a backup" in str(done.exception)
    assert path.read_bytes() == damaged
    assert not list(sqlite_project.folder.glob("*.new*"))
    with pytest.raises(InputError, match="damaged"):
        Project(sqlite_project.folder)


def test_what_cannot_be_opened_now_is_not_called_damaged(
    sqlite_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a file system that is read-only, where SQLite cannot make the files beside its own."""

    def fail(*_: object) -> None:
        error = sqlite3.OperationalError("unable to open database file")
        error.sqlite_errorname = "SQLITE_CANTOPEN"
        raise OperationalError("PRAGMA", {}, error)

    monkeypatch.setattr(sqlite_project.database, "read", fail)
    for look in (check, quick_check):
        with pytest.raises(InputError, match="cannot be opened: unable to open"):
            look(sqlite_project)


def test_who_cannot_be_read_is_not_let_in(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    with Project(folder) as project:
        fill(project, stories.load()[:2])
        project.invite("boss", people.OWNER)
        with project.database.read() as connection:
            root = connection.exec_driver_sql("SELECT rootpage FROM sqlite_master WHERE name='people'").scalar_one()
            size = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
    path = folder / "project.sqlite"
    content = bytearray(path.read_bytes())
    content[(root - 1) * size : root * size] = b"\xff" * size
    path.write_bytes(content)
    done = CliRunner().invoke(app, ["project", "repair", "--project", str(folder)])
    assert "everybody needs a new link" in done.output, done.output
    with Project(folder) as project, serve(project) as client:
        assert len(project.documents.all()) == 2
        assert client.get("/api/me").status_code == 401


def test_rows_behind_a_damaged_page_are_saved(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    with Project(folder) as project:
        fill(project, stories.load())
        for document in range(1, 9):
            person = answer(project, 6, document)
        with project.database.write() as connection:
            connection.execute(text("UPDATE documents SET source = :long"), {"long": "x" * 3000})
        with project.database.read() as connection:
            events = {row.client_id for row in connection.execute(select(schema.events))}
            root = connection.exec_driver_sql("SELECT rootpage FROM sqlite_master WHERE name='documents'").scalar_one()
            size = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
    path = folder / "project.sqlite"
    content = bytearray(path.read_bytes())
    leaf = _leaf_of(content, root, size)
    content[leaf * size : leaf * size + 200] = b"\xff" * 200
    path.write_bytes(content)
    with Project(folder) as project:
        assert [finding.kind for finding in quick_check(project)] == ["database"]
        with pytest.raises(InputError, match="damaged"):
            check_quickly(project)
    told = CliRunner().invoke(app, ["project", "check", "--project", str(folder)])
    assert told.exit_code == 1, told.output
    assert "database" in told.output
    done = CliRunner().invoke(app, ["project", "repair", "--project", str(folder)])
    assert "a new database was made" in done.output, done.output
    with Project(folder) as project:
        with project.database.read() as connection:
            assert {row.client_id for row in connection.execute(select(schema.events))} == events
        lost = {finding.where for finding in check(project)}
        assert all(name.startswith("lost document") for name in lost)
        readable = [info.id for info in project.documents.all() if not info.name.startswith("lost")]
        assert len(readable) >= 9
        assert len(numbers(project, person, readable[0])) == (6 if readable[0] < 9 else 0)
    assert list(folder.glob("project.sqlite.damaged-*"))


def _leaf_of(content: bytearray, page: int, size: int) -> int:
    """The number, from 0, of a leaf page of a table's tree."""
    start = (page - 1) * size
    if content[start] == 0x0D:
        return page - 1
    pointer = int.from_bytes(content[start + 12 : start + 14], "big")
    return _leaf_of(content, int.from_bytes(content[start + pointer : start + pointer + 4], "big"), size)


# Backups


def test_a_backup_taken_under_writes_is_whole(project: Project, tmp_path: Path) -> None:
    stop = threading.Event()
    person = project.owner().id
    workspaces = Workspaces(project)

    def write() -> None:
        with workspaces.of(person) as workspace:
            while not stop.is_set():
                shown = workspace.show()
                if shown.question is None or shown.document_id is None:
                    return
                workspace.answer(new_id(), shown.document_id, question_id_of(shown.question), Answer.unsure())

    thread = threading.Thread(target=write)
    thread.start()
    try:
        counts = backup(project, tmp_path / "copy.zip")
    finally:
        stop.set()
        thread.join()
    assert stat.S_IMODE((tmp_path / "copy.zip").stat().st_mode) == 0o600
    restore(tmp_path / "copy.zip", tmp_path / "restored")
    with Project(tmp_path / "restored") as restored:
        assert check(restored) == []
        with restored.database.read() as connection:
            assert len(connection.execute(select(schema.events)).all()) == counts["events"]
        assert restored.documents.get(1) == project.documents.get(1)
        restored.invite("one more")  # counting goes on


def test_a_backup_is_restored_into_postgresql(
    sqlite_project: Project, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = fresh_postgres(request.getfixturevalue("postgres_server"))
    person = answer(sqlite_project)
    model = sqlite_project.models / "v7" / "model.json"
    model.parent.mkdir(parents=True)
    model.write_text("{}")
    backup(sqlite_project, tmp_path / "copy.zip")
    restore(tmp_path / "copy.zip", tmp_path / "restored", database=url)
    assert not (tmp_path / "restored" / "project.sqlite").exists()
    assert (tmp_path / "restored" / "models" / "v7" / "model.json").read_text() == "{}"
    with Project(tmp_path / "restored", database=url) as restored:
        shutil.copytree(sqlite_project.predictions.folder, restored.predictions.folder)
        assert numbers(restored, person) == [1, 2, 3, 4]
        answer(restored, 1)
        assert numbers(restored, person) == [1, 2, 3, 4, 5]
    with pytest.raises(InputError, match="not empty"):
        restore(tmp_path / "copy.zip", tmp_path / "again", database=url)


def test_nothing_is_overwritten_and_damage_is_told(sqlite_project: Project, tmp_path: Path) -> None:
    copy = tmp_path / "copy.zip"
    backup(sqlite_project, copy)
    with pytest.raises(InputError, match="is there already"):
        backup(sqlite_project, copy)
    with pytest.raises(InputError, match="not empty"):
        restore(copy, sqlite_project.folder)
    content = bytearray(copy.read_bytes())
    content[len(content) // 2] ^= 0xFF
    copy.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        restore(copy, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    (tmp_path / "no.zip").write_bytes(b"PK")
    with pytest.raises(InputError, match="not a backup"):
        restore(tmp_path / "no.zip", tmp_path / "new")

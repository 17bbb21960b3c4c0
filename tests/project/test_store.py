"""The project on disk: its database, its documents, and what is said of bad ones."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, func, insert, select, text
from sqlalchemy.exc import IntegrityError

from corefine.annotation.cost import CostModel
from corefine.annotation.question import Answer, Protocol
from corefine.corpora import stories
from corefine.document import Span
from corefine.errors import InputError, ModelError
from corefine.models import rules
from corefine.prediction import Prediction
from corefine.project import Project
from corefine.project.results import times
from corefine.project.store import documents, log, predictions, schema, settings
from corefine.project.store.database import Database
from corefine.project.store.settings import ProjectConfig
from corefine.project.work.assignments import overlap
from corefine.project.work.workspace import Workspace, question_id_of
from corefine.project.work.workspaces import Workspaces
from helpers.projects import fill, golds, new_id


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
    with pytest.raises(InputError, match="cannot be opened"):
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


def test_if_the_log_cannot_be_written_memory_forgets(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    workspaces = Workspaces(project)
    person = project.owner().id
    with workspaces.of(person) as workspace:
        answer(workspace)
        shown = workspace.show().question
        monkeypatch.setattr(log, "append", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            answer(workspace)
    monkeypatch.undo()
    with workspaces.of(person) as workspace:
        assert workspace.show().question == shown
        answer(workspace)
        assert len(workspace.open(1).session.answers) == 2


def answer(workspace: Workspace) -> None:
    shown = workspace.show()
    assert shown.question is not None
    assert shown.document_id is not None
    workspace.answer(new_id(), shown.document_id, question_id_of(shown.question), Answer.unsure())


def test_more_sessions_than_fit_in_memory(project: Project) -> None:
    workspaces = Workspaces(project, most_open=1)
    person = project.owner().id
    with workspaces.of(person) as workspace:
        for document in (1, 2, 3, 1, 2, 3):
            shown = workspace.show(document)
            assert shown.question is not None
            workspace.answer(new_id(), document, question_id_of(shown.question), Answer.unsure())
    fresh = Workspaces(project)
    with workspaces.of(person) as one, fresh.of(person) as other:
        for document in (1, 2, 3):
            assert one.open(document).session.log == other.open(document).session.log
            assert len(one.open(document).session.answers) == 2


# Documents


def test_files_good_and_bad(sqlite_project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "good.txt").write_text("Anna came. She sang.")
    (folder / "latin.txt").write_bytes(b"caf\xe9 \xff\xfe")
    (folder / "broken.jsonl").write_text('{"doc_key": "fine", "sentences": [["Anna", "came"]]}\n{"broken\n')
    (folder / "notes.docx").write_bytes(b"PK")
    (folder / ".hidden.txt").write_text("Never.")
    paths = [folder, tmp_path / "missing.txt"]
    found = sqlite_project.writer.write(lambda c: documents.import_paths(c, paths))
    names = {entry.name for entry in sqlite_project.documents.all()}
    assert {"good", "fine"} <= names
    skipped = {Path(file).name for file, _ in found.skipped}
    assert {"broken.jsonl", "notes.docx", "missing.txt"} <= skipped
    assert all(reason for _, reason in found.skipped)
    again = sqlite_project.writer.write(lambda c: documents.import_paths(c, [folder]))
    assert again.added == []
    (folder / "good.txt").write_text("Bert came.")
    changed = sqlite_project.writer.write(lambda c: documents.import_paths(c, [folder]))
    assert [Path(file).name for file in changed.changed] == ["good.txt"]
    assert any("changed since" in notice for notice in changed.notices)
    kept = next(entry for entry in sqlite_project.documents.all() if entry.name == "good")
    assert sqlite_project.documents.get(kept.id).tokens[0] == "Anna"


def test_the_same_name_twice(sqlite_project: Project) -> None:
    ids = fill(sqlite_project, stories.load()[:1])
    assert sqlite_project.documents.get(ids[0]).name == f"{stories.load()[0].name} (2)"


def test_what_is_stored_is_what_was_read(sqlite_project: Project) -> None:
    for entry, story in zip(sqlite_project.documents.all(), stories.load(), strict=False):
        assert sqlite_project.documents.get(entry.id) == story


# Predictions and settings


def test_predictions_survive_storing(sqlite_project: Project) -> None:
    document = sqlite_project.documents.get(1)
    made = rules.predict(document)
    sqlite_project.predictions.save(7, 1, made)
    read = sqlite_project.predictions.load(7, 1)
    assert read.spans == made.spans
    for name in ("candidates", "probabilities", "mention_scores"):
        assert np.array_equal(getattr(read, name), getattr(made, name))
    assert read.members is None
    empty = Prediction((), np.zeros((0, 3), dtype=np.int64), np.zeros((0, 4)))
    sqlite_project.predictions.save(7, 2, empty)
    assert sqlite_project.predictions.load(7, 2).spans == ()


def test_a_damaged_prediction_is_told_and_not_swapped_in(sqlite_project: Project) -> None:
    workspaces = Workspaces(sqlite_project)
    person = sqlite_project.owner().id
    with workspaces.of(person) as workspace:
        answer(workspace)
        number = sqlite_project.writer.write(lambda c: predictions.add_version(c, "bad", predictions.TRAINED))
        path = sqlite_project.predictions.path(number, 1)
        path.parent.mkdir()
        path.write_bytes(b"PK\3\4 nonsense")
        with pytest.raises(ModelError, match="cannot be read"):
            sqlite_project.predictions.load(number, 1)
        workspaces._looked_at = -10.0
        answer(workspace)
        assert workspace.open(1).version == 1


def test_settings_are_kept(project: Project) -> None:
    new = ProjectConfig(protocol=Protocol.PAIRWISE, budget_questions=7, overlap=0.25)
    project.change_settings(new)
    assert project.settings == new
    assert new.questions(5000) == 7
    assert ProjectConfig().questions(465) == 20  # the paper's
    assert ProjectConfig(budget_per_1000_tokens=None).questions(10) is None


def test_overlap_is_spread_evenly() -> None:
    documents = list(range(100))
    quarter = overlap(documents, 0.25)
    assert len(quarter) == 25
    assert all(len(quarter.intersection(range(start, start + 4))) == 1 for start in range(0, 100, 4))
    assert not overlap(documents, 0.0)
    assert overlap(documents, 1.0) == set(documents)


def test_times_become_the_cost_model(project: Project) -> None:
    workspaces = Workspaces(project)
    person = project.owner().id
    with workspaces.of(person) as workspace:
        for _ in range(25):
            shown = workspace.show()
            while shown.state == "document-done":
                shown = workspace.show()
            assert shown.question is not None
            assert shown.document_id is not None
            gold = golds(project)[shown.document_id]
            same = shown.question.antecedent in next(
                (c for c in gold.clusters if shown.question.mention in c), (Span(0, 0),)
            )
            reply = Answer.yes() if same else Answer.unsure()
            timing = log.Timing(reading=1.0, initial=10.0)
            workspace.answer(new_id(), shown.document_id, question_id_of(shown.question), reply, timing=timing)
    with project.database.read() as connection:
        rows = {row.name: row for row in times.measure(connection)}
    assert (rows[times.INITIAL].answers, rows[times.INITIAL].mean) == (25, 10.0)
    cost = times.cost_model(list(rows.values()))
    assert cost == CostModel(initial=10.0)  # the paper's where nothing was timed
    project.writer.write(lambda connection: times.keep(connection, cost))
    assert project.cost == cost

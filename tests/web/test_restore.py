"""A backup is put in the place of everything while people are at work: memory, files and logins are the new ones."""

from __future__ import annotations

import io
import json
import random
import shutil
import threading
import zipfile
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest

from corefine.models import rules
from corefine.project import Project
from corefine.project.learning.worker import Worker, _ReplacedError
from corefine.project.store import log, settings
from corefine.project.upkeep import backup as backups
from corefine.project.upkeep.backup import backup
from corefine.project.upkeep.checking import check
from corefine.project.work.workspace import Workspace
from helpers.projects import Browser, another, change


@pytest.fixture
def project(sqlite_project: Project) -> Project:
    return sqlite_project


def _backup(browser: Browser) -> bytes:
    return browser.client.get("/api/backup").content


def _backup_before_changes(browser: Browser, project: Project) -> tuple[Path, bytes]:
    """The file of a model and a backup, after which the model became "new" and a question was answered."""
    model = project.models / "v7" / "model.json"
    model.parent.mkdir(parents=True)
    model.write_text("old")
    content = _backup(browser)
    model.write_text("new")
    _answer(browser)
    return model, content


def _restore(browser: Browser, content: bytes, status: int = 200) -> Any:
    response = browser.client.post("/api/restore", content=content)
    assert response.status_code == status, response.text
    return response.json()


def _answer(browser: Browser) -> Any:
    return browser.answer(browser.get("next?document=1")["question"], {"reply": "unsure"})


def test_an_answer_on_its_way_is_not_written_into_the_restored_log(
    browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had a place in the old log; in the restored one it left a gap, and the document could not be opened."""
    _answer(browser)
    content = _backup(browser)
    for _ in range(3):
        _answer(browser)
    begun, restored = threading.Event(), threading.Event()
    original = Workspace._next_version

    def slowly(workspace: Workspace, opened: Any) -> Any:
        begun.set()
        restored.wait(1.0)
        return original(workspace, opened)

    monkeypatch.setattr(Workspace, "_next_version", slowly)
    answering = threading.Thread(target=_answer, args=(browser,))
    answering.start()
    begun.wait()
    _restore(browser, content)
    restored.set()
    answering.join()
    assert check(project) == []
    assert len(browser.get("history")["entries"]) == 1


def test_an_open_server_knows_its_new_owner(browser: Browser, tmp_path: Path) -> None:
    with Project(tmp_path / "other") as other:
        other.invite("Zoe")  # who has the number of our owner
        other.owner()
        backup(other, tmp_path / "other.zip")
    assert browser.get("me")["person"]["id"] == 1
    _restore(browser, (tmp_path / "other.zip").read_bytes())
    assert browser.get("me")["person"] == {"id": 2, "name": "owner", "role": "owner"}
    another(browser).get("me", status=401)


def test_what_fails_leaves_everything_as_it_was(
    browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, content = _backup_before_changes(browser, project)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(backups, "_replace_rows", fail)
        assert "No space left" in _restore(browser, content, status=400)["error"]["message"]
    assert model.read_text() == "new"
    assert len(browser.get("history")["entries"]) == 1
    browser.get("documents/1/entities")  # its prediction is there
    _restore(browser, content)
    assert model.read_text() == "old"
    assert browser.get("history")["entries"] == []


@pytest.mark.parametrize("step", ["_replace_rows", "_remove"])
def test_a_server_killed_while_it_restores(
    browser: Browser, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Rows and models are all old or all new, and no prediction is about another text than the rows have."""
    _, content = _backup_before_changes(browser, project)
    killed = tmp_path / "killed"
    original = getattr(backups, step)

    def left_by_a_kill(*arguments: Any) -> Any:
        shutil.copytree(project.folder, killed, ignore=shutil.ignore_patterns("*-shm"))
        return original(*arguments)

    monkeypatch.setattr(backups, step, left_by_a_kill)
    _restore(browser, content)
    with Project(killed) as left:
        backups.end_killed_restore(left)
        with left.database.read() as connection:
            answers = log.count_answers(connection)
        found = (left.models / "v7" / "model.json").read_text()
        assert (answers, found) == ((1, "new") if step == "_replace_rows" else (0, "old"))
        assert not list(left.predictions.folder.glob("*/*"))
        assert not list(left.folder.glob(".restore-*"))


def test_the_disk_is_not_called_a_damaged_backup(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    content = _backup(browser)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "/srv/project/.restore/project.sqlite")

    monkeypatch.setattr(backups.shutil, "copyfileobj", full)
    message = _restore(browser, content, status=400)["error"]["message"]
    assert "No space left" in message
    assert "damaged" not in message
    assert "/srv" not in message


def test_a_backup_brings_no_code(browser: Browser, tmp_path: Path) -> None:
    with Project(tmp_path / "other") as other:
        change(other, selector="os:abort")
        backup(other, tmp_path / "other.zip")
    refused = _restore(browser, (tmp_path / "other.zip").read_bytes(), status=400)
    assert "Python code" in refused["error"]["message"]
    assert len(browser.get("documents")) == 3


def test_no_damage_of_a_backup_is_more_than_a_refusal(browser: Browser) -> None:
    content = _backup(browser)
    rng = random.Random(0)
    hostile = [b"", b"PK", content[: len(content) // 2], _packed("[" * 100_000), _packed('{"files": []}')]
    for _ in range(30):
        damaged = bytearray(content)
        for _ in range(rng.randint(1, 20)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        hostile.append(bytes(damaged))
    newer = {"format": 99, "corefine": "9.0", "files": {"project.sqlite": ""}}
    hostile += [_packed(json.dumps(each)) for each in (newer, {**newer, "format": "1"}, [newer], {**newer, "files": 3})]
    hostile.append(_packed(json.dumps({**newer, "format": 1, "files": {"../outside": ""}})))
    for each in hostile:
        message = _restore(browser, each, status=400)["error"]["message"]
        assert gettempdir() not in message, message
    assert len(browser.get("documents")) == 3


def _packed(manifest: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("backup.json", manifest)
        archive.writestr("project.sqlite", "nonsense")
    return buffer.getvalue()


def test_a_prediction_of_a_document_that_was_replaced_is_not_kept(project: Project) -> None:
    """The worker was reading it when the backup came: another text has its number now."""
    worker = Worker(project)
    path = project.predictions.path(9, 1)
    prediction = rules.predict(project.documents.get(1))
    worker._save(9, 1, prediction)
    assert path.exists()
    path.unlink()

    saved = project.predictions.save

    def save(*arguments: Any) -> None:
        saved(*arguments)
        project.writer.write(lambda connection: settings.put(connection, settings.RESTORED, 1.0))

    project.predictions.save = save  # type: ignore[method-assign]
    with pytest.raises(_ReplacedError):
        worker._save(9, 1, prediction)
    assert not path.exists()
    worker.run()  # ends: another process begins anew

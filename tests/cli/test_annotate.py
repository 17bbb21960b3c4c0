"""`corefine annotate`, `invite`, `export` and `times`, as commands."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corefine import formats
from corefine.annotation.question import Answer
from corefine.cli import app
from corefine.cli.annotate import _greeting, _owner_link, import_documents
from corefine.corpora import stories
from corefine.errors import InputError
from corefine.project import Project
from corefine.project.learning.worker import Worker
from corefine.project.work.workspace import question_id_of
from corefine.project.work.workspaces import Workspaces

runner = CliRunner()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of the stories in which one question was answered."""
    with Project(tmp_path / "project") as project:
        assert import_documents(project, [], [], stories=True) == []
        worker = Worker(project)
        worker._unusable = "starter"
        worker.settle()
        with Workspaces(project).of(project.owner().id) as workspace:
            shown = workspace.show()
            assert shown.question is not None
            workspace.answer("client-0001", 1, question_id_of(shown.question), Answer.unsure())
    return tmp_path / "project"


def test_the_stories_are_there_if_they_are_asked_for(folder: Path, tmp_path: Path) -> None:
    with Project(folder) as project:
        entries = project.documents.all()
        assert len(entries) == 12
        assert sum(entry.held_out for entry in entries) == stories.HELD_OUT
        assert import_documents(project, [], [], stories=True) == []
        assert len(project.documents.all()) == 12  # and not again
    with Project(tmp_path / "empty") as project:
        assert import_documents(project, [], []) == []
        assert project.documents.all() == []


def test_unreadable_files_are_listed_and_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.jsonl"
    good.write_text("Anna came. She sang.")
    bad.write_text("{nonsense\n")
    with Project(tmp_path / "project") as project:
        notices = import_documents(project, [good, bad, tmp_path / "none.txt"], [])
        assert [entry.name for entry in project.documents.all()] == ["good"]
    assert len(notices) == 2
    said = capsys.readouterr().err
    assert "bad.jsonl was skipped" in said
    assert "no such file" in said


def test_a_file_that_changed_since_is_told(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("Anna came.")
    with Project(tmp_path / "project") as project:
        import_documents(project, [text], [])
        assert import_documents(project, [], []) == []
        text.write_text("Bert came.")
        for paths in ([], [text]):
            notices = import_documents(project, paths, [])
            assert len(notices) == 1
            assert "has changed since" in notices[0]
        text.unlink()
        assert import_documents(project, [], []) == []
        assert project.documents.get(1).tokens[0] == "Anna"


def test_export(folder: Path, tmp_path: Path) -> None:
    for name in ("out.jsonl", "out.conll", "report.html", "provenance.json"):
        result = runner.invoke(app, ["export", str(tmp_path / name), "--project", str(folder), "--lossy"])
        assert result.exit_code == 0, (name, result.output, result.exception)
    assert len(list(formats.read(tmp_path / "out.jsonl"))) == 9
    assert json.loads((tmp_path / "provenance.json").read_text("utf-8"))["documents"]
    assert (tmp_path / "report.html").read_text("utf-8").startswith("<!doctype html>")
    only = ["export", str(tmp_path / "one.jsonl"), "--project", str(folder), "--only", "answered"]
    assert runner.invoke(app, only).exit_code == 0
    assert len(list(formats.read(tmp_path / "one.jsonl"))) == 1


def test_what_is_no_project(tmp_path: Path) -> None:
    for command in (["export", "x.jsonl"], ["times"]):
        result = runner.invoke(app, [*command, "--project", str(tmp_path / "none")])
        assert isinstance(result.exception, InputError)
        assert "not a project" in str(result.exception)
    assert not (tmp_path / "none").exists()


def test_times(folder: Path) -> None:
    result = runner.invoke(app, ["times", "--project", str(folder), "--json"])
    found = json.loads(result.stdout)
    assert found["cost"] == {
        "initial": 15.96,
        "follow_up": 15.57,
        "follow_up_alone": 28.01,
        "group_mention": 2.0,
        "mention": 8.0,
    }
    assert {row["name"] for row in found["times"]} >= {"Initial question", "Follow-up question"}
    shown = runner.invoke(app, ["times", "--project", str(folder), "--no-set"])
    assert "15.96 s" in shown.stdout


def test_inviting_and_revoking(folder: Path) -> None:
    made = runner.invoke(app, ["invite", "Ada", "--project", str(folder), "--url", "https://a.example/"])
    assert made.stdout.startswith("https://a.example/#join=")
    listed = runner.invoke(app, ["invite", "--project", str(folder)])
    assert "Ada\tannotator\tactive" in listed.stdout
    again = runner.invoke(app, ["invite", "Ada", "--project", str(folder)])
    assert again.stdout != made.stdout
    runner.invoke(app, ["invite", "Ada", "--revoke", "--project", str(folder)])
    assert "revoked" in runner.invoke(app, ["invite", "--project", str(folder)]).stdout
    nobody = runner.invoke(app, ["invite", "Bo", "--revoke", "--project", str(folder)])
    assert isinstance(nobody.exception, InputError)


def test_not_on_another_address_without_tokens(folder: Path) -> None:
    result = runner.invoke(app, ["annotate", "--project", str(folder), "--host", "0.0.0.0", "--no-browser"])
    assert isinstance(result.exception, InputError)
    assert "corefine invite" in str(result.exception)


def test_the_owners_link_is_printed_on_a_terminal_only(folder: Path) -> None:
    with Project(folder) as project:
        project.invite("Ada")
        link = _owner_link(project, "http://127.0.0.1:8000/")
    assert stat.S_IMODE(link.page.stat().st_mode) == 0o600
    assert link.url in link.page.read_text("utf-8")
    token = link.url.partition("#join=")[2]
    assert token in _greeting("http://127.0.0.1:8000/", link, is_terminal=True)[0]
    kept = " ".join(_greeting("http://127.0.0.1:8000/", link, is_terminal=False))
    assert token not in kept
    assert str(link.page) in kept
    assert _greeting("http://127.0.0.1:8000/", None, is_terminal=False) == ["http://127.0.0.1:8000/"]


def test_the_first_invitation_says_that_the_owner_needs_one_too(folder: Path) -> None:
    first = runner.invoke(app, ["invite", "Ada", "--project", str(folder)])
    assert "corefine invite --owner" in first.stderr
    assert "--owner" not in runner.invoke(app, ["invite", "Bo", "--project", str(folder)]).stderr

"""No command ends in a traceback: one message, whatever went wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import corefine.cli
from corefine.project import Project
from corefine.project.store import documents


def corefine_command(*arguments: str | bytes, home: Path) -> tuple[int, str]:
    """Exit code and what was said on stderr."""
    command = [sys.executable, "-m", "corefine", *arguments]
    environment = {**os.environ, "COREFINE_HOME": str(home)}
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    said = done.stderr.decode(errors="replace")
    assert "Traceback" not in said, said
    return done.returncode, said


def fail_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int | str | None:
    def broken() -> None:
        raise error

    monkeypatch.setattr(corefine.cli, "app", broken)
    with pytest.raises(SystemExit) as ended:
        corefine.cli.main()
    return ended.value.code


def test_an_error_of_our_own_is_one_message_and_a_file_of_details(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COREFINE_HOME", str(tmp_path))
    assert fail_with(KeyError("no such thing"), monkeypatch) == 70
    said = capsys.readouterr().err
    (details,) = (tmp_path / "errors").iterdir()
    assert str(details) in said
    assert "Traceback" not in said
    assert "no such thing" in details.read_text("utf-8")


def test_the_system_says_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COREFINE_HOME", str(tmp_path))
    assert fail_with(OSError(30, "Read-only file system", "/mnt/project.sqlite"), monkeypatch) == 2
    assert capsys.readouterr().err == "corefine: /mnt/project.sqlite: Read-only file system\n"
    assert fail_with(MemoryError(), monkeypatch) == 2
    assert "memory" in capsys.readouterr().err


def test_training_onto_a_file(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    code, said = corefine_command("train", "stories", "--out", str(taken), home=tmp_path)
    assert (code, "it is a file" in said) == (2, True)
    assert taken.read_text() == "mine"


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_a_file_whose_name_is_not_utf8(tmp_path: Path) -> None:
    good, bad = (os.fsencode(tmp_path) + b"/" + name for name in (b"caf\xe9.txt", b"caf\xe9.jsonl"))
    Path(os.fsdecode(good)).write_text("Anna came. She sang.")
    Path(os.fsdecode(bad)).write_text("{nonsense")
    out = tmp_path / "out.jsonl"
    assert corefine_command("convert", good, str(out), home=tmp_path)[0] == 0
    assert json.loads(out.read_text("utf-8"))["doc_key"] == "caf\N{REPLACEMENT CHARACTER}"
    assert corefine_command("check", bad, home=tmp_path)[0] == 1
    with Project(tmp_path / "project") as project:
        paths = [Path(os.fsdecode(good)), Path(os.fsdecode(bad))]
        found = project.writer.write(lambda connection: documents.import_paths(connection, paths))
        assert len(found.added) == 1
        assert all(notice.encode() for notice in found.notices)
        assert len(found.notices) == 1


def test_a_project_where_nothing_can_be_written(tmp_path: Path) -> None:
    with Project(tmp_path / "project"):
        pass
    (tmp_path / "project" / "server.lock").mkdir()  # stands for a file system that lets nobody write
    code, said = corefine_command("annotate", "--no-browser", "--project", str(tmp_path / "project"), home=tmp_path)
    assert (code, "cannot be written" in said) == (2, True)


def test_typers_own_errors_stay_what_they_are(tmp_path: Path) -> None:
    assert corefine_command("no-such-command", home=tmp_path)[0] == 2
    assert isinstance(corefine.cli.app, typer.Typer)

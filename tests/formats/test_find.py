"""Which files a path, a folder or a glob means: one answer for every command and for the annotation app."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corefine.cli import app
from corefine.corpora import load_corpus
from corefine.errors import InputError
from corefine.formats import find_files
from corefine.project import Project
from corefine.project.store import documents

GOLD = "#begin document (gold); part 000\nx 0 0 Ann (1)\n#end document\n"
AUTO = GOLD.replace("gold", "auto")
READ = ["deep/pair.ann.gz", "deep/plain.txt", "news.v4_gold_conll", "only.v4_auto_conll"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with everything that was once found by one command and not by another."""
    folder = tmp_path / "corpus"
    (folder / "deep").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "news.v4_gold_conll").write_text(GOLD)
    (folder / "news.v4_auto_conll.gz").write_bytes(gzip.compress(AUTO.encode()))
    (folder / "only.v4_auto_conll").write_text(AUTO)
    (folder / "deep" / "pair.txt").write_text("Ann ran.")
    (folder / "deep" / "pair.ann.gz").write_bytes(gzip.compress(b"T1\tPerson 0 3\tAnn\n"))
    (folder / "deep" / "plain.txt").write_text("Bo sat.")
    (folder / "notes.md").write_text("not a document")
    (folder / ".hidden.jsonl").write_text("not a document")
    (folder / ".git" / "old.conll").write_text(GOLD)
    return folder


def found(*wheres: Path, format: str | None = None, below: Path) -> list[str]:
    return [file.path.relative_to(below).as_posix() for file in find_files(wheres, format)]


def test_a_folder(folder: Path) -> None:
    assert found(folder, below=folder) == READ
    assert [file.relative.as_posix() for file in find_files([folder])] == READ


def test_every_command_reads_the_same_files(folder: Path, tmp_path: Path) -> None:
    names = ["auto", "gold", "pair", "plain"]
    assert sorted(document.name for document in load_corpus(folder).train) == names
    for command in (["check", str(folder)], ["score", str(folder), str(folder), "--json"]):
        assert CliRunner().invoke(app, command).exit_code == 0
    assert "in 4 files, 4 documents" in CliRunner().invoke(app, ["check", str(folder)]).stderr
    with Project(tmp_path / "project") as project:
        imported = project.writer.write(lambda connection: documents.import_paths(connection, [folder]))
        assert sorted(entry.name for entry in project.documents.all()) == names
    assert [(Path(file).name, reason) for file, reason in imported.skipped] == [
        ("notes.md", "its ending is that of no known format")
    ]


def test_a_glob_means_what_it_means_in_a_shell(folder: Path) -> None:
    assert found(folder / "**" / "*.*", below=folder) == sorted([*READ, "notes.md"])
    assert found(folder / "*_auto_conll", below=folder) == ["only.v4_auto_conll"]
    assert found(folder / "d*", below=folder) == READ[:2]
    assert found(folder / ".git" / "*", below=folder) == [".git/old.conll"]


def test_files_that_are_named_are_taken(folder: Path) -> None:
    for name in ("news.v4_auto_conll.gz", "notes.md", ".hidden.jsonl", "deep/pair.txt"):
        assert found(folder / name, folder / name, below=folder) == [name]
    pair = folder / "deep" / "pair.txt", folder / "deep" / "pair.ann.gz"
    assert found(*pair, below=folder) == ["deep/pair.ann.gz"]  # as a shell gives them for deep/*


def test_a_format_that_is_named(folder: Path) -> None:
    assert found(folder, format="text", below=folder) == ["deep/pair.txt", "deep/plain.txt"]
    assert found(folder, format="brat", below=folder) == ["deep/pair.ann.gz"]
    assert found(folder, format="jsonl", below=folder) == ["notes.md"]  # no .jsonl here, so it must be the others


def test_nothing_there(folder: Path) -> None:
    for where in (folder / "none.conll", folder / ("n" * 500), folder / ".git" / "*.jsonl"):
        with pytest.raises(InputError, match=r"no such file|no file of a known format"):
            find_files([where])
    told: list[tuple[str, str]] = []
    assert find_files([folder / "none"], on_skip=lambda path, reason: told.append((path.name, reason))) == []
    assert told == [("none", f"{folder / 'none'}: there is no such file or folder")]

"""Documents of a project, and what is said of files that cannot be read."""

from __future__ import annotations

from pathlib import Path

from corefine.corpora import stories
from corefine.project import Project
from corefine.project.store import documents
from helpers.projects import fill


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

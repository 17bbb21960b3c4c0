"""Exports: one bad document keeps no other from being written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from corefine import formats
from corefine.corpora import stories
from corefine.project import Project
from corefine.project.learning.training import Lesson
from corefine.project.results.agreement import Agreement, agreement
from corefine.project.results.disagreement import disagreements
from corefine.project.results.export import export
from corefine.project.store import documents, schema
from helpers.projects import Browser, serve


@pytest.mark.parametrize("kind", ["conll", "jsonl", "conllu", "brat", "text", "provenance"])
def test_a_damaged_text_is_left_out_and_named(sqlite_project: Project, tmp_path: Path, kind: str) -> None:
    damage(sqlite_project, 2, content='{"name": "x", "sent')
    made = export(sqlite_project, tmp_path / "out", kind, lossy=True)
    assert [name for name, _ in made.skipped] == [sqlite_project.documents.all()[1].key]
    assert str(sqlite_project.folder) not in str(made.skipped)


def test_details_that_cannot_be_written_are_left_out_and_named(sqlite_project: Project, tmp_path: Path) -> None:
    text = sqlite_project.documents.get(3)
    broken = replace(text, extra={"conllu": {"comments": 7, "rows": [["x"]], "nodes": "?"}})
    damage(sqlite_project, 3, content=formats.FORMATS["jsonl"].files[".jsonl"](broken))
    made = export(sqlite_project, tmp_path / "out.conllu", lossy=True)
    written = [document.name for document in formats.read(tmp_path / "out.conllu")]
    assert len(written) + len(made.skipped) == 3
    assert len(written) >= 2


def test_long_names_of_any_script_are_written(sqlite_project: Project, tmp_path: Path) -> None:
    story = stories.load()[0]
    for last in "ab":
        named = replace(story, name="長" * 300 + last)
        sqlite_project.writer.write(lambda connection, named=named: documents.add(connection, named))  # type: ignore[misc]
    made = export(sqlite_project, tmp_path / "out", "brat", lossy=True)
    assert not made.skipped
    assert len(list((tmp_path / "out").glob("長*.ann"))) == 2


def test_a_truncated_prediction_is_made_again_and_stops_nothing(sqlite_project: Project, tmp_path: Path) -> None:
    path = sqlite_project.predictions.path(1, 1)
    path.write_bytes(path.read_bytes()[:500])
    assert not export(sqlite_project, tmp_path / "out.jsonl").skipped
    assert not path.exists()
    with serve(sqlite_project) as client:
        browser = Browser(client)
        assert browser.get("next?document=1")["state"] == "preparing"
        assert browser.get("next?document=2")["state"] == "question"


def test_a_log_that_cannot_be_replayed_stops_no_other_document(sqlite_project: Project) -> None:
    with serve(sqlite_project) as client:
        browser = Browser(client)
        for document in (1, 2):
            browser.answer(browser.get(f"next?document={document}")["question"], {"reply": "unsure"})
        events = update(schema.events).where(schema.events.c.document_id == 1).values(event='{"event": "answ')
        sqlite_project.writer.write(lambda connection: connection.execute(events).rowcount)
    with serve(sqlite_project) as client:
        browser = Browser(client)
        assert browser.get("next")["document"] == 2
        assert [entry["document"] for entry in browser.get("history")["entries"]] == [2]
        assert browser.get("next?document=1", status=409)["error"]["kind"] == "damaged"
        assert browser.get("adjudication")["differences"] == []
        assert len(client.get("/api/export?format=jsonl").text.splitlines()) == 2
        assert any("left out" in notice for notice in browser.get("me")["notices"])
    assert agreement(sqlite_project) == Agreement([], [])
    assert disagreements(sqlite_project) == []
    labels = Lesson.of(sqlite_project).labels
    assert sqlite_project.documents.get(1).name not in [each.document.name for each in labels]


def damage(project: Project, number: int, **values: str) -> None:
    change = update(schema.documents).where(schema.documents.c.id == number).values(values)
    project.writer.write(lambda connection: connection.execute(change).rowcount)

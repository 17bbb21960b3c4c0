"""Somebody new is introduced; entities confirmed, documents reviewed; exports of some; backups; through the API."""

from __future__ import annotations

import io
from typing import Any

import pytest

from corefine import formats
from corefine.annotation.question import span_from_json
from corefine.document import Cluster, Document
from corefine.project import Project
from corefine.project.store import predictions
from corefine.project.store.predictions import EMPTY
from helpers.projects import Browser, another, new_id


@pytest.fixture
def project(sqlite_project: Project) -> Project:
    return sqlite_project


def test_who_is_invited_is_introduced_once(browser: Browser) -> None:
    assert not browser.get("me")["new"], "the owner knows the work"
    link = browser.post("people", {"name": "Ada"})["link"]
    ada = another(browser)
    assert ada.join(link)["new"]
    assert ada.post("me", {"name": "  Ada\tKing "})["person"]["name"] == "Ada King"
    assert "already" in ada.post("me", {"name": "owner"}, status=400)["error"]["message"]
    assert not ada.post("me", {"introduced": True})["new"]
    again = another(browser)
    assert not again.join(link)["new"]
    assert [person["name"] for person in browser.get("people")] == ["owner", "Ada King"]


def test_an_entity_is_confirmed_and_a_document_reviewed(browser: Browser) -> None:
    def edit(**fields: Any) -> Any:
        return browser.client.post("/api/edits", json={"client_id": new_id(), "document": 1, "edit": fields})

    entity = next(each for each in browser.get("documents/1/entities")["entities"] if len(each["mentions"]) > 2)
    assert not entity["confirmed"]
    done = edit(kind="confirm", mention=entity["mentions"][1]["span"]).json()
    after = next(each for each in done["entities"]["entities"] if each["id"] == entity["id"])
    assert after["confirmed"]
    assert {mention["source"] for mention in after["mentions"]} == {"human"}
    twice = edit(kind="confirm", mention=entity["mentions"][0]["span"])
    assert (twice.status_code, twice.json()["error"]["kind"]) == (422, "answer")
    browser.post("undo", {"client_id": new_id()})
    assert not any(each["confirmed"] for each in browser.get("documents/1/entities")["entities"])

    assert not browser.get("documents/1")["reviewed"]
    browser.post("documents/1/reviewed", {"reviewed": True})
    assert browser.get("documents/1")["reviewed"]
    ada = another(browser)
    ada.join(browser.post("people", {"name": "Ada"})["link"])
    browser.get("next?document=1")
    ada.post("documents/1/reviewed", {"reviewed": False}, status=409)
    ada.post("documents/2/reviewed", {"reviewed": True})
    assert [row["reviewed"] is not None for row in browser.get("documents")] == [True, True, False]


def test_a_backup_is_restored_in_place(browser: Browser, project: Project) -> None:
    question = browser.get("next")["question"]
    browser.answer(question, {"same": True})
    kept = browser.client.get("/api/backup").content
    browser.send("PATCH", "documents", {"documents": [2, 3], "trashed": True})
    browser.post("undo", {"client_id": new_id()})
    assert browser.client.post("/api/restore", content=b"PK nonsense").status_code == 400
    assert len(browser.get("documents")) == 1, "nothing was changed"
    result = browser.client.post("/api/restore", content=kept).json()
    assert result["documents"] == 3
    assert (project.folder / result["kept"]).is_file()
    assert [entry["stands"] for entry in browser.get("history")["entries"]] == [True]
    assert browser.get("trash") == []


def test_exports_of_some_documents_and_of_what_people_said(browser: Browser) -> None:
    def exported(query: str, status: int = 200) -> list[Document]:
        response = browser.client.get(f"/api/export?format=jsonl&{query}")
        assert response.status_code == status, response.text
        return list(formats.read(io.BytesIO(response.content), "jsonl")) if status == 200 else []

    question = browser.get("next?document=2")["question"]
    browser.answer(question, {"same": False, "reply": "first", "span": question["mention"]})
    exported("only=reviewed", status=400)
    browser.post("documents/2/done", {"done": True})
    browser.post("documents/3/reviewed", {"reviewed": True})
    names = [row["name"] for row in browser.get("documents")]
    assert [document.name for document in exported("only=finished")] == names[1:2]
    assert [document.name for document in exported("only=reviewed")] == names[2:]
    said = exported("said=true")
    mention = span_from_json(question["mention"])
    assert [document.clusters for document in said] == [(), ((mention,),), ()], "alone, but kept"
    assert all(document.clusters for document in exported("only=all"))


def test_what_was_reviewed_stays_when_a_new_model_comes(browser: Browser, project: Project) -> None:
    def exported(number: int) -> tuple[Cluster, ...]:
        response = browser.client.get("/api/export?format=jsonl")
        return list(formats.read(io.BytesIO(response.content), "jsonl"))[number - 1].clusters

    def shown(number: int) -> list[list[Any]]:
        entities = browser.get(f"documents/{number}/entities")["entities"]
        return [[mention["span"] for mention in entity["mentions"]] for entity in entities]

    before = [(shown(number), exported(number)) for number in (1, 2, 3)]
    for entities, clusters in before:
        assert entities == [[list(span) for span in cluster] for cluster in clusters], "what is shown is exported"
    browser.post("documents/1/reviewed", {"reviewed": True})
    browser.send("PATCH", "documents", {"documents": [2], "reviewed": True})
    number = project.writer.write(lambda connection: predictions.add_version(connection, "new", predictions.TRAINED))
    for document in (1, 2, 3):
        project.predictions.save(number, document, EMPTY)
    browser.context.workspaces._looked_at = -10.0
    assert [(shown(number), exported(number)) for number in (1, 2)] == before[:2]
    assert exported(3) == ()
    browser.post("documents/1/reviewed", {"reviewed": False})
    browser.context.workspaces._looked_at = -10.0
    assert exported(1) == ()


def test_undoing_an_edit_leaves_a_document_done(browser: Browser) -> None:
    browser.answer(browser.get("next?document=1")["question"], {"same": True})
    browser.post("documents/1/done", {"done": True})
    entity = next(each for each in browser.get("documents/1/entities")["entities"] if len(each["mentions"]) > 2)
    edit = {"kind": "confirm", "mention": entity["mentions"][1]["span"]}
    browser.post("edits", {"client_id": new_id(), "document": 1, "edit": edit})
    browser.post("undo", {"client_id": new_id()})
    assert browser.get("documents")[0]["done_by"] == [1]
    browser.post("undo", {"client_id": new_id()})
    assert browser.get("documents")[0]["done_by"] == [], "its question is open again"

"""What the owner notes about documents, through the API."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corefine.corpora import stories
from corefine.formats import jsonl
from corefine.models import rules
from corefine.project import Project
from corefine.project.work.workspaces import Workspaces
from helpers.projects import Browser, another, change, golds, new_id, serve


def named(browser: Browser) -> dict[str, dict[str, object]]:
    return {row["name"]: row for row in browser.get("documents")}


def patch(browser: Browser, *documents: object, status: int = 200, **change: object) -> dict[str, object]:
    found: dict[str, object] = browser.send("PATCH", "documents", {"documents": documents, **change}, status)
    return found


def test_documents_are_renamed_tagged_and_reviewed(browser: Browser, project: Project) -> None:
    first, second, _ = (row["id"] for row in browser.get("documents"))
    patch(browser, first, name="  The harbour\tat night ")
    assert next(iter(named(browser))) == "The harbour at night"
    assert project.documents.get(first).name == "The harbour at night", "every export has it"
    assert "already" in str(patch(browser, second, name="The harbour at night", status=400))
    assert "one document" in str(patch(browser, first, second, name="both", status=400))
    patch(browser, first, second, add_tags=["fiction", "sea"], reviewed=True)
    patch(browser, first, remove_tags=["sea"])
    rows = browser.get("documents")
    assert [row["tags"] for row in rows] == [["fiction"], ["fiction", "sea"], []]
    assert [row["reviewed"] is None for row in rows] == [False, False, True]
    patch(browser, second, reviewed=False)
    assert browser.get("documents")[1]["reviewed"] is None
    patch(browser, first, 999, add_tags=["new"], status=400)
    assert browser.get("documents")[0]["tags"] == ["fiction"], "all or none"


def test_a_document_in_the_trash_is_nowhere_and_comes_back_with_its_answers(browser: Browser, project: Project) -> None:
    change(project, budget_questions=4)
    browser.context.workspaces = Workspaces(project)
    browser.annotate(golds(project), most=6)
    first, second, _ = (row["id"] for row in browser.get("documents"))
    assert browser.get("dashboard")["documents"] == 3
    patch(browser, first, trashed=True)
    assert first not in [row["id"] for row in browser.get("documents")]
    browser.get(f"documents/{first}", status=404)
    browser.get(f"next?document={first}", status=404)
    assert browser.get("next")["document"] == second
    assert browser.get("dashboard")["documents"] == 2
    assert {entry["document"] for entry in browser.get("history")["entries"]} == {second}
    trash = browser.get("trash")
    assert [(row["id"], row["answers"]) for row in trash] == [(first, 4)]
    for _ in range(2):
        assert browser.post("undo", {"client_id": f"undo-number-{_}"})["document"] == second
    assert "nothing to undo" in str(browser.post("undo", {"client_id": "undo-number-3"}, status=409))
    patch(browser, first, trashed=False)
    assert browser.get("trash") == []
    row = browser.get("documents")[0]
    assert (row["id"], row["answers"], row["state"]) == (first, 4, "done")


def test_a_document_for_certain_people_is_theirs(browser: Browser) -> None:
    ada, ben = another(browser), another(browser)
    links = {name: browser.post("people", {"name": name}) for name in ("Ada", "Ben")}
    ada.join(links["Ada"]["link"])
    ben.join(links["Ben"]["link"])
    ids = [row["id"] for row in browser.get("documents")]
    both = [links[name]["person"]["id"] for name in ("Ada", "Ben")]
    patch(browser, ids[2], assigned=both)
    patch(browser, ids[1], assigned=both[:1])
    assert ada.get("next")["document"] == ids[1], "what is for her comes first"
    assert ben.get("next")["document"] == ids[2]
    assert ada.get(f"next?document={ids[2]}")["question"], "it is for both"
    assert ben.get("documents")[1]["state"] == "taken"
    ben.get(f"next?document={ids[1]}", status=409)
    browser.get(f"next?document={ids[2]}", status=409)
    row = browser.get("documents")[2]
    assert (row["assigned"], row["begun_by"]) == (both, [both[1], both[0]])
    patch(browser, ids[1], assigned=[])
    assert browser.get("documents")[1]["state"] == "taken", "Ada is at it"
    assert "not in the project" in str(patch(browser, ids[0], assigned=[999], status=400))
    ada.send("PATCH", "documents", {"documents": ids, "trashed": True}, 403)


def test_a_file_that_is_there_already_is_named(browser: Browser) -> None:
    def send(name: str) -> dict[str, object]:
        found = browser.client.post(f"/api/documents?wait=600&name={name}", content=b"Bo slept. He woke.").json()
        result: dict[str, object] = found["results"][0]
        return result

    added = send("bo.txt")
    assert added["added"]
    assert (send("bo.txt")["reason"], send("bo.txt")["duplicate"]) == ("it is in the project already", True)
    assert send("other.txt")["reason"] == "it is in the project already, as bo"
    patch(browser, *added["added"], trashed=True)  # type: ignore[misc]
    assert send("other.txt")["reason"] == "it is in the trash, as bo: restore it there"


def test_a_document_is_split_again_by_another_language(browser: Browser, project: Project) -> None:
    text = "王芳来了。她笑了。"
    found = browser.client.post("/api/documents?wait=600&language=en&name=wang.txt", content=text.encode()).json()
    (document,) = found["added"]
    assert named(browser)["wang"]["language"] == "English"
    patch(browser, document, add_tags=["short"])
    before = project.documents.get(document)

    def split(language: str, *documents: object, status: int = 200) -> object:
        return browser.send("PUT", "documents/language", {"documents": documents, "language": language}, status)

    story = browser.get("documents")[0]
    assert story["has_gold"]
    assert "came with entities" in str(split("zh", document, story["id"], status=400))
    assert named(browser)["wang"]["id"] == document, "all or none"
    assert "choose a language" in str(split("auto", document, status=400))
    assert "not 'klingon'" in str(split("klingon", document, status=400))
    split("zh", document)
    row = named(browser)["wang"]
    assert (row["language"], row["tags"]) == ("Chinese", ["short"])
    again = project.documents.get(int(str(row["id"])))
    assert (again.text, again.language) == (before.text, "zh")
    assert again.tokens == tuple(text)
    assert before.tokens != again.tokens
    assert [each["name"] for each in browser.get("trash")] == ["wang (English)"]
    browser.get(f"next?document={document}", status=404)
    split("fr", document, status=404)
    split("zh", row["id"])
    assert named(browser)["wang"]["id"] == row["id"], "it has this language already"


def test_marking_in_full_begins_a_document_and_imported_answers_do_not(browser: Browser, project: Project) -> None:
    story = next(iter(stories.load()))
    content = jsonl.render(replace(story, name="came with entities")).encode()
    browser.client.post("/api/documents?wait=600&annotations=answers&name=done.jsonl", content=content)
    rows = named(browser)
    assert rows["came with entities"]["state"] == "new"
    document = int(str(rows["came with entities"]["id"]))
    project.predictions.save(1, document, rules.predict(story))
    browser.context.workspaces = Workspaces(project)
    edit = {"kind": "complete", "sentences": [0]}
    browser.post("full", {"client_id": new_id(), "document": document, "edit": edit})
    assert named(browser)["came with entities"]["state"] == "open"


def test_an_empty_project_offers_the_stories(tmp_path: object) -> None:
    with Project(tmp_path / "project") as project, serve(project) as client:  # type: ignore[operator]
        browser = Browser(client)
        assert browser.get("next")["state"] == "empty"
        assert len(browser.post("stories")["added"]) == len(stories.load())
        assert len(browser.get("documents")) == len(stories.load()) - stories.HELD_OUT


@pytest.fixture
def project(sqlite_project: Project) -> Project:
    return sqlite_project

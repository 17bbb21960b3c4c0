"""One document that is damaged, in whatever way, blocks no other and no page; nobody sees a bare error."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from corefine.corpora import stories
from corefine.project import Project
from corefine.project.learning import training
from corefine.project.learning.worker import Worker
from corefine.project.store import people
from corefine.project.upkeep.checking import check
from corefine.project.upkeep.repairing import repair
from helpers.projects import Browser, another, change, fill, new_id, serve

BAD, HELD_OUT = 1, 5
DEEP = "[" * 100_000
EVENTS = ('{"ev', "5", "[1]", "{}", "null", '{"event": "answer"}', '{"number": "x", "antecedent": 7, "same": 3}', DEEP)
TEXTS = ('{"na', "", "5", "{}", '{"doc_key": "x", "tokens": [1]}', DEEP)
DAMAGES = {
    **{f"event {n}": ("UPDATE events SET event = ? WHERE document_id = 1", text) for n, text in enumerate(EVENTS)},
    **{f"outcome {n}": ("UPDATE events SET outcome = ? WHERE document_id = 1", text) for n, text in enumerate(EVENTS)},
    **{f"text {n}": ("UPDATE documents SET content = ? WHERE id = 1", text) for n, text in enumerate(TEXTS)},
    **{f"held out {n}": ("UPDATE documents SET content = ? WHERE id = 5", text) for n, text in enumerate(TEXTS[:2])},
    **{f"decision {n}": ("UPDATE decisions SET decision = ?", text) for n, text in enumerate(EVENTS[:5])},
    "decided mention": ("UPDATE decisions SET mention = ?", "[5"),
    "decision elsewhere": ("UPDATE decisions SET mention = ?", "[90000, 90001]"),
    "tags": ("UPDATE document_notes SET tags = ? WHERE document_id = 1", "["),
    "assigned": ("UPDATE document_notes SET assigned = ? WHERE document_id = 1", '{"a": 1'),
    "gap": ("DELETE FROM events WHERE document_id = ? AND place = 2", "1"),
    "kind": ("UPDATE events SET kind = ? WHERE document_id = 1", "what"),
}
FEW = {"event 0", "event 5", "outcome 0", "text 0", "held out 0", "decision 0", "tags", "gap"}
"""Those of the normal run."""
CASES = [
    pytest.param(damage, id=name, marks=() if name in FEW else pytest.mark.nightly) for name, damage in DAMAGES.items()
]


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five stories, one of them held out; two people have answered about three, and the owner has decided."""
    folder = tmp_path_factory.mktemp("answered") / "project"
    with Project(folder) as project:
        fill(project, stories.load()[:HELD_OUT])
        change(project, overlap=1.0, overlap_people=2, model="rules", retrain_every=0)
        with project.database.write() as connection:
            connection.exec_driver_sql(f"UPDATE documents SET held_out = 1 WHERE id = {HELD_OUT}")
        with serve(project) as client:
            owner = Browser(client)
            owner.get("me")
            link = owner.post("people", {"name": "Bo"})["link"]
            bo = another(owner)
            bo.join(link)
            for who in (owner, bo):
                for document in (1, 2, 3):
                    for answer in ({"same": True}, {"same": False, "reply": "unsure"}, {"reply": "unsure"}):
                        who.answer(who.get(f"next?document={document}")["question"], answer)
            decision = {"mention": False, "first": None}
            owner.post("adjudication", {"document": BAD, "mention": [0, 0], "decision": decision})
            owner.send("PATCH", "documents", {"documents": [BAD], "add_tags": ["odd"]})
    return folder


@pytest.fixture
def project(tmp_path: Path, answered: Path, request: pytest.FixtureRequest) -> Iterator[Project]:
    shutil.copytree(answered, tmp_path / "project")
    statement, value = request.param
    with closing(sqlite3.connect(tmp_path / "project" / "project.sqlite")) as connection:
        assert connection.execute(statement, (value,)).rowcount > 0
        connection.commit()
    with Project(tmp_path / "project") as made:
        yield made


def reads(app: object) -> Iterator[tuple[str, bool]]:
    """Every address that can be read, and whether it is about the damaged document."""
    assert isinstance(app, FastAPI)
    for path, methods in app.openapi()["paths"].items():
        if "get" not in methods or path == "/api/uploads/{upload_id}":
            continue
        if path == "/api/export":
            for kind in ("jsonl", "conll", "provenance", "report"):
                yield f"{path}?format={kind}", False
                yield f"{path}?format={kind}&said=true", False
        elif "{document_id}" in path:
            for document in (BAD, 2):
                yield path.format(document_id=document), document == BAD
        else:
            yield path, False
    yield "/api/next?document=2", False
    yield f"/api/next?document={BAD}", True
    yield f"/api/documents/{HELD_OUT}", True


@pytest.mark.parametrize("project", CASES, indirect=True)
def test_a_damaged_document_stops_nothing_else(project: Project) -> None:
    with serve(project, open=False) as client:
        owner = Browser(client)
        person = project.owner()
        owner.join(f"#join={project.writer.write(lambda connection: people.token_for_once(connection, person))}")
        wrong = []
        for path, is_its_own in reads(client.app):
            response = client.get(path)
            good = response.status_code in ((200, 404, 409, 503) if is_its_own else (200,))
            if not good or str(project.folder) in response.text:
                wrong.append(f"{path}: {response.status_code} {response.text[:200]}")
        assert not wrong, "\n".join(wrong)
        answers_elsewhere(owner)
    works(project)


def answers_elsewhere(owner: Browser) -> None:
    assert isinstance(owner.client, TestClient)
    state = owner.get("next")
    seen = 0
    while seen < 3:
        assert state["state"] in ("question", "document-done"), state
        if state["state"] == "question" and state["question"]["document"] != BAD:
            seen += 1
        if state["state"] == "question":
            state = owner.answer(state["question"], {"reply": "unsure"})["next"]
        else:
            state = owner.get("next")
    owner.post("undo", {"client_id": new_id()})
    owner.post("study", {"minutes": 5, "documents": 4, "questions": 4})


def works(project: Project) -> None:
    """The background process goes on, and after a repair nothing is wrong that a repair can mend."""
    shutil.rmtree(project.predictions.folder)
    worker = Worker(project)
    worker.settle()
    with project.database.read() as connection:
        version = connection.exec_driver_sql("SELECT max(id) FROM versions").scalar_one()
    assert all(project.predictions.exists(version, document) for document in (2, 3, 4))
    assert training.Lesson.of(project).labels
    repair(project)
    left = {finding.kind for finding in check(project)}
    assert left <= {"document"}, check(project)

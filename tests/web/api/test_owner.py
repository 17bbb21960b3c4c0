"""What the project's owner does, through the API."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from sqlalchemy import insert, update

from corefine import formats
from corefine.document import Span
from corefine.project import Project
from corefine.project.learning import training
from corefine.project.learning.worker import Worker
from corefine.project.store import predictions, schema
from corefine.project.work.workspaces import Workspaces
from helpers.projects import Browser, another, change, gold_answer, golds, new_id


@pytest.fixture
def pair(browser: Browser, project: Project) -> tuple[Browser, Browser]:
    """The owner and Ada, who share every document."""
    change(project, overlap=1.0, budget_questions=6)
    browser.context.workspaces = Workspaces(project)
    ada = another(browser)
    ada.join(browser.post("people", {"name": "Ada"})["link"])
    return browser, ada


def test_two_who_say_the_same_agree(pair: tuple[Browser, Browser], project: Project) -> None:
    for one in pair:
        one.annotate(golds(project))
    found = pair[0].get("agreement")
    assert [each["name"] for each in found["total"]] == ["all documents"]
    total = found["total"][0]
    assert (total["kappa"], total["muc"], total["b3"], total["ceafe"], total["lea"]) == (
        1.0,
        100.0,
        100.0,
        100.0,
        100.0,
    )
    assert (total["same"], total["said"]) == (1.0, 100.0)
    assert len(found["documents"]) == 3
    assert pair[0].get("adjudication") == {"differences": [], "open": 0}


def test_who_differs_is_adjudicated_and_the_decision_outweighs(pair: tuple[Browser, Browser], project: Project) -> None:
    owner, ada = pair
    question = owner.get("next")["question"]
    gold = gold_answer(golds(project)[1], question)
    owner.answer(question, {"same": True})
    mention = question["mention"]
    assert ada.get("next")["question"]["mention"] == mention
    ada.answer(ada.get("next")["question"], {"same": False, "reply": "first", "span": mention})
    total = owner.get("agreement")["total"][0]
    assert total["questions"] == 1
    assert total["kappa"] == 0.0
    assert (total["same"], total["said"]) == (0.0, 0.0), "although the model completes both"
    assert total["conll"] > 50.0
    found = owner.get("adjudication")
    assert found["open"] == 1
    difference = found["differences"][0]
    assert difference["mention"] == mention
    firsts = {version["person"]: version["first"] for version in difference["versions"]}
    assert firsts == {"owner": question["antecedent"], "Ada": mention}
    body = {"document": 1, "mention": mention, "decision": {"mention": True, "first": mention}}
    assert owner.post("adjudication", body)["open"] == 0
    exported = {document.name: document for document in documents_of(owner)}
    story = exported[project.documents.get(1).name]
    pair_of = {Span(*mention), Span(*question["antecedent"])}
    assert not any(pair_of <= set(cluster) for cluster in story.clusters)
    assert gold is not None
    assert owner.post("adjudication", {**body, "decision": None})["open"] == 1
    late = {**body, "decision": {"mention": True, "first": [mention[0] + 1, mention[1] + 1]}}
    assert owner.post("adjudication", late, status=422)["error"]["kind"] == "outside"
    ada.post("adjudication", body, status=403)


def documents_of(browser: Browser) -> list[Any]:
    response = browser.client.get("/api/export?format=jsonl")
    return list(formats.read(io.BytesIO(response.content), "jsonl"))


def test_nobody_answers_what_another_is_answering(browser: Browser, project: Project) -> None:
    people = [browser]
    for name in ("Ada", "Bo"):
        people.append(another(browser))
        people[-1].join(browser.post("people", {"name": name})["link"])
    assert [one.get("next")["document"] for one in people] == [1, 2, 3]
    late = another(browser)
    late.join(browser.post("people", {"name": "Cy"})["link"])
    assert late.get("next")["state"] == "all-done"
    with project.database.write() as connection:
        connection.execute(
            update(schema.assignments).where(schema.assignments.c.document_id == 2).values(lease_until=0.0)
        )
    assert late.get("next")["document"] == 2
    assert people[1].get("next")["state"] == "all-done"
    with project.database.write() as connection:  # a clock that was set back: leases from the future do not hold
        connection.execute(update(schema.assignments).values(lease_until=9e12, done=False))
    browser.context.workspaces = Workspaces(project)
    assert late.get("next?document=3")["state"] == "question"


def test_the_dashboard(browser: Browser, project: Project) -> None:
    question = browser.get("next")["question"]
    question = browser.answer(question, {"same": True}, timing={"initial": 30.0})["next"]["question"]
    browser.answer(question, {"same": False, "reply": "unsure"}, timing={"initial": 20.0, "follow_up": 10.0})
    board = browser.get("dashboard")
    assert (board["answers"], board["documents"], board["documents_done"]) == (2, 3, 0)
    assert board["hours"] == pytest.approx(60 / 3600)
    assert board["questions_per_hour"] == pytest.approx(120)
    assert board["curve"][0]["accepted"] == 0.5
    assert board["people"][0]["answers"] == 2
    assert board["training"]["state"] == "stopped"  # there is no worker here
    assert browser.get("training")["answers_since"] == 2
    assert project.name in browser.client.get("/api/report").text


@pytest.mark.parametrize("state", get_args(schema.WorkerState))
def test_whatever_the_worker_does_is_told(browser: Browser, project: Project, state: schema.WorkerState) -> None:
    Worker(project).report(state)
    assert browser.get("training")["state"] == browser.get("dashboard")["training"]["state"] == state


def test_training_that_fails_is_told_and_harms_nothing(
    browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> float:
        raise RuntimeError("out of luck")

    worker = Worker(project)
    worker._unusable = project.settings.model
    monkeypatch.setattr(training, "_run", fail)
    browser.annotate(golds(project), most=3)
    before = browser.get("next")
    browser.post("training")
    worker.settle()
    status = browser.get("training")
    assert status["state"] == "failed"
    assert "out of luck" in status["message"]
    assert browser.get("next")["question"] == before["question"]
    assert browser.get("status")["version"] == before["model"]["version"]
    with project.database.read() as connection:
        assert [version.state for version in predictions.all_versions(connection)] == ["ready", "failed"]


def test_training_begins_by_itself_and_not_twice_for_the_same_answers(
    browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(project, retrain_every=3)
    runs = []
    monkeypatch.setattr(training, "_run", lambda *_: runs.append(1) or 50.0)
    monkeypatch.setattr(Worker, "_read_one", lambda *_: False)
    worker = Worker(project)
    worker._unusable = project.settings.model
    browser.annotate(golds(project), most=9)
    worker.settle()
    assert not runs, "nine answers are too few to learn from"
    browser.annotate(golds(project), most=1)
    worker.settle()
    worker.settle()
    assert len(runs) == 1
    browser.annotate(golds(project), most=2)
    worker.settle()
    assert len(runs) == 1
    browser.annotate(golds(project), most=1)
    worker.settle()
    assert len(runs) == 2
    assert browser.get("dashboard")["curve"][-1]["f1"] == 50.0


def test_training_that_was_killed_is_begun_again_but_not_for_ever(browser: Browser, project: Project) -> None:
    browser.annotate(golds(project), most=training.FEWEST_ANSWERS)
    Worker(project)
    for time in range(2):
        assert training.is_due(project) == (time == 1)
        project.writer.write(
            lambda connection: predictions.add_version(
                connection, "x", predictions.TRAINED, state=predictions.TRAINING, answers=10
            )
        )
        Worker(project)  # finds it unfinished
    assert not training.is_due(project)
    change(project, retrain_every=3)
    browser.annotate(golds(project), most=2)
    assert not training.is_due(project)
    browser.annotate(golds(project), most=1)
    assert training.is_due(project), "there are as many new answers as usual"
    change(project, retrain_every=0)
    assert not training.is_due(project)
    training.request(project)
    assert training.is_due(project)


def test_a_committee_that_chooses_questions(browser: Browser, project: Project, tmp_path: Path) -> None:
    """The votes choose once the committee has read a document; until then the first model alone does."""
    (tmp_path / "committee.json").write_text("{}", "utf-8")
    settings = browser.get("settings")
    chosen = {**settings, "selector": "committee", "model": str(tmp_path)}
    assert browser.send("PUT", "settings", chosen)["selector"] == "committee"
    alone = browser.get("next?document=1")["question"]
    assert alone["why"]["selector"] == "committee"
    rows = project.predictions.load(1, 2)
    one = np.zeros_like(rows.probabilities)
    one[:, 0] = 1.0
    other = one.copy()  # it agrees about every mention but the last
    other[-1] = np.eye(1 + rows.width)[1 + np.flatnonzero(rows.candidates[-1] >= 0)[0]]
    version = project.writer.write(lambda connection: predictions.add_version(connection, "2", predictions.TRAINED))
    project.predictions.save(version, 2, replace(rows, members=np.stack([one, other])))
    browser.send("PUT", "settings", {**chosen, "sample": 0.0})
    with Workspaces(project).of(project.owner().id) as workspace:
        assert workspace.show(2).question.mention == rows.spans[-1]  # type: ignore[union-attr]


def test_a_first_model_in_a_relative_folder_is_kept_by_its_whole_path(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server may be started in another folder next time."""
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine", "model.json").write_text("{}", "utf-8")
    said = browser.send("PUT", "settings", {**browser.get("settings"), "model": "mine"})
    assert said["model"] == browser.get("settings")["model"] == str(tmp_path / "mine")


def test_settings_that_cannot_be(browser: Browser, project: Project) -> None:
    settings = browser.get("settings")
    assert browser.send("PUT", "settings", {**settings, "selector": "none"}, 400)["error"]["kind"] == "input"
    assert browser.send("PUT", "settings", {**settings, "selector": "committee"}, 400)["error"]["kind"] == "input"
    for wrong in ({"model": "nowhere"}, {"overlap": 2}, {"budget_per_1000_tokens": 1e308}, {"retrain_every": -1}):
        assert browser.send("PUT", "settings", {**settings, **wrong}, 400)["error"]["kind"] == "input"
    for wrong in ({"overlap": "much"}, {"protocol": "none"}, {"unknown": 1}, {"lease_minutes": None}):
        assert browser.send("PUT", "settings", {**settings, **wrong}, 422)["error"]["kind"] == "invalid"
    assert browser.get("settings") == settings
    browser.annotate(golds(project), most=1)
    refused = browser.send("PUT", "settings", {**settings, "infer_first": True}, 400)
    assert "answers" in refused["error"]["message"]
    for selector in ("lcc-mcu", "random", "joint-entropy", "mention-entropy", "pairwise-entropy"):
        browser.send("PUT", "settings", {**settings, "selector": selector})
        assert browser.get("next")["question"]["why"]["selector"] == selector


@pytest.mark.parametrize(("name", "value"), [("model", "os:abort"), ("selector", "os:abort"), ("model", "a" * 100_000)])
def test_the_page_names_no_code(browser: Browser, name: str, value: str) -> None:
    settings = browser.get("settings")
    assert browser.send("PUT", "settings", {**settings, name: value}, 400)["error"]["kind"] == "input"
    assert browser.get("settings") == settings


def test_code_that_the_command_line_named_stays(browser: Browser, project: Project) -> None:
    change(project, model="my_models:Mine")
    browser.context.workspaces._settings_unknown = True
    settings = browser.get("settings")
    browser.send("PUT", "settings", {**settings, "paused": True})
    assert browser.get("settings")["model"] == "my_models:Mine"


def test_names_are_taken_once(browser: Browser) -> None:
    browser.post("people", {"name": "Ada"})
    assert "already" in browser.post("people", {"name": " Ada "}, status=400)["error"]["message"]
    browser.post("people", {"name": ""}, status=422)
    browser.post("people", {"name": "   "}, status=400)


@pytest.mark.parametrize("name", ["jsonl", "conll", "brat", "text"])
def test_every_export(browser: Browser, project: Project, name: str) -> None:
    browser.annotate(golds(project), most=5)
    known = {kind["name"] for kind in browser.get("export/formats")}
    assert {"provenance", "report", "model", name} <= known
    response = browser.client.get(f"/api/export?format={name}")
    assert response.status_code == 200, response.text
    assert response.headers["content-disposition"].startswith("attachment")
    assert response.content
    if name in ("brat", "text"):
        assert len(zipfile.ZipFile(io.BytesIO(response.content)).namelist()) >= 3
    assert browser.get("export?format=nothing", status=400)["error"]["kind"] == "input"
    assert "no model" in browser.get("export?format=model", status=400)["error"]["message"]


def test_provenance_tells_where_each_link_comes_from(browser: Browser) -> None:
    question = browser.get("next")["question"]
    browser.answer(question, {"same": True})
    found = browser.client.get("/api/export?format=provenance").json()
    first = found["documents"][0]
    links = [link for entity in first["entities"] for link in entity["links"]]
    said = [link for link in links if link["source"] == "said"]
    assert [(link["antecedent"], link["mention"]) for link in said] == [(question["antecedent"], question["mention"])]
    answer = next(answer for answer in first["answers"] if answer["id"] == said[0]["answers"][0])
    assert (answer["person"], answer["number"]) == ("owner", 1)
    of_model = [link for link in links if link["source"] == "model"]
    assert of_model
    assert all(link["probability"] is None or 0 <= link["probability"] <= 1 for link in of_model)
    merge = {"kind": "merge", "a": [0, 0], "b": question["mention"]}
    browser.post("edits", {"client_id": new_id(), "document": 1, "edit": merge})
    again = browser.client.get("/api/export?format=provenance").json()["documents"][0]
    sources = {link["source"] for entity in again["entities"] for link in entity["links"]}
    assert sources == {"said", "model"} or sources == {"said", "inferred", "model"}


def test_a_worker_reads_what_is_uploaded(browser: Browser, project: Project) -> None:
    worker = Worker(project)
    worker._unusable = project.settings.model
    response = browser.client.post("/api/documents?name=new.txt", content=b"Anna came home. She sang. Anna slept.")
    number = response.json()["added"][0]
    assert browser.get(f"next?document={number}")["state"] == "preparing"
    worker.settle()
    browser.context.workspaces._looked_at = -10.0
    assert browser.get(f"next?document={number}")["state"] == "question"


def test_openapi_describes_it(browser: Browser) -> None:
    described = browser.client.get("/api/openapi.json").json()
    text = Path(__file__).parents[3].joinpath("docs/api.md").read_text("utf-8")
    for path in described["paths"]:
        shown = re.sub(r"{\w+_id}", "{id}", path)
        assert shown in text, f"docs/api.md does not mention {shown}"
    assert json.dumps(described)


def test_an_empty_project(tmp_path: Path) -> None:
    from helpers.projects import serve

    with Project(tmp_path / "empty") as empty, serve(empty) as client:
        assert Browser(client).get("next")["state"] == "empty"
        assert Browser(client).get("documents") == []
        assert Browser(client).get("export?format=jsonl", status=400)["error"]["kind"] == "input"
        with empty.database.write() as connection:
            connection.execute(insert(schema.settings).values(name="guidelines", value='"x"'))
        assert Browser(client).get("guidelines")["markdown"] == "x"


def test_what_the_project_costs_is_known_before_it_begins(browser: Browser, project: Project) -> None:
    change(project, budget_questions=10, overlap=0.34)
    browser.context.workspaces = Workspaces(project)
    before = browser.get("dashboard")["estimate"]
    assert (before["documents"], before["questions"], before["answers"], before["measured"]) == (3, 40, 0, 0)
    assert before["hours"] == pytest.approx(40 * before["seconds_each"] / 3600)
    assert before["hours_left"] == before["hours"]
    state = browser.get("next")
    while browser.get("dashboard")["estimate"]["measured"] == 0:
        if state["question"] is None:
            state = browser.get(f"next?document={state['upcoming']}")
        timing = {"initial": 3.0, "follow_up": None}
        state = browser.answer(state["question"], {"reply": "unsure"}, timing=timing)["next"]
    after = browser.get("dashboard")["estimate"]
    assert (after["measured"], after["seconds_each"]) == (20, 3.0)
    assert after["hours_left"] == pytest.approx(20 * 3.0 / 3600)
    own = browser.get("people")[0]
    assert own["documents_done"] + own["documents_begun"] == 2


def test_answers_beyond_a_budget_do_not_shorten_what_is_left(browser: Browser, project: Project) -> None:
    change(project, budget_questions=2)
    browser.context.workspaces = Workspaces(project)
    state = browser.get("next")
    for _ in range(2):
        state = browser.answer(state["question"], {"reply": "unsure"})["next"]
    state = browser.post("documents/1/more")
    for _ in range(2):
        state = browser.answer(state["question"], {"reply": "unsure"})["next"]
    found = browser.get("dashboard")["estimate"]
    assert (found["questions"], found["answers"]) == (6, 4)
    assert found["hours_left"] == pytest.approx(4 * found["seconds_each"] / 3600)
    browser.get("next?document=2")
    browser.post("documents/2/done", {"done": True})
    found = browser.get("dashboard")["estimate"]
    assert found["hours_left"] == pytest.approx(2 * found["seconds_each"] / 3600), "nobody is asked there any more"


def test_nobody_is_asked_while_the_project_is_paused(browser: Browser) -> None:
    question = browser.get("next")["question"]
    settings = browser.get("settings")
    browser.send("PUT", "settings", {**settings, "paused": True})
    assert browser.get("next")["state"] == "paused"
    assert browser.answer(question, {"same": True})["next"]["state"] == "paused", "what was on its way is kept"
    assert len(browser.get("history")["entries"]) == 1
    browser.send("PUT", "settings", {**settings, "paused": False})
    assert browser.get("next")["state"] == "question"

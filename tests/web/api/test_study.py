"""The timing study: its sets, its sessions, its table."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from sqlalchemy import update

from corefine.annotation.question import Protocol, Question
from corefine.document import Span
from corefine.errors import InputError
from corefine.models import rules
from corefine.project import Project
from corefine.project.results import times
from corefine.project.store import predictions, schema
from corefine.project.study.sampling import FEW, MANY, _draw, sample
from helpers.projects import Browser, another, golds, new_id


@pytest.fixture
def with_versions(project: Project) -> Project:
    """Three versions of the model."""
    for candidates in (5, 20):
        number = project.writer.write(lambda connection: predictions.add_version(connection, "x", predictions.TRAINED))
        for entry in project.documents.all():
            prediction = rules.predict(project.documents.get(entry.id), candidates=candidates)
            project.predictions.save(number, entry.id, prediction)
    return project


def test_sets_are_drawn_as_in_the_papers_table(with_versions: Project) -> None:
    found = sample(with_versions, documents=20, questions=60)
    for name in ("A", "B"):
        kinds = [(each.labels, each.late) for each in found if each.set_name == name]
        assert len(kinds) == 60
        assert {kind: kinds.count(kind) for kind in kinds} == {
            (FEW, False): 15, (FEW, True): 15, (MANY, False): 15, (MANY, True): 15
        }  # fmt: skip
    assert found == sample(with_versions, documents=20, questions=60)
    for each in found:
        document = with_versions.documents.get(each.document_id)
        assert document.holds(each.question.mention)
        assert each.question.antecedent is not None


def answer(browser: Browser, session: dict[str, Any], status: int = 200, **more: Any) -> Any:
    question = session["question"]
    body = {"client_id": new_id(), "document": session["document"], "question": question["id"]}
    said = {"answer": {"same": True}, "timing": {"initial": 4.0}}
    return browser.post("study/answers", {**body, **said, **more}, status)


def test_a_study_from_beginning_to_end(browser: Browser, with_versions: Project) -> None:
    assert browser.get("study/session")["state"] == "none"
    assert not browser.get("study")["exists"]
    drawn = browser.post("study", {"minutes": 30, "documents": 4, "questions": 8})
    assert [(each["name"], each["questions"], each["early"], each["late"]) for each in drawn["sets"]] == [
        ("A", 8, 4, 4),
        ("B", 8, 4, 4),
    ]
    ada = another(browser)
    ada.join(browser.post("people", {"name": "Ada"})["link"])
    assert (browser.get("study/session")["state"], browser.get("study/session")["set"]) == ("ready", "A")
    session = browser.post("study/session", {"client_id": new_id()})
    assert (session["state"], session["set"], session["answered"], session["of"]) == ("asking", "A", 0, 16)
    assert ada.post("study/session", {"client_id": new_id()})["set"] == "B"  # alternating
    question = session["question"]
    same = new_id()
    body = {"client_id": same, "document": session["document"], "question": question["id"]}
    said = {"answer": {"same": False, "reply": "unsure"}, "timing": {"initial": 2.0, "follow_up": 6.0}}
    after = browser.post("study/answers", {**body, **said})
    assert after["answered"] == 1
    assert browser.post("study/answers", {**body, **said})["answered"] == 1  # a retry
    assert browser.post("study/answers", {**body, "answer": {"same": True}}, 422)["error"]["kind"] == "client-id"
    assert answer(browser, session, 409)["error"]["kind"] == "not-open"
    assert answer(browser, after, 422, answer={"same": False})["error"]["kind"] == "answer"
    assert browser.post("study", {"minutes": 1, "documents": 4, "questions": 8}, 400)["error"]["kind"] == "input"
    answer(browser, after)
    rows = {row["name"]: row for row in browser.get("study")["times"]["rows"]}
    assert (rows[times.INITIAL]["answers"], rows[times.INITIAL]["mean"]) == (2, 3.0)
    assert (rows[times.FOLLOW_UP]["answers"], rows[times.FOLLOW_UP]["mean"]) == (1, 6.0)
    assert browser.get("history")["entries"] == []  # nothing of it enters the log
    assert browser.get("times")["rows"][0]["answers"] == 0
    with with_versions.database.write() as connection:
        began = schema.study_sessions.c.began_at
        connection.execute(update(schema.study_sessions).values(began_at=began - 1801))
    assert browser.get("study/session")["state"] == "over"
    assert {each["state"] for each in browser.get("study")["sessions"]} == {"over"}
    assert ada.get("study", 403)["error"]["kind"] == "forbidden"


def test_a_session_may_ask_for_first_appearances_only(browser: Browser, with_versions: Project) -> None:
    """It is a kind of session, whatever the project asks otherwise."""
    assert browser.get("settings")["protocol"] == "discrete"
    browser.post("study", {"documents": 4, "questions": 8})
    session = browser.post("study/session", {"client_id": new_id(), "protocol": "follow-up"})
    assert (session["protocol"], session["question"]["antecedent"]) == ("follow-up", None)
    own = {"answer": {"reply": "first", "span": session["question"]["mention"]}, "timing": {"follow_up": 9.0}}
    answer(browser, session, **own)
    study = browser.get("study")
    rows = {row["name"]: row for row in study["times"]["rows"]}
    assert rows[times.ALONE]["mean"] == 9.0
    assert [each["protocol"] for each in study["sessions"]] == ["follow-up"]
    assert len(golds(with_versions)) == 3
    browser.post("study/session", {"client_id": new_id(), "protocol": "pairwise"}, 422)


def end(project: Project) -> None:
    """Let the time of every session be up."""
    with project.database.write() as connection:
        began = schema.study_sessions.c.began_at
        connection.execute(update(schema.study_sessions).values(began_at=began - 1801))


def test_a_person_may_have_several_sessions(browser: Browser, with_versions: Project) -> None:
    """A then B in one hour, as one annotator of the paper; then one of first appearances."""
    browser.post("study", {"minutes": 30, "documents": 4, "questions": 8})
    first = browser.post("study/session", {"client_id": new_id()})
    seen = [first["question"]["id"]]
    answer(browser, first)
    assert not browser.get("study/session")["again"]  # it is running
    assert browser.post("study/session", {"client_id": new_id()})["order"] == first["order"]
    end(with_versions)
    over = browser.get("study/session")
    assert (over["state"], over["again"], over["next_set"], over["answered"]) == ("over", True, "B", 1)
    same = {"client_id": new_id()}
    second = browser.post("study/session", same)
    assert (second["state"], second["set"], second["answered"], second["of"]) == ("asking", "B", 0, 15)
    while second["state"] == "asking":
        assert second["question"]["id"] not in seen
        seen.append(second["question"]["id"])
        second = answer(browser, second)
    assert len(set(seen)) == 16
    assert not second["again"]  # nothing is left to ask
    assert browser.post("study/session", same)["state"] == "over"
    sessions = browser.get("study")["sessions"]
    assert [(each["set"], each["answers"], each["state"]) for each in sessions] == [("A", 1, "over"), ("B", 15, "over")]
    ada = another(browser)
    ada.join(browser.post("people", {"name": "Ada"})["link"])
    assert ada.get("study/session")["set"] == "B"  # the second person, not the third session


def test_a_request_that_is_repeated_begins_no_second_session(browser: Browser, with_versions: Project) -> None:
    browser.post("study", {"documents": 4, "questions": 8})
    request = {"client_id": new_id()}
    browser.post("study/session", request)
    end(with_versions)
    assert browser.post("study/session", request)["state"] == "over"
    assert len(browser.get("study")["sessions"]) == 1


def test_one_to_five_questions_are_drawn_from_a_document(with_versions: Project) -> None:
    pools = {number: [question(place) for place in range(30)] for number in range(5)}
    sizes: Counter[int] = Counter()
    for seed in range(200):
        drawn = _draw({key: list(pool) for key, pool in pools.items()}, 15, Random(seed))
        of_document = Counter(document for document, _ in drawn)
        assert sum(of_document.values()) == len(set(drawn)) == 15
        assert of_document.keys() == pools.keys()
        sizes.update(of_document.values())
    assert sizes.keys() == {1, 2, 3, 4, 5}
    with pytest.raises(InputError, match="at most 5 questions are drawn from a document"):
        sample(with_versions, documents=4, questions=21)


def question(number: int) -> Question:
    return Question(number, Span(number + 1, number + 1), Span(0, 0), Protocol.DISCRETE, 0.5, 0.5)


def test_looking_at_a_document_takes_nothing(browser: Browser, project: Project) -> None:
    ada = another(browser)
    ada.join(browser.post("people", {"name": "Ada"})["link"])
    browser.get("next")
    assert ada.get("documents/1/entities")["entities"]
    assert ada.get("next")["document"] == 2
    assert len(project.documents.all()) == 3

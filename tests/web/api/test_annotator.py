"""What the page does, through the API, on both databases."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from corefine.annotation.question import span_from_json, span_to_json
from corefine.corpora import stories
from corefine.document import Document, Span
from corefine.links import Relation
from corefine.models import rules
from corefine.project import Project
from corefine.project.store import predictions, schema
from corefine.project.work.workspaces import Workspaces
from corefine.web.api.documents import line_ends
from helpers.projects import Browser, another, change, gold_answer, golds, new_id, serve


def test_a_whole_project_is_annotated(browser: Browser, project: Project) -> None:
    results = browser.annotate(golds(project))
    assert len(results) > 20
    assert browser.get("next")["state"] == "all-done"
    assert {row["state"] for row in browser.get("documents")} == {"done"}
    with project.database.read() as connection:
        rows = connection.execute(select(schema.events).order_by(schema.events.c.id)).all()
    assert len(rows) == len(results)
    places = [row.place for row in rows if row.document_id == 1]
    assert places == list(range(1, len(places) + 1))


def test_a_document_ends_when_the_model_is_sure_unless_more_is_wanted(project: Project) -> None:
    change(project, least_gain=1.0)
    with serve(project) as client:
        browser = Browser(client)
        state = browser.get("next?document=1")
        assert (state["state"], state["ended"]) == ("document-done", "sure")
        more = browser.post("documents/1/more")
        assert more["state"] == "question"
        browser.context.workspaces.forget(1)  # it is not forgotten with the session
        state = browser.answer(more["question"], {"same": False, "reply": "unsure"})["next"]
        assert state["state"] == "question"
        left = browser.post("documents/1/done", {"done": True})
        assert (left["state"], left["ended"]) == ("document-done", "finished")


def test_counts_leave_out_what_was_taken_back(browser: Browser) -> None:
    question = browser.get("next")["question"]
    for _ in range(2):
        question = browser.answer(question, {"same": False, "reply": "unsure"})["next"]["question"]
    browser.post("undo", {"client_id": new_id()})
    state = browser.get("next")
    row = next(row for row in browser.get("documents") if row["id"] == state["document"])
    assert row["answers"] == state["progress"]["questions"] == 1


def test_all_that_the_model_knows_can_be_found(browser: Browser, project: Project) -> None:
    question = browser.get("next")["question"]
    known = browser.get(f"documents/{question['document']}/entities")
    spans = {tuple(span) for span in (*known["mentions"], *known["unlikely"])}
    prediction = project.predictions.load(1, question["document"])
    assert spans == {tuple(span) for span in prediction.spans}
    assert all(entity["name"] in [each["span"] for each in entity["mentions"]] for entity in known["entities"])


def test_what_answers_set_apart_is_told(project: Project) -> None:
    change(project, protocol="pairwise")
    with serve(project) as client:
        browser = Browser(client)
        question = browser.get("next")["question"]
        rejected: dict[str, list[Any]] = {}
        while str(question["mention"]) not in rejected:
            assert question["apart"] == []
            rejected[str(question["mention"])] = [question["antecedent"]]
            question = browser.answer(question, {"same": False})["next"]["question"]
        assert question["apart"] == rejected[str(question["mention"])]


def test_one_round_trip_an_answer(browser: Browser) -> None:
    state = browser.get("next")
    assert state["state"] == "question"
    question = state["question"]
    assert question["mention_text"]
    assert question["why"]["entities"][0]["probability"] >= question["why"]["entities"][-1]["probability"]
    assert abs(sum(each["probability"] for each in question["why"]["entities"]) - 1.0) < 0.2
    assert [chance["asked"] for chance in question["why"]["entities"]].count(True) == 1
    timing = {"reading": 1.0, "initial": 2.5, "follow_up": None}
    result = browser.answer(question, {"same": True}, timing=timing)
    assert result["outcome"]["number"] == question["number"] == 1
    assert result["next"]["question"]["number"] == 2
    assert result["next"]["progress"]["questions"] == 1
    assert result["next"]["progress"]["seconds"] == 3.5
    assert browser.get("next")["question"] == result["next"]["question"]


def test_a_retry_is_never_doubled(browser: Browser) -> None:
    question = browser.get("next")["question"]
    body = {"client_id": new_id(), "document": 1, "question": question["id"], "answer": {"same": True}}
    first = browser.post("answers", body)
    second = browser.post("answers", body)
    assert (first["repeated"], second["repeated"]) == (False, True)
    assert second["outcome"] == first["outcome"]
    assert second["next"]["question"] == first["next"]["question"]
    assert len(browser.get("history")["entries"]) == 1


def test_a_client_id_stands_for_one_request(browser: Browser) -> None:
    question = browser.get("next")["question"]
    answer = {"client_id": new_id(), "document": 1, "question": question["id"], "answer": {"same": True}}
    shown = browser.post("answers", answer)["next"]
    edit = {"client_id": new_id(), "document": 1, "edit": {"kind": "remove", "mention": [0, 1]}}
    browser.post("edits", edit)
    step = {"client_id": new_id()}
    browser.post("undo", step)
    others: list[tuple[str, dict[str, Any]]] = [
        ("answers", {**answer, "answer": {"reply": "unsure"}}),
        ("answers", {**answer, "question": shown["question"]["id"]}),
        ("answers", {**answer, "document": 2}),
        ("answers", {**answer, "withdraw": [1]}),
        ("edits", {**edit, "edit": {"kind": "remove", "mention": [0, 2]}}),
        ("edits", {**edit, "edit": {"kind": "add", "mention": [0, 1]}}),
        ("edits", {**edit, "client_id": answer["client_id"]}),
        ("withdraw", {"client_id": edit["client_id"], "document": 1, "number": 1}),
        ("redo", step),
    ]
    for path, body in others:
        error = browser.post(path, body, status=422)["error"]
        assert error["kind"] == "client-id", (path, body)
        assert body["client_id"] in error["message"]
    for path, same in (("answers", {**answer, "timing": {"initial": 3.0}}), ("edits", edit), ("undo", step)):
        assert browser.post(path, same)["repeated"]
    assert len(browser.get("history")["entries"]) == 2


def test_undo_and_redo_go_through_documents_restarts_and_retraining(browser: Browser, project: Project) -> None:
    change(project, budget_questions=3, budget_per_1000_tokens=None)
    browser.context.workspaces = Workspaces(project)
    browser.annotate(golds(project), most=5)
    assert browser.get("next")["document"] == 2
    fill_again(project)
    browser.context.workspaces = Workspaces(project)
    seen = [browser.post("undo", {"client_id": new_id()})["document"] for _ in range(5)]
    assert seen == [2, 2, 1, 1, 1]
    nothing = browser.post("undo", {"client_id": new_id()}, status=409)
    assert nothing["error"]["kind"] == "unknown-answer"
    back = [browser.post("redo", {"client_id": new_id()}) for _ in range(5)]
    assert [result["document"] for result in back] == [1, 1, 1, 2, 2]
    assert not back[-1]["next"]["progress"]["can_redo"]
    assert [entry["stands"] for entry in browser.get("history")["entries"]] == [True] * 5


def fill_again(project: Project) -> None:
    """A new version of the model, less sure of itself."""
    number = project.writer.write(lambda connection: predictions.add_version(connection, "again", predictions.TRAINED))
    for entry in project.documents.all():
        project.predictions.save(number, entry.id, rules.predict(project.documents.get(entry.id), candidates=10))


def test_a_new_model_swaps_in_between_questions_and_answers_stay(browser: Browser, project: Project) -> None:
    state = browser.get("next")
    browser.answer(state["question"], {"same": True})
    shown = browser.get("next")
    fill_again(project)
    browser.context.workspaces._looked_at = -10.0
    again = browser.get("next")
    assert again["question"] == shown["question"]  # not while one is open
    assert (again["model"]["version"], again["model"]["latest"]) == (1, 2)
    after = browser.answer(again["question"], {"reply": "unsure"})["next"]
    assert after["model"]["version"] == 1  # an answer does not wait for a model that just came
    after = browser.answer(after["question"], {"reply": "unsure"})["next"]
    assert after["model"]["version"] == 2
    assert after["progress"]["questions"] == 3


def test_a_new_model_is_taken_up_while_a_person_thinks(browser: Browser, project: Project) -> None:
    state = browser.get("next")
    browser.answer(state["question"], {"same": True})
    shown = browser.get("next")["question"]
    fill_again(project)
    workspaces = browser.context.workspaces
    workspaces._looked_at = -10.0
    browser.get(f"documents/{state['document']}/entities")  # as the page does after each question
    [opened] = workspaces._open.values()
    assert (opened.version, opened.preloaded_version) == (1, 2)
    again = browser.get("next")
    assert again["question"]["id"] == shown["id"]
    assert again["model"]["version"] == 1  # which asks it
    after = browser.answer(again["question"], {"reply": "unsure"})["next"]
    assert after["model"]["version"] == 2
    browser.context.workspaces = Workspaces(project)
    assert browser.get("next")["question"] == after["question"]  # as if it had been taken up at the answer


def test_the_open_question_is_the_same_after_a_restart(browser: Browser, project: Project) -> None:
    browser.annotate(golds(project), most=4)
    before = browser.get("next")["question"]
    fill_again(project)
    browser.context.workspaces = Workspaces(project)
    assert browser.get("next")["question"] == before


def test_an_answer_to_a_question_that_is_no_longer_open(browser: Browser) -> None:
    """Two tabs: the second answers what the first has answered."""
    question = browser.get("next")["question"]
    browser.answer(question, {"same": True})
    late = browser.answer(question, {"reply": "unsure"}, status=409)["error"]
    assert late["kind"] == "not-open"
    assert late["next"]["question"]["number"] == 2
    assert len(browser.get("history")["entries"]) == 1


def test_withdrawing_an_earlier_answer(browser: Browser, project: Project) -> None:
    browser.annotate(golds(project), most=4)
    result = browser.post("withdraw", {"client_id": new_id(), "document": 1, "number": 2})
    assert result["did"]["number"] == 2
    stands = {entry["number"]: entry["stands"] for entry in browser.get("history?document=1")["entries"]}
    assert stands == {1: True, 2: False, 3: True, 4: True}
    again = browser.post("withdraw", {"client_id": new_id(), "document": 1, "number": 2}, status=409)
    assert again["error"]["kind"] == "unknown-answer"


def test_history_comes_in_pages(browser: Browser, project: Project) -> None:
    browser.annotate(golds(project), most=7)
    first = browser.get("history?limit=4")
    second = browser.get(f"history?limit=4&before={first['next_before']}")
    numbers = [entry["number"] for page in (first, second) for entry in page["entries"]]
    assert numbers == [7, 6, 5, 4, 3, 2, 1]
    assert second["next_before"] is None
    assert all(entry["said"] for entry in first["entries"])


def test_a_contradiction_is_told_and_resolved_in_one_call(browser: Browser) -> None:
    question = browser.get("next")["question"]
    mention, antecedent = question["mention"], question["antecedent"]
    edit = {"kind": "merge", "a": antecedent, "b": mention}
    entities = browser.get("documents/1/entities")["entities"]
    together = any({tuple(mention), tuple(antecedent)} <= {tuple(m["span"]) for m in e["mentions"]} for e in entities)
    if together:
        edit = {"kind": "remove", "mention": antecedent}
    browser.post("edits", {"client_id": new_id(), "document": 1, "edit": edit})
    other = {"kind": "add", "mention": antecedent} if together else {"kind": "remove", "mention": mention}
    body: dict[str, Any] = {"client_id": new_id(), "document": 1, "edit": other}
    error = browser.post("edits", body, status=409)["error"]
    assert error["kind"] == "contradiction"
    assert error["new"] is None  # of an edit there is none
    assert [entry["number"] for entry in error["answers"]] == [1]
    assert error["answers"][0]["texts"]
    assert [entry["stands"] for entry in browser.get("history")["entries"]] == [True]  # nothing has changed
    result = browser.post("edits", {**body, "client_id": new_id(), "withdraw": [1]})
    assert result["number"] == 2
    stands = {entry["number"]: entry["stands"] for entry in browser.get("history")["entries"]}
    assert stands == {1: False, 2: True}
    browser.post("undo", {"client_id": new_id()})
    stands = {entry["number"]: entry["stands"] for entry in browser.get("history")["entries"]}
    assert stands == {1: True, 2: False}


@pytest.mark.parametrize("protocol", ["discrete", "pairwise", "follow-up", "mentions"])
def test_every_protocol(browser: Browser, project: Project, protocol: str) -> None:
    settings = {**browser.get("settings"), "protocol": protocol, "budget_questions": 6}
    browser.send("PUT", "settings", settings)
    results = browser.annotate(golds(project), most=12)
    assert len(results) == 12
    kinds = {entry["protocol"] for entry in browser.get("history")["entries"]}
    assert protocol in kinds
    assert browser.get("me")["protocol"] == protocol


def test_a_document_stays_until_its_budget_is_used_and_can_be_left(browser: Browser) -> None:
    settings = browser.get("settings")
    browser.send("PUT", "settings", {**settings, "budget_questions": 2})
    question = browser.get("next")["question"]
    question = browser.answer(question, {"reply": "unsure"})["next"]["question"]
    state = browser.answer(question, {"reply": "unsure"})["next"]
    assert (state["state"], state["document"], state["upcoming"]) == ("document-done", 1, 2)
    state = browser.get("next?document=2")
    left = browser.post("documents/2/done", {"done": True})
    assert (left["state"], left["upcoming"]) == ("document-done", 3)
    back = browser.post("documents/2/done", {"done": False})
    assert back["question"] == state["question"]


def test_budgets_in_seconds_and_hours_left(browser: Browser) -> None:
    browser.send("PUT", "settings", {**browser.get("settings"), "budget_seconds": 30.0})
    question = browser.get("next")["question"]
    state = browser.answer(question, {"same": True}, timing={"initial": 20.0})["next"]
    assert state["progress"]["seconds_left"] == 10.0
    state = browser.answer(state["question"], {"same": True}, timing={"initial": 20.0})["next"]
    assert state["state"] == "document-done"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"same": False}, "answer"),
        ({}, "answer"),
        ({"same": False, "reply": "first", "span": [0, 100_000]}, "outside"),
        ({"same": False, "reply": "first", "span": [5, 2]}, "outside"),
        ({"same": False, "reply": "first", "span": [-1, 2]}, "outside"),
        ({"same": False, "reply": "first", "span": []}, "outside"),
        ({"same": False, "reply": "first", "span": [1, 2, 3]}, "outside"),
        ({"same": True, "extra": 1}, "invalid"),
        ({"same": "maybe"}, "invalid"),
    ],
)
def test_answers_that_cannot_be_taken_change_nothing(browser: Browser, answer: dict[str, Any], kind: str) -> None:
    question = browser.get("next")["question"]
    assert browser.answer(question, answer, status=422)["error"]["kind"] == kind
    assert browser.get("next")["question"] == question
    assert browser.get("history")["entries"] == []


@pytest.mark.parametrize("seconds", [-1.0, 1e9])
def test_clocks_that_jump_do_not_spoil_the_times(browser: Browser, seconds: float) -> None:
    question = browser.get("next")["question"]
    error = browser.answer(question, {"same": True}, status=422, timing={"initial": seconds})["error"]
    assert error["kind"] == "invalid"
    assert browser.get("next")["question"] == question


def test_people_see_only_their_own(browser: Browser, project: Project) -> None:
    link = browser.post("people", {"name": "Ada"})["link"]
    ada = another(browser)
    assert ada.get("me", status=401)["error"]["kind"] == "unauthorised"
    assert ada.join(link)["person"]["name"] == "Ada"
    browser.annotate(golds(project), most=3)
    assert ada.get("history")["entries"] == []
    assert ada.get("next")["document"] == 2  # the owner has the first
    assert ada.get("next?document=1", status=409)["error"]["kind"] == "taken"
    error = ada.post("withdraw", {"client_id": new_id(), "document": 1, "number": 1}, status=409)["error"]
    assert error["kind"] == "taken"
    for path in ("settings", "people", "dashboard", "agreement", "adjudication", "export?format=jsonl", "training"):
        assert ada.get(path, status=403)["error"]["kind"] == "forbidden"
    assert ada.get("me")["notices"] == []


def test_the_same_client_id_of_two_people_is_two_things(browser: Browser) -> None:
    ada = another(browser)
    ada.join(browser.post("people", {"name": "Ada"})["link"])
    same = new_id()
    for one in (browser, ada):
        question = one.get("next")["question"]
        body = {"client_id": same, "document": question["document"], "question": question["id"]}
        assert not one.post("answers", {**body, "answer": {"same": True}})["repeated"]


def test_the_text_is_data(browser: Browser, project: Project) -> None:
    text = browser.get("documents/1")
    story = project.documents.get(1)
    assert [token for sentence in text["sentences"] for token in sentence["tokens"]] == list(story.tokens)
    shown = "".join(
        token + (" " if space else "")
        for sentence in text["sentences"]
        for token, space in zip(sentence["tokens"], sentence["spaces"], strict=True)
    )
    assert story.text is not None
    assert shown.split() == story.text.split()
    assert sum(sentence["paragraph"] for sentence in text["sentences"]) == story.text.count("\n\n") + 1
    assert browser.get("documents/999", status=404)["error"]["kind"] == "not-found"


def test_the_tutorial_checks_answers(browser: Browser) -> None:
    tutorial = browser.get("tutorial")
    assert len(tutorial["steps"]) == 3
    story = next(each for each in stories.load() if each.name == tutorial["document"]["name"])
    for number, step in enumerate(tutorial["steps"]):
        right = gold_answer(story, step["question"])
        assert browser.post("tutorial/check", {"step": number, "answer": right})["right"]
        wrong = browser.post("tutorial/check", {"step": number, "answer": {"reply": "unsure"}})
        assert not wrong["right"]
        assert wrong["message"]
    assert browser.get("history")["entries"] == []


def test_guidelines_are_the_owners(browser: Browser) -> None:
    assert browser.get("guidelines")["markdown"].startswith("# ")
    browser.send("PUT", "guidelines", {"markdown": "<script>alert(1)</script>"})
    assert browser.get("guidelines")["markdown"] == "<script>alert(1)</script>"


def test_another_entity_is_chosen_without_a_word_about_the_proposed_mention(browser: Browser) -> None:
    """The model may have put the proposed mention into the wrong entity."""
    question = browser.get("next")["question"]
    mention, antecedent = (span_from_json(question[name]) for name in ("mention", "antecedent"))
    other = next(Span(at, at) for at in range(mention.start) if Span(at, at) != antecedent)
    done = browser.answer(question, {"reply": "antecedent", "span": span_to_json(other)})
    [opened] = browser.context.workspaces._open.values()
    assert opened.session.links.relation(other, mention) is Relation.MUST
    assert opened.session.links.relation(antecedent, mention) is None
    assert " is not " not in browser.get("history")["entries"][0]["said"]
    [point] = [each for each in browser.get("dashboard")["curve"] if each["asked"]]
    assert (point["asked"], point["accepted"]) == (1, 0.0)
    assert done["next"]["progress"]["questions"] == 1


def test_how_far_a_document_is_annotated_in_full(browser: Browser) -> None:
    document = browser.get("next")["document"]
    assert browser.get(f"full/{document}/familiarity")["ticked"] == 0
    edit = {"kind": "complete", "sentences": [0, 2]}
    browser.post("full", {"client_id": new_id(), "document": document, "edit": edit})
    found = browser.get(f"full/{document}/familiarity")
    assert (found["ticked"], found["sentences"]) == (2, len(browser.get(f"documents/{document}")["sentences"]))


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("The harbour slept,\nThe boat came in,\n\nAnd she went.", [","]),
        ("Interviewer: Tom Hale\nPlace: Wexley\n" + "He said that he was there. " * 9, ["Hale", "Wexley"]),
        ("Dear Ann,\n" + "She walked along the whole length of the harbour and saw nobody\n" * 4, [","]),
        ("One line.", []),
    ],
)
def test_lines_that_were_ended_on_purpose(text: str, ends: list[str]) -> None:
    document = Document.from_text(text)
    found = sorted(line_ends(document))
    assert [document.tokens[token] for token in found] == ends

"""When questions begin, when they end, what is left to do, and whether anybody is asked at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from corefine import formats
from corefine.corpora import stories
from corefine.models import rules
from corefine.project import Project
from helpers.browser_driving import Driver, Open, Server

NAMES = ("sure, by keys", "sure, by mouse", "counted", "paused", "unread", "finished")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("progress")
    told = [replace(story, name=name, part=0) for name, story in zip(NAMES, stories.load(), strict=False)]
    formats.write(told, folder / "texts.jsonl")
    with Server(folder / "project", folder / "texts.jsonl", {"budget_questions": 4}) as started:
        yield started


def opened(server: Server, visit: Open, name: str) -> tuple[Driver, int]:
    document = server.id_of(name)
    driver = visit(server, f"#annotate/{document}")
    driver.page.locator(f"body[data-page='annotate/{document}']").wait_for()
    return driver, document


@pytest.mark.parametrize("by", ["keys", "mouse"])
def test_a_document_ends_when_the_model_is_sure_and_more_can_be_asked(server: Server, visit: Open, by: str) -> None:
    driver, document = opened(server, visit, f"sure, by {by}")
    page = driver.page
    page.get_by_text("The model is sure of the rest. 0 questions answered here").wait_for()
    assert server.get(f"/next?document={document}")["ended"] == "sure"
    page.get_by_role("button", name="Ask me more").wait_for()
    if by == "keys":
        driver.press("m")
    else:
        page.get_by_role("button", name="Ask me more").click()
    begin = page.get_by_role("button", name="Begin")
    begin.wait_for()
    driver.press("Enter") if by == "keys" else begin.click()
    page.locator(".panel[data-question]").wait_for()
    if by == "keys":
        driver.answered("u")
    else:
        before = driver.question
        page.get_by_role("button", name="Unsure").locator("visible=true").click()
        page.wait_for_function("before => document.querySelector('.panel').dataset.question !== before", arg=before)
    assert len(server.history(document)) == 1


def test_counts_agree(server: Server, visit: Open) -> None:
    driver, document = opened(server, visit, "counted")
    page = driver.page
    driver.annotate(document)
    for number in range(1, 5):
        page.get_by_text(f"Question {number} of 4").wait_for()
        assert driver.page.title().startswith(f"Question {number} of 4 · counted")
        driver.answered("u")
    page.get_by_text("Its budget of questions is used. 4 questions answered here").wait_for()
    assert page.locator(".panel-top .count").inner_text() == "4 answers"
    driver.answered("z")
    page.get_by_text("Question 4 of 4").wait_for()
    row = next(row for row in server.get("/documents") if row["id"] == document)
    assert (row["answers"], row["budget"], row["state"]) == (3, 4, "open")
    driver.go("documents")
    line = page.get_by_role("row", name="Select counted")
    line.wait_for()
    assert "3 of 4" in line.inner_text()
    driver.go("project/dashboard")
    people = page.get_by_role("table", name="What each person did").locator("tbody tr").first
    people.wait_for()
    begun = [row for row in server.get("/documents") if row["state"] == "open"]
    assert people.locator("td").nth(5).inner_text() == str(len(begun)), "what was only looked at is not begun"

    driver.annotate(document)
    driver.answered("u")
    page.get_by_text("Its budget of questions is used").wait_for()
    driver.press("m")
    page.get_by_text("Question 5", exact=True).wait_for()
    driver.answered("u")
    driver.go("documents")
    line.wait_for()
    assert line.locator("td.number").nth(1).inner_text() == "5", "not 5 of 4"


def test_the_first_question_waits_for_the_model(server: Server, visit: Open) -> None:
    driver, document = opened(server, visit, "unread")
    page = driver.page
    page.get_by_text("The model is getting ready").wait_for()
    page.locator("article.text .t").first.wait_for()  # it can be read meanwhile
    assert page.get_by_role("button", name="Begin").count() == 0 or page.get_by_role("button", name="Begin").is_hidden()
    page.locator(".panel").get_by_role("button", name="Guidelines").click()
    page.locator(".drawer").wait_for()
    driver.press("Escape")
    with Project(server.folder) as project:  # as the background process does
        project.predictions.save(1, document, rules.predict(project.documents.get(document)))
    page.get_by_role("button", name="Begin").wait_for()
    driver.press("Enter")
    page.locator(".panel[data-question]").wait_for()


def test_what_was_said_of_a_document_does_not_stay_for_the_next(server: Server, visit: Open) -> None:
    driver, document = opened(server, visit, "finished")
    driver.annotate(document)
    driver.press("Shift+d")
    driver.page.get_by_text("You can take it up again").wait_for()
    driver.press("Enter")
    driver.page.locator(".reader").get_by_text("finished", exact=True).wait_for(state="detached")
    assert driver.said == ""


def test_a_pause_stops_questions_and_keeps_answers(server: Server, visit: Open) -> None:
    owner = visit(server, "#project/dashboard")
    page = owner.page
    page.get_by_text("documents have").wait_for()
    cost = page.get_by_role("region", name="Time and cost")
    assert "until 20 answers are timed here" in cost.inner_text()
    page.get_by_role("region", name="What more hours would bring").get_by_text("worth asking").wait_for()
    cost.get_by_role("button", name="Pause the project").click()
    cost.get_by_text("paused", exact=True).wait_for()
    driver, document = opened(server, visit, "paused")
    driver.page.get_by_text("The project is paused").wait_for()
    cost.get_by_role("button", name="Go on").focus()
    owner.press("Enter")
    cost.get_by_role("button", name="Pause the project").wait_for()
    driver.page.get_by_role("button", name="Begin").wait_for(timeout=20_000)  # by itself
    assert server.get(f"/next?document={document}")["state"] == "question"

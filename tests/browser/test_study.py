"""The timing study from beginning to end: the owner draws it, two people take part, `corefine times` reads it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from corefine.annotation.cost import CostModel
from corefine.models import rules
from corefine.project import Project
from corefine.project.results import times
from corefine.project.store import predictions, settings
from helpers.browser_driving import Driver, Open, Server

QUESTIONS = 12
MINUTES = 20


def add_versions(server: Server) -> None:
    """Two more versions of the model, so that there are early and late rounds."""
    with Project(server.folder) as project:
        for candidates in (5, 20):
            number = project.writer.write(
                lambda connection: predictions.add_version(connection, "x", predictions.TRAINED)
            )
            for entry in project.documents.all():
                prediction = rules.predict(project.documents.get(entry.id), candidates=candidates)
                project.predictions.save(number, entry.id, prediction)


def draw(owner: Driver) -> None:
    page = owner.page
    owner.go("project/study")
    page.get_by_label("Minutes of a session").fill(str(MINUTES))
    page.get_by_label("Documents in each set").fill("4")
    page.get_by_label("Questions in each set").fill(str(QUESTIONS))
    page.get_by_role("button", name="Draw the sets").click()
    page.get_by_role("table", name="Sets of questions").wait_for()


def cells(driver: Driver, table: str) -> list[list[str]]:
    rows = driver.page.get_by_role("table", name=table, exact=True).last.locator("tbody tr")
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def invite(owner: Driver, name: str) -> str:
    """An invitation's address, as the owner's page shows it."""
    owner.go("project/people")
    owner.page.get_by_label("Name", exact=True).fill(name)
    owner.page.get_by_role("button", name="Invite").click()
    link = owner.page.get_by_role("textbox", name=f"Invitation link for {name}")
    link.wait_for()
    return link.input_value().removeprefix(f"{owner.server.url}/")


def session(driver: Driver) -> dict[str, Any]:
    found: dict[str, Any] = driver.page.request.get(f"{driver.server.url}/api/study/session").json()
    return found


def shorten(server: Server, person: str, left: float) -> None:
    """Let a person's session have begun so long ago that `left` seconds are left."""
    with closing(sqlite3.connect(server.folder / "project.sqlite", timeout=30)) as connection, connection:
        began = time.time() - MINUTES * 60 + left
        connection.execute(
            "UPDATE study_sessions SET began_at = ? WHERE person_id = (SELECT id FROM people WHERE name = ?)",
            (began, person),
        )


def run_times(server: Server, *options: str) -> str:
    command = [sys.executable, "-m", "corefine", "times", "--project", str(server.folder), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def test_a_study_in_the_browser(launch: Callable[..., Server], visit: Open) -> None:
    server = launch()
    server.stop()
    add_versions(server)
    server.start()
    owner = visit(server)
    owner.page.locator("body[data-page]").wait_for()
    draw(owner)
    assert [row[0] for row in cells(owner, "Sets of questions")] == ["A", "B"]
    assert all(row[2:] == ["12", "6", "6"] for row in cells(owner, "Sets of questions"))
    owner.page.get_by_text("Nobody has begun yet").wait_for()

    # Ada does the tutorial and both sets, by keyboard
    ada = visit(server, invite(owner, "Ada"))
    ada.page.locator(".bar nav").get_by_text("Timing study").wait_for()
    ada.go("study")
    ada.page.get_by_text("You begin with set A").wait_for()
    ada.press("Enter")
    ada.tutorial()
    ada.page.locator("body[data-page=study]").wait_for()
    ada.page.get_by_role("button", name="Start the session").wait_for()
    ada.press("Enter")
    ada.page.locator(".panel[data-question]").wait_for()
    ada.page.get_by_text("19:").wait_for()
    assert ada.page.get_by_text("Why this question").count() == 0
    for number in range(2 * QUESTIONS):
        ada.page.get_by_text(f"Question {number + 1} of {2 * QUESTIONS}").wait_for()
        if number == QUESTIONS // 2:  # a reload in the middle goes on where it was
            ada.page.reload()
            ada.page.get_by_text(f"Question {number + 1} of {2 * QUESTIONS}").wait_for()
            ada.page.locator(".panel[data-question]").wait_for()
        if number % 3 == 2:
            ada.press("n")
            ada.page.get_by_role("heading", name="Mark the first appearance").wait_for()
            ada.press("f")
        else:
            ada.press("y")
    ada.page.get_by_text(f"You answered all questions ({2 * QUESTIONS})").wait_for()
    ada.press("y", "n", "f")  # nothing is open any more
    assert session(ada)["answered"] == 2 * QUESTIONS
    assert ada.page.locator(".bar nav").get_by_text("Timing study").is_hidden()

    # Ben begins with the other set, and his time runs out
    ben = visit(server, invite(owner, "Ben"))
    ben.page.locator("body[data-page]").wait_for()
    ben.go("study")
    ben.page.get_by_text("You begin with set B").wait_for()
    ben.page.get_by_role("button", name="Start the session").click()
    for number in range(2):
        ben.page.get_by_text(f"Question {number + 1} of").wait_for()
        ben.answered("y")
    shorten(server, "Ben", 6)
    ben.page.reload()
    ben.page.get_by_text("Time is up. You answered 2 questions").wait_for()

    # and does another session, which asks for first appearances only
    ben.page.get_by_text("It begins with set A").wait_for()
    ben.page.get_by_role("button", name="Another with first appearances only").click()
    for number in range(2):
        ben.page.get_by_text(f"Question {number + 1} of {2 * QUESTIONS - 2}").wait_for()
        ben.page.get_by_role("heading", name="Mark the first appearance").wait_for()
        ben.answered("f")
    assert (session(ben)["protocol"], session(ben)["answered"]) == ("follow-up", 2)
    shorten(server, "Ben", 0)
    ben.page.reload()
    ben.page.get_by_text("Time is up. You answered 2 questions").wait_for()

    owner.go("project/study")
    owner.page.get_by_role("heading", name="Times of the study").wait_for()
    rows = cells(owner, "Sessions")
    assert [(row[0], row[1], row[2], row[4], row[6]) for row in rows] == [
        ("Ada", "A", "discrete", "24", "over"),
        ("Ben", "B", "discrete", "2", "over"),
        ("Ben", "A", "first appearances only", "2", "over"),
    ]
    measured = {row[0]: row[1] for row in cells(owner, "Seconds a question takes")}
    assert (measured[times.INITIAL], measured[times.FOLLOW_UP]) == ("26", "8")
    assert measured[times.ALONE] == "2"

    # the server runs on while `corefine times` reads, and sets the cost model
    said = json.loads(run_times(server, "--study", "--json"))
    rows_by_name = {row["name"]: row for row in said["times"]}
    assert rows_by_name[times.INITIAL]["answers"] == 26
    assert said["cost"]["initial"] == pytest.approx(rows_by_name[times.INITIAL]["mean"])
    assert said["cost"]["follow_up"] == CostModel().follow_up, "8 follow-ups are too few to go by"
    with Project(server.folder) as project, project.database.read() as connection:
        assert settings.load_cost(connection).initial == said["cost"]["initial"]
    printed = run_times(server, "--study")
    assert times.FOLLOW_UP in printed
    assert "Cost model set" in printed


def test_a_clock_that_runs_ahead_does_not_end_the_session(launch: Callable[..., Server], visit: Open) -> None:
    """The page believes that time is up; the server knows better."""
    server = launch()
    owner = visit(server)
    owner.page.locator("body[data-page]").wait_for()
    draw(owner)
    owner.go("study")
    owner.page.get_by_role("button", name="Start the session").wait_for()
    asked = []

    def hurry(route: Any) -> None:
        response = route.fetch()
        body = response.json()
        asked.append(body["state"])
        route.fulfill(response=response, json={**body, "seconds_left": 1.0} if len(asked) == 1 else body)

    owner.page.route("**/api/study/session", hurry)
    owner.page.get_by_role("button", name="Start the session").click()
    owner.page.locator(".panel[data-question]").wait_for()
    owner.page.get_by_text("19:").wait_for()
    assert len(asked) == 2
    owner.answered("y")
    assert session(owner)["answered"] == 1

"""One question about several mentions with the same words, and corrections that are repeated or about the proposal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from helpers.browser_driving import Driver, Open, Server

GROUP = ".panel[data-phase='group']"


def asked(driver: Driver) -> dict[str, Any]:
    """The open question of the document on the page."""
    document = driver.page.url.rpartition("/")[2]
    question: dict[str, Any] = driver.server.get(f"/next?document={document}")["question"]
    return question


def to_group(driver: Driver) -> dict[str, Any]:
    """Answer until a question is about a group."""
    for _ in range(60):
        question = asked(driver)
        if question["protocol"] == "group":
            driver.page.locator(GROUP).wait_for()
            return question
        driver.answered("u")
    raise AssertionError("no question was about a group")


@pytest.fixture
def server(launch: Callable[..., Server]) -> Server:
    return launch(groups=True, budget_questions=200)


def test_by_keys_by_mouse_and_undone(server: Server, visit: Open) -> None:
    driver = visit(server)
    page = driver.page
    driver.annotate(server.id_of("keyboard"))
    question = to_group(driver)
    group = question["group"]
    rows = page.locator(".group .row-choice")
    assert rows.count() == len(group)
    assert page.locator(".t.member").count() >= len(group)
    yes = page.locator("[data-set=group] .yes")
    assert yes.inner_text().startswith(f"Yes, all {len(group)}\n")

    driver.press("2")
    assert rows.nth(1).get_attribute("aria-pressed") == "true"
    assert page.locator(".t.struck").count() >= 1
    assert yes.inner_text().startswith(f"Yes, {len(group) - 1} are one")
    driver.press("s")
    assert rows.nth(1).get_attribute("aria-pressed") == "false"
    driver.token(group[0][0]).click()
    assert rows.nth(0).get_attribute("aria-pressed") == "true"
    for place in range(1, len(group) - 1):
        rows.nth(place).click()
    assert yes.is_disabled(), "one mention is no entity of several"
    for place in range(1, len(group) - 1):
        rows.nth(place).click()
    driver.answered("y")
    said = server.history()[0]
    assert (said["protocol"], said["answer"]["same"], said["answer"]["struck"]) == ("group", True, group[:1])
    assert said["seconds"] > 0
    assert said["said"].startswith(f"{len(group) - 1} of {len(group)} ")
    assert page.locator(".t.member").count() == 0

    driver.answered("z")
    assert not server.history()[0]["stands"]
    page.locator(GROUP).wait_for()
    before = driver.question
    page.get_by_role("button", name="No, not all").click()
    page.wait_for_function("b => document.querySelector('.panel').dataset.question !== b", arg=before)
    assert asked(driver)["protocol"] != "group", "they are asked about one by one"


def test_a_correction_for_all_and_one_of_the_proposal(server: Server, visit: Open) -> None:
    driver = visit(server)
    page = driver.page
    driver.annotate(server.id_of("keyboard"))
    for _ in range(60):
        question = asked(driver)
        if question["antecedent"] and question["antecedent"][1] + 1 < question["mention"][0]:
            break
        driver.answered("n" if question["protocol"] == "group" else "u")
    driver.press("b")
    driver.press("p")
    assert "earlier" not in page.locator("[data-set=boundaries] .others").inner_text()
    driver.press("Shift+ArrowRight")
    driver.answered("Enter")
    start, end = question["antecedent"]
    assert server.history()[0]["answer"]["reply"] == "proposed-boundaries"
    again = asked(driver)
    assert (again["mention"], again["antecedent"]) == (question["mention"], [start, end + 1])

    driver.annotate(server.id_of("equal"))
    to_group(driver)
    driver.answered("n")
    question = asked(driver)
    driver.press("b")
    driver.press("Shift+ArrowLeft")
    also = page.get_by_role("button", name="Also the 2 others")
    also.click()
    assert also.get_attribute("aria-pressed") == "true"
    driver.answered("Enter")
    assert server.history()[0]["answer"]["also"] == question["equal"]
    page.locator(GROUP).wait_for()
    driver.answered("y")
    assert len(server.history()[0]["spans"]) == 3, "one question about all that were corrected"

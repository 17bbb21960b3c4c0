"""Several people, several tabs, and a server that goes away."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from helpers.browser_driving import Open, Server

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_two_annotators(launch: Callable[..., Server], visit: Open) -> None:
    server = launch()
    owner = visit(server, "#project/people")
    page = owner.page
    page.get_by_label("Name", exact=True).fill("Mira")
    page.get_by_role("button", name="Invite").click()
    link = page.get_by_role("textbox", name="Invitation link for Mira")
    link.wait_for()
    address = link.input_value()
    assert address.startswith(f"{server.url}/#join=")

    stranger = visit(server)
    stranger.page.get_by_text("An invitation is needed").wait_for()

    owner.go("annotate")
    owner.page.get_by_role("button", name="Begin").wait_for()
    mira = visit(server, address.removeprefix(f"{server.url}/"))
    mira.page.get_by_role("button", name="That is me").wait_for()
    assert "join" not in mira.page.url
    mira.press("Control+a")
    mira.page.keyboard.type("Mira Lind")
    mira.press("Enter")
    mira.page.get_by_role("heading", name="What to annotate").wait_for()  # the guidelines
    mira.press("Enter")
    mira.page.get_by_role("button", name="Begin the tutorial").wait_for()
    mira.press("Enter")
    mira.tutorial()
    mira.page.get_by_role("button", name="Begin").wait_for()
    assert mira.page.locator(".bar nav").get_by_text("Project").count() == 0
    names = [each.page.locator(".reader .name").inner_text() for each in (owner, mira)]
    assert names[0] != names[1], "two people are given different documents"
    for each in (owner, mira):
        each.press("Enter")
        each.page.locator(".panel[data-question]").wait_for()
        each.answered("y")
    owner.press("h")
    owner.page.locator(".history .what").first.wait_for()
    assert owner.page.locator(".history .what").count() == 1, "one sees one's own answers only"
    mira.go("project")
    mira.page.get_by_text("For the project’s owner").wait_for()
    mira.go(f"annotate/{1 if names[0] == 'keyboard' else 2}")
    mira.page.locator("body[data-page=documents]").wait_for()

    stranger.page.reload()
    stranger.page.get_by_role("textbox", name="Invitation link").fill(f"{server.url}/#join=not-a-token")
    stranger.page.get_by_role("button", name="Join").click()
    stranger.page.get_by_role("alert").wait_for()


def test_an_invitation_leads_to_the_first_question_with_the_mouse(launch: Callable[..., Server], visit: Open) -> None:
    server = launch()
    owner = visit(server, "#project/people")
    owner.page.get_by_label("Name", exact=True).fill("Ben")
    owner.page.get_by_role("button", name="Invite").click()
    link = owner.page.get_by_role("textbox", name="Invitation link for Ben")
    link.wait_for()
    ben = visit(server, link.input_value().removeprefix(f"{server.url}/"))
    page = ben.page
    page.get_by_role("button", name="That is me").click()
    ben.go("annotate")
    page.locator("body[data-page=welcome]").wait_for()  # no question comes before the introduction
    page.get_by_role("button", name="That is me").click()
    page.get_by_role("button", name="I have read them").click()
    page.get_by_role("button", name="Begin the tutorial").click()
    page.get_by_text("step 1 of 3").wait_for()
    page.get_by_role("button", name="No", exact=True).click()
    page.get_by_role("button", name="This is the first").click()
    page.locator(".instruction strong").wait_for()
    assert page.get_by_text("step 1 of 3").is_visible(), "the answer is checked"
    page.get_by_role("button", name="Yes", exact=True).click()
    page.get_by_role("button", name="Next step").click()
    page.get_by_text("step 2 of 3").wait_for()
    page.get_by_role("button", name="No", exact=True).click()
    ben.drag(23, 30)
    page.locator(".confirm").get_by_role("button", name="First appearance").click()
    page.get_by_role("button", name="Next step").click()
    page.get_by_text("step 3 of 3").wait_for()
    assert server_me(page, server)["new"], "not before the last step"
    page.get_by_role("button", name="No", exact=True).click()
    page.get_by_role("button", name="This is the first").click()
    page.get_by_role("button", name="Start annotating").click()
    page.get_by_role("button", name="Begin").wait_for()
    assert not server_me(page, server)["new"]


def server_me(page: Page, server: Server) -> dict[str, object]:
    """What the server knows about the person of a page."""
    found: dict[str, object] = page.request.get(f"{server.url}/api/me").json()
    return found


def test_a_lost_connection_keeps_the_answer(launch: Callable[..., Server], visit: Open) -> None:
    server = launch()
    driver = visit(server)
    document = server.id_of("offline")
    driver.annotate(document)
    server.stop()
    before = driver.question
    driver.press("y")
    driver.page.get_by_text("No connection to the server").wait_for()
    assert driver.question == before
    driver.press("y", "n")
    server.start()
    driver.page.wait_for_function(
        "before => document.querySelector('.panel').dataset.question !== before", arg=before, timeout=60_000
    )
    driver.page.locator(".offline").wait_for(state="hidden")
    assert len(server.history(document)) == 1, "neither lost nor doubled"

    driver.page.context.set_offline(True)
    driver.press("y")
    driver.page.get_by_text("No connection to the server").wait_for()
    driver.page.context.set_offline(False)
    driver.page.wait_for_function("() => document.querySelector('.offline').hidden")
    driver.page.get_by_text("Question 3 of").wait_for()
    assert len(server.history(document)) == 2


def test_a_warning_that_cannot_be_fetched_disturbs_nobody(shared: Server, visit: Open) -> None:
    driver = visit(shared)
    driver.page.route("**/familiarity", lambda route: route.abort())
    document = shared.id_of("warned")
    driver.go(f"annotate/{document}")
    driver.page.get_by_role("button", name="Begin").wait_for()
    driver.page.wait_for_timeout(300)
    assert driver.page.locator(".note.bad").count() == 0


def test_an_answer_survives_the_tab(launch: Callable[..., Server], visit: Open) -> None:
    server = launch()
    driver = visit(server)
    document = server.id_of("offline")
    driver.annotate(document)
    server.stop()
    driver.press("y")
    driver.page.get_by_text("No connection to the server").wait_for()
    server.start()
    driver.page.reload()
    driver.page.get_by_text("kept in this browser and has now been saved").or_(
        driver.page.get_by_text("Question 2 of 6")
    ).first.wait_for()
    assert len(server.history(document)) == 1


def test_two_tabs_stay_in_step(shared: Server, visit: Open) -> None:
    document = shared.id_of("tabs")
    driver = visit(shared)
    driver.annotate(document)
    other = driver.page.context.new_page()
    other.goto(f"{shared.url}/#annotate/{document}")
    other.get_by_text("open in another tab").wait_for()
    begin = other.get_by_role("button", name="Begin")
    begin.wait_for()
    begin.click()
    other.locator(".panel[data-question]").wait_for()
    before = driver.question
    driver.answered("y")
    other.wait_for_function("before => document.querySelector('.panel').dataset.question !== before", arg=before)
    assert other.locator(".panel").get_attribute("data-question") == driver.question
    assert "another tab" in other.locator(".panel .said").inner_text()

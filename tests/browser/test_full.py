"""Annotating a document in full: by keys alone, and by mouse alone."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Route

from helpers.browser_driving import Driver, Open, Server

ANNA, FIETS, PIET = [[0, 0], [6, 6], [13, 13]], [[2, 4], [8, 9]], [[11, 11]]


def opened(shared: Server, visit: Open, name: str) -> tuple[Driver, int]:
    document = shared.id_of(name)
    driver = visit(shared, f"#full/{document}")
    driver.page.get_by_text("0 of 3 sentences done").wait_for()
    return driver, document


def saved(driver: Driver, number: int) -> None:
    driver.page.locator(".full-side .said").get_by_text(f"Saved as number {number}.").wait_for()


def check(shared: Server, driver: Driver, document: int) -> None:
    """All is marked and ticked off, and nothing is left to ask."""
    driver.page.get_by_text("Every sentence is done").wait_for()
    view: dict[str, Any] = shared.get(f"/full/{document}")
    assert [entity["mentions"] for entity in view["entities"]] == [ANNA, FIETS, PIET]
    assert [sentence for sentence, _ in view["done"]] == [0, 1, 2]
    assert shared.get(f"/next?document={document}")["question"] is None


def test_by_keys(shared: Server, visit: Open) -> None:
    driver, document = opened(shared, visit, "in full, by keys")
    page = driver.page
    driver.press("Enter")  # Anna: the first model knows a name when it sees one
    saved(driver, 1)
    driver.press(*["ArrowRight"] * 2, "Shift+ArrowRight", "Shift+ArrowRight", "n")  # on from Anna
    saved(driver, 2)
    driver.press("Space")
    page.get_by_text("1 of 3 sentences done; this is sentence 2").wait_for()
    assert driver.marked("chosen") == (6, 6), "a pronoun is proposed"
    driver.press("e")
    page.get_by_role("dialog").wait_for()
    page.keyboard.type("ann")
    driver.press("Enter")
    saved(driver, 4)
    driver.press("Escape", *["ArrowRight"] * 2, "Shift+ArrowRight")  # on from Zij
    assert driver.marked("chosen") == (8, 9)
    driver.press("2")  # Anna was mentioned last, the fiets before
    saved(driver, 5)
    driver.press("z")
    page.locator(".full-side .said").get_by_text("Undone").wait_for()
    driver.press("Shift+z")
    page.locator(".full-side .said").get_by_text("Redone").wait_for()
    assert driver.marked("chosen") == (11, 11)
    driver.press("n", "c")
    page.get_by_text("2 of 3 sentences done; this is sentence 3").wait_for()
    assert driver.marked("chosen") == (13, 13), "the same words are proposed"
    driver.press("Enter", "Space")
    check(shared, driver, document)
    assert driver.page.title().startswith("3 of 3 sentences done · in full, by keys")
    driver.press("Shift+d")
    page.locator("body[data-page=annotate]").wait_for()
    assert shared.get(f"/next?document={document}")["state"] == "document-done"


def test_by_mouse(shared: Server, visit: Open) -> None:
    driver, document = opened(shared, visit, "in full, by mouse")
    page = driver.page
    bar, side = page.locator(".confirm"), page.locator(".full-side")

    def drag(start: int, end: int) -> None:
        driver.token(start).hover()
        page.mouse.down()
        driver.token(end).hover()
        page.mouse.up()

    driver.token(0).click()
    bar.get_by_role("button", name="New entity").click()
    saved(driver, 1)
    drag(2, 4)
    bar.get_by_role("button", name="New entity").click()
    saved(driver, 2)
    drag(8, 9)  # in the next sentence, before this one is ticked off
    bar.get_by_role("button", name="Same as the last").click()
    saved(driver, 3)
    driver.token(6).click()
    side.get_by_role("button", name="Anna").last.click()
    saved(driver, 4)
    driver.token(11).click()
    bar.get_by_role("button", name="New entity").click()
    saved(driver, 5)
    side.get_by_role("button", name="Sentence done").click()
    page.get_by_text("1 of 3 sentences done; this is sentence 3").wait_for()
    side.get_by_role("button", name="Accept the proposal").click()
    saved(driver, 7)
    for done in (2, 3):
        side.get_by_role("button", name="Sentence done").click()
        page.get_by_text(f"{done} of 3 sentences done").wait_for()
    check(shared, driver, document)
    side.get_by_role("button", name="Finish the document").click()
    page.locator("body[data-page=annotate]").wait_for()
    assert shared.get(f"/next?document={document}")["state"] == "document-done"


def test_words_selected_while_a_mark_is_saved_stay_selected(shared: Server, visit: Open) -> None:
    driver, document = opened(shared, visit, "in full, slowly")
    page = driver.page

    def late(route: Route) -> None:
        page.wait_for_timeout(400)
        route.continue_()

    page.route("**/api/full", late)
    driver.press("Enter")
    driver.drag(2, 4)
    saved(driver, 1)
    assert driver.marked("chosen") == (2, 4)
    page.unroute("**/api/full")
    driver.press("n")
    saved(driver, 2)
    marked = [entity["mentions"] for entity in shared.get(f"/full/{document}")["entities"]]
    assert marked == [[[0, 0]], [[2, 4]]]
    assert driver.marked("chosen") != (2, 4), "on to the next proposal"

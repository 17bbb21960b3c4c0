"""200 % zoom, a phone, and a phone held sideways: text and question are both there, and nothing is cut."""

from __future__ import annotations

import re

import pytest

from helpers.browser_driving import Driver, Open, Server

LONG = "Interview with the harbour master of Skerrow and her brother, second recording, corrected"
BOX = "each => (({ left, top, right, bottom }) => [left, top, right, bottom])(each.getBoundingClientRect())"


def boxes(driver: Driver, selector: str) -> list[list[float]]:
    found: list[list[float]] = driver.page.locator(selector).evaluate_all(f"all => all.map({BOX})")
    return [box for box in found if box[2] > box[0]]


def overlap(a: list[float], b: list[float]) -> bool:
    return a[0] < b[2] - 1 and b[0] < a[2] - 1 and a[1] < b[3] - 1 and b[1] < a[3] - 1


@pytest.mark.parametrize(("width", "height"), [(640, 400), (375, 667), (1360, 850)])
def test_text_and_question_have_room(shared: Server, visit: Open, width: int, height: int) -> None:
    driver = visit(shared, viewport={"width": width, "height": height})
    page = driver.page
    document = shared.id_of("list")
    driver.annotate(document)
    for address, side in (("annotate", ".panel"), ("review", ".entities-side"), ("full", ".full-side")):
        if address != "annotate":
            driver.go(f"{address}/{document}")
            page.locator(f"body[data-page='{address}/{document}'] article.text").wait_for()
        (reader,), (panel,) = boxes(driver, ".reader"), boxes(driver, side)
        assert not overlap(reader, panel), address
        texts = boxes(driver, ".reader article.text .t")
        inside = [box for box in texts if box[0] >= reader[0] - 1 and box[2] <= reader[2] + 1]
        assert len(inside) == len(texts), f"{address}: the text is wider than its place"
        assert reader[3] - reader[1] > 0.2 * height, f"{address}: the text has too little room"
        tools = boxes(driver, ".reader-head button") + boxes(driver, ".review-bar button")
        assert all(box[2] <= (reader if box[0] < reader[2] else panel)[2] + 1 for box in tools), (
            f"{address}: a cut button"
        )
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), address
    driver.annotate(document)
    mention, yes = boxes(driver, ".t.mention")[0], boxes(driver, ".yes")[0]
    assert 0 < mention[1] < mention[3] <= height
    assert 0 < yes[1] < yes[3] <= height, "the question can be answered without scrolling"


def test_long_names_are_not_cut(shared: Server, visit: Open) -> None:
    driver = visit(shared, "#documents", viewport={"width": 375, "height": 667})
    page = driver.page
    document = shared.id_of("modes")
    page.locator("td.name > a").first.wait_for()
    patched = page.request.patch(
        f"{shared.url}/api/documents",
        data={"documents": [document], "name": LONG},
        headers={"X-Corefine": "1"},
    )
    assert patched.ok
    try:
        driver.go(f"review/{document}")
        name = page.locator(".reader-head .name", has_text=LONG)
        name.wait_for()
        assert name.evaluate("each => each.scrollWidth <= each.clientWidth && each.scrollHeight <= each.clientHeight")
        driver.annotate(document)
        assert f" · {LONG} · " in page.title()
        assert re.match(r"Question \d+ of \d+ · ", page.title())  # other tests may have answered some
    finally:
        page.request.patch(
            f"{shared.url}/api/documents",
            data={"documents": [document], "name": "modes"},
            headers={"X-Corefine": "1"},
        )


def test_a_dialog_does_not_survive_navigation(shared: Server, visit: Open) -> None:
    driver = visit(shared)
    driver.annotate(shared.id_of("touch"))
    driver.press("?")
    driver.page.get_by_role("dialog").wait_for()
    driver.page.go_back()
    driver.page.get_by_role("dialog").wait_for(state="detached")
    driver.go("documents")
    driver.page.locator("body[data-page=documents]").wait_for()
    driver.press("a")
    driver.page.locator("body[data-page=annotate]").wait_for()


def test_keys_work_as_soon_as_a_dialog_is_closed(shared: Server, visit: Open) -> None:
    """The next key may come before the browser's event that a dialog was closed."""
    driver = visit(shared)
    driver.go("documents")
    driver.page.locator("body[data-page=documents]").wait_for()
    driver.press("?")
    dialog = driver.page.get_by_role("dialog")
    dialog.wait_for()
    closed_and_opened = """element => {
        element.querySelector("button").click();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }));
        return document.querySelectorAll("dialog[open]").length;
    }"""
    assert dialog.evaluate(closed_and_opened) == 1
    driver.press("Escape")
    dialog.wait_for(state="detached")

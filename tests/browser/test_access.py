"""Labels, contrast, target sizes and structure of the main pages, light and dark, desktop and phone."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.browser_driving import Open, Server

CHECK = Path(__file__).with_name("accessibility.js").read_text("utf-8")
PAGES = (
    "annotate", "documents", "tutorial", "review/5", "project/dashboard", "project/people", "project/agreement",
    "project/adjudication", "project/guidelines", "project/study", "project/settings", "project/export",
)  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_are_accessible(shared: Server, visit: Open, scheme: str, width: int) -> None:
    driver = visit(shared, viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce")
    page = driver.page
    found = {}
    for address in PAGES:
        driver.go(address)
        page.locator(f"body[data-page='{address}'] main:not(:has([aria-busy=true])) h1").first.wait_for()
        page.wait_for_load_state("networkidle")
        found[address] = page.evaluate(CHECK)
    driver.go("annotate/12")
    page.locator(".panel h1").wait_for()
    driver.press("Enter", "n", "?")
    page.get_by_role("dialog").wait_for()
    found["keys"] = page.evaluate(CHECK)
    driver.press("Escape")
    page.locator(".entity-list [role=option]").first.wait_for()
    found["follow-up"] = page.evaluate(CHECK)
    assert {address: problems for address, problems in found.items() if problems} == {}


def test_the_question_is_announced_and_the_focus_is_kept(shared: Server, visit: Open) -> None:
    driver = visit(shared)
    driver.annotate(shared.id_of("hostile"))
    spoken = driver.page.locator("#live").inner_text()
    assert spoken.startswith("Same entity?")
    driver.press("g")
    driver.page.locator(".drawer").wait_for()
    assert driver.page.locator(".drawer").evaluate("drawer => drawer.contains(document.activeElement)")
    driver.press("Escape")
    driver.page.locator(".drawer").wait_for(state="hidden")
    driver.press("?")
    driver.page.get_by_role("checkbox").uncheck()
    driver.press("Escape")
    driver.press("n")
    assert driver.title == "Same entity?", "single keys are off"

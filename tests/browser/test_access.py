"""Labels, contrast, target sizes and structure of the main pages, light and dark, desktop and phone."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from helpers.browser_driving import Driver, Open, Server

CHECK = Path(__file__).with_name("accessibility.js").read_text("utf-8")
PAGES = (
    "annotate", "documents", "tutorial", "welcome", "review/5", "full/5", "study", "project/dashboard",
    "project/people", "project/agreement", "project/adjudication", "project/guidelines", "project/study",
    "project/settings", "project/export",
)  # fmt: skip
AXE = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const first = (nodes) => nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" ");
  return grave.map(({ id, nodes }) => `axe: ${id}: ${first(nodes)}`);
}"""


def problems(driver: Driver, *, axe: bool) -> list[str]:
    """What our own check finds, and axe-core where it is installed."""
    found: list[str] = driver.page.evaluate(CHECK)
    if axe:
        pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
        if not driver.page.evaluate("() => 'axe' in window"):
            driver.page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
        found += driver.page.evaluate(AXE)
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_are_accessible(shared: Server, visit: Open, scheme: str, width: int) -> None:
    driver = visit(shared, viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce")
    page = driver.page
    axe = (scheme, width) in (("light", 1280), ("dark", 390))  # once for each colour and each width
    found = {}
    for address in PAGES:
        driver.go(address)
        page.locator(f"body[data-page='{address}'] main:not(:has([aria-busy=true])) h1").first.wait_for()
        page.wait_for_load_state("networkidle")
        found[address] = problems(driver, axe=axe)
    driver.go("documents")
    page.get_by_role("checkbox", name="Select touch").check()
    page.get_by_role("region", name="Selected documents").get_by_role("button", name="Language").click()
    page.get_by_role("dialog").wait_for()
    found["language"] = problems(driver, axe=axe)
    driver.press("Escape")
    page.locator("#files").set_input_files({"name": "a.jsonl", "mimeType": "", "buffer": b"{}"})
    page.get_by_role("dialog").get_by_text("may come with entities").wait_for()
    found["entities"] = problems(driver, axe=axe)
    driver.press("Escape")
    driver.go("annotate/12")
    page.locator(".panel h1").wait_for()
    for drawer in ("g", "h"):
        driver.press(drawer)
        page.locator(".drawer .body > *").first.wait_for()
        found[f"drawer {drawer}"] = problems(driver, axe=axe)
        driver.press("Escape")
    driver.press("Enter", "n", "?")
    page.get_by_role("dialog").wait_for()
    found["keys"] = problems(driver, axe=axe)
    driver.press("Escape")
    page.locator(".entity-list [role=option]").first.wait_for()
    found["follow-up"] = problems(driver, axe=axe)
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

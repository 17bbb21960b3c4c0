"""Texts that try to become markup, and texts that are hard to show."""

from __future__ import annotations

from corefine.document import Document
from helpers.browser_driving import Open, Server


def test_hostile_text_stays_text(shared: Server, visit: Open, documents: dict[str, Document]) -> None:
    document = documents["hostile"]
    driver = visit(shared)
    driver.annotate(shared.id_of("hostile"))
    page = driver.page
    shown = page.locator(".text .t").evaluate_all("all => all.map(each => each.textContent)")
    assert len(shown) == len(document)
    for text, token in zip(shown, document.tokens, strict=True):
        assert text == token or (not token.strip("\u200b\u200c\u200d") and text.startswith("[U+200"))
    assert page.locator("article script, article img, article svg").count() == 0
    assert page.locator("article *").evaluate_all(
        "all => all.every(each => ['P', 'SPAN', 'WBR', 'BUTTON', 'KBD'].includes(each.tagName))"
    )
    driver.press("n")
    page.locator(".entity-list [role=option]").first.wait_for()
    driver.press("h")
    page.locator(".drawer .body").wait_for()
    driver.go(f"review/{shared.id_of('hostile')}")
    page.locator(".card").first.wait_for()
    assert page.evaluate("() => window.hacked === undefined")
    boxes = page.locator(".text .t").evaluate_all("all => all.map(each => each.getBoundingClientRect().width)")
    assert all(width > 0 for width in boxes), "every token can be seen and clicked"


def test_a_megabyte_without_a_space(shared: Server, visit: Open) -> None:
    driver = visit(shared)
    driver.annotate(shared.id_of("giant"))
    token = driver.token(2)
    assert len(token.inner_text()) < 1000
    assert "1,000,000 characters" in str(token.get_attribute("title"))
    assert driver.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    driver.press("n")
    driver.answered("f")


def test_right_to_left(shared: Server, visit: Open) -> None:
    driver = visit(shared)
    driver.go(f"review/{shared.id_of('arabic')}")
    text = driver.page.locator(".text[lang=ar]")  # until it is loaded, the text of the page before is still there
    text.wait_for()
    assert text.get_attribute("dir") == "rtl"
    first, second = driver.token(0).bounding_box(), driver.token(1).bounding_box()
    assert first is not None
    assert second is not None
    assert first["x"] > second["x"]


def test_guidelines_are_text(shared: Server, visit: Open) -> None:
    driver = visit(shared, "#project/guidelines")
    page = driver.page
    area = page.get_by_label("Guidelines in Markdown")
    area.fill(
        "# Rules\n\n<script>window.hacked=1</script> **bold** "
        "[no](javascript:alert(1)) [yes](https://example.org)\n\n- one\n- two"
    )
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved", exact=True).wait_for()
    page.keyboard.press("Escape")
    page.locator("main").focus()
    driver.press("g")
    drawer = page.locator(".drawer .markdown")
    drawer.wait_for()
    assert drawer.locator("strong").inner_text() == "bold"
    assert drawer.locator("li").count() == 2
    assert drawer.locator("a").evaluate_all("all => all.map(each => each.href)") == ["https://example.org/"]
    assert "<script>" in drawer.inner_text()
    assert page.evaluate("() => window.hacked === undefined")


def test_tutorial_checks_the_answers(shared: Server, visit: Open) -> None:
    driver = visit(shared, "#tutorial")
    page = driver.page
    steps = shared.get("/tutorial")["steps"]
    page.locator(".panel[data-question]").wait_for()
    driver.press("u")
    page.locator(".instruction strong").wait_for()
    assert driver.page.get_by_text("step 1 of 3").is_visible(), "a wrong answer does not pass"
    driver.answered("y")
    driver.press("Enter")
    page.get_by_text("step 2 of 3").wait_for()
    driver.press("n")
    driver.drag(23, 30)
    driver.answered("Enter")
    driver.press("Enter")
    page.get_by_text("step 3 of 3").wait_for()
    driver.press("n")
    driver.answered("f")
    assert driver.title == "That is all there is to it"
    assert len(steps) == 3
    answers = len(shared.history())
    driver.press("Enter")
    page.wait_for_function("() => location.hash === '#annotate'")
    assert len(shared.history()) == answers, "nothing is stored"

"""An answer that contradicts earlier ones is shown, with the earlier ones in context, and never applied silently."""

from __future__ import annotations

from helpers.browser_driving import Open, Server


def test_withdraw_what_contradicts(shared: Server, visit: Open) -> None:
    document = shared.id_of("contradiction")
    driver = visit(shared)
    driver.annotate(document)
    page = driver.page
    gone = []
    while True:  # what is said to be no mention is then named as a first appearance
        mention = driver.marked("mention")
        assert mention is not None
        earlier = next((span for span in gone if span < mention), None)
        if earlier:
            break
        gone.append(mention)
        driver.answered("x")
    driver.press("n")
    driver.choose(earlier)
    driver.press("Enter")

    dialog = page.get_by_role("dialog")
    dialog.get_by_role("heading", name="This contradicts answer").wait_for()
    assert "first appears as" in (dialog.locator(".entry.new").text_content() or "")
    assert dialog.locator(".first-mark").first.is_visible()
    before = shared.history(document)
    driver.press("Enter")
    assert dialog.is_visible(), "nothing is withdrawn unless it is chosen"
    driver.press("Escape")
    dialog.wait_for(state="detached")
    assert shared.history(document) == before
    page.locator(".panel .said").get_by_text("Nothing was changed. The question is still open.").wait_for()
    assert driver.title == "Mark the first appearance"

    driver.choose(earlier)
    driver.press("Enter")
    dialog.wait_for()
    driver.answered("1", "Enter")
    newest, *rest = shared.history(document)
    assert newest["answer"]["span"] == list(earlier)
    assert [entry["stands"] for entry in rest].count(False) == 1

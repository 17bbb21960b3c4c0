"""Whole documents annotated as people do it: by keyboard, by mouse, by touch, and taking things back."""

from __future__ import annotations

from collections.abc import Callable

from corefine.document import Document
from helpers.browser_driving import Driver, Open, Server, first_mention


def answer_by_keys(driver: Driver, story: Document) -> dict[str, object]:
    """Answer the open question as the gold has it, with keys only; returns the answer the log should have."""
    mention, antecedent = driver.marked("mention"), driver.marked("antecedent")
    assert mention is not None
    first = first_mention(story, mention)
    if first is None:
        driver.answered("x")
        return {"same": None, "reply": "not-a-mention", "span": None}
    if antecedent is not None and first_mention(story, antecedent) == first:
        driver.answered("y")
        return {"same": True, "reply": None, "span": None}
    driver.press("n")
    assert driver.title == "Mark the first appearance"
    if first == mention:
        driver.answered("f")
    else:
        driver.choose(first)
        driver.answered("Enter")
    return {"same": False, "reply": "first", "span": list(first)}


def test_a_whole_document_by_keyboard(shared: Server, visit: Open, documents: dict[str, Document]) -> None:
    document = shared.id_of("keyboard")
    driver = visit(shared)
    driver.annotate(document)
    said = [answer_by_keys(driver, documents["keyboard"]) for _ in range(6)]
    assert driver.title == "This document is done"
    entries = shared.history(document)
    assert [entry["answer"] for entry in reversed(entries)] == said
    assert all(entry["stands"] and entry["seconds"] > 0 for entry in entries)
    driver.press("Enter")
    driver.page.wait_for_function("() => !document.querySelector('.reader .name').textContent.startsWith('keyboard')")


def test_by_mouse_and_nothing_moves(shared: Server, visit: Open, documents: dict[str, Document]) -> None:
    story, document = documents["mouse"], shared.id_of("mouse")
    driver = visit(shared)
    driver.annotate(document)
    page = driver.page
    places = []
    for _ in range(5):
        places.append(
            [page.get_by_role("button", name=name, exact=True).bounding_box() for name in ("Yes", "No", "Unsure")]
        )
        mention, antecedent = driver.marked("mention"), driver.marked("antecedent")
        assert mention is not None
        assert page.locator(".mention").first.is_visible()
        before = driver.question
        first = first_mention(story, mention)
        if antecedent is not None and first is not None and first_mention(story, antecedent) == first:
            page.get_by_role("button", name="Yes", exact=True).click()
        else:
            page.get_by_role("button", name="No", exact=True).click()
            if first is None or first == mention:
                page.get_by_role("button", name="This is the first").click()
            else:
                if not driver.token(first.start).is_visible():
                    page.locator(".fold").click()
                driver.token(first.start).scroll_into_view_if_needed()
                driver.drag(first.start, first.end)
                assert driver.marked("chosen") == first
                page.locator(".confirm").get_by_role("button", name="First appearance").click()
        page.wait_for_function("before => document.querySelector('.panel').dataset.question !== before", arg=before)
    assert len(shared.history(document)) == 5
    assert all(place == places[0] for place in places), "buttons moved from one question to the next"


def test_enter_works_after_a_click_in_the_navigation(launch: Callable[..., Server], visit: Open) -> None:
    driver = visit(launch())
    begin = driver.page.get_by_role("button", name="Begin")
    begin.wait_for()
    driver.page.get_by_role("navigation").get_by_role("link", name="Annotate").click()
    driver.page.wait_for_timeout(500)  # the page is drawn again: the button before it may still be there
    begin.wait_for()
    driver.press("Enter")
    driver.page.locator(".panel[data-question]").wait_for()


def test_a_known_entity_is_found_by_typing(shared: Server, visit: Open) -> None:
    document = shared.id_of("list")
    driver = visit(shared)
    driver.annotate(document)
    driver.press("n")
    rows = driver.page.locator(".entity-list [role=option]")
    rows.first.wait_for()
    name = rows.filter(has_text="×").last.locator(".first").inner_text().split()[-1]
    driver.press("/")
    driver.page.keyboard.type(name.upper())
    assert name in rows.first.inner_text()
    driver.answered("Enter")
    answer = shared.history(document)[0]
    assert answer["answer"]["reply"] in ("first", "antecedent")
    assert any(name in text for text in answer["texts"])


def test_other_boundaries_by_keys(shared: Server, visit: Open) -> None:
    document = shared.id_of("modes")
    driver = visit(shared)
    driver.annotate(document)
    mention = driver.marked("mention")
    assert mention is not None
    driver.press("b")
    assert driver.title == "Wrong boundaries"
    driver.press("Shift+ArrowRight")
    driver.answered("Enter")
    assert driver.marked("mention") == (mention.start, mention.end + 1), "the corrected mention is asked about next"
    assert shared.history(document)[0]["answer"]["span"] == [mention.start, mention.end + 1]
    driver.press("?")
    assert driver.page.get_by_role("dialog").get_by_text("Wrong boundaries").is_visible()
    driver.press("Escape")
    driver.page.get_by_role("dialog").wait_for(state="hidden")
    driver.answered("u")
    assert shared.history(document)[0]["answer"]["reply"] == "unsure"


def test_undo_redo_and_withdrawal(shared: Server, visit: Open) -> None:
    document = shared.id_of("undo")
    driver = visit(shared)
    driver.annotate(document)
    asked = [driver.asked]
    driver.answered("y")
    asked.append(driver.asked)
    driver.answered("y")
    driver.answered("z")
    assert driver.asked == asked[1]
    driver.answered("z")
    assert driver.asked == asked[0]
    driver.answered("Shift+z")
    assert driver.asked == asked[1]
    driver.press("n")
    driver.press("z")
    assert driver.title == "Same entity?", "undo first takes back the no that was not sent"
    assert [entry["stands"] for entry in shared.history(document)] == [False, True]

    driver.page.reload()
    driver.annotate(document)
    driver.press("h")
    withdraw = driver.page.get_by_role("button", name="Withdraw").first
    withdraw.wait_for()
    driver.page.locator(".history .what").nth(1).click()
    driver.page.locator(".history .first-mark").first.wait_for()
    withdraw.click()
    driver.page.get_by_text("is withdrawn").wait_for()
    assert [entry["stands"] for entry in shared.history(document)] == [False, False]
    driver.press("Escape")
    driver.page.wait_for_function(
        "asked => document.querySelector('.panel').dataset.question.endsWith(`:${asked}`)", arg=asked[0]
    )
    driver.answered("z")
    assert [entry["stands"] for entry in shared.history(document)] == [False, True]


def test_every_protocol(launch: Callable[..., Server], visit: Open) -> None:
    server = launch(protocol="pairwise")
    driver = visit(server)
    settings = server.get("/settings")
    for name, protocol, title in (
        ("mouse", "pairwise", "Same entity?"),
        ("undo", "follow-up", "Mark the first appearance"),
        ("list", "mentions", "Is this a mention?"),
    ):
        server.put("/settings", {**settings, "protocol": protocol})
        document = server.id_of(name)
        driver.annotate(document)
        assert driver.title == title
        if protocol == "follow-up":
            assert driver.marked("antecedent") is None
            driver.answered("f")
        else:
            driver.answered("n")
        (entry,) = server.history(document)
        expected = {"pairwise": [False, None], "follow-up": [None, "first"], "mentions": [None, "not-a-mention"]}[
            protocol
        ]
        assert [entry["answer"]["same"], entry["answer"]["reply"]] == expected


def test_touch(shared: Server, visit: Open) -> None:
    document = shared.id_of("touch")
    driver = visit(shared, viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    driver.annotate(document)
    page = driver.page
    page.get_by_role("button", name="No", exact=True).tap()
    mention = driver.marked("mention")
    assert mention is not None
    before = driver.question
    token = driver.token(mention.start - 1)
    page.evaluate(
        "token => document.querySelector(`.t[data-i='${token}']`).scrollIntoView({block: 'center'})", mention.start - 1
    )
    token.tap()
    assert driver.marked("chosen") is not None
    page.locator(".confirm").get_by_role("button", name="First appearance").tap()
    page.wait_for_function("before => document.querySelector('.panel').dataset.question !== before", arg=before)
    assert len(shared.history(document)) == 1
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the phone"


def test_what_lies_between_folds_away(shared: Server, visit: Open) -> None:
    driver = visit(shared)
    driver.annotate(shared.id_of("far"))
    fold = driver.page.locator(".fold")
    assert "sentences" in fold.inner_text()
    assert driver.page.locator(".antecedent").first.is_visible()
    assert _in_view(driver, "antecedent")
    assert _in_view(driver, "mention")
    hidden = driver.page.locator(".sentence[hidden]").count()
    assert hidden > 40
    driver.press("o")
    assert driver.page.locator(".sentence[hidden]").count() == 0
    driver.press("o")
    assert driver.page.locator(".sentence[hidden]").count() == hidden


def _in_view(driver: Driver, name: str) -> bool:
    box = driver.page.locator(f".t.{name}").first.bounding_box()
    frame = driver.page.locator(".reader-scroll").bounding_box()
    assert box is not None
    assert frame is not None
    return frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"]

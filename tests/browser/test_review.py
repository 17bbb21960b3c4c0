"""Review: entities side by side; split, merge, move and remove by keys and by dragging."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helpers.browser_driving import Driver, Open, Server

if TYPE_CHECKING:
    from playwright.sync_api import Locator


def entities(server: Server, document: int) -> list[set[tuple[int, int]]]:
    listed: list[dict[str, Any]] = server.get(f"/documents/{document}/entities")["entities"]
    return [{tuple(mention["span"]) for mention in entity["mentions"]} for entity in listed]


def drag(driver: Driver, source: Locator, target: Locator) -> None:
    source.scroll_into_view_if_needed()
    start = source.bounding_box()
    assert start is not None
    mouse = driver.page.mouse
    mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    mouse.down()
    mouse.move(start["x"] + start["width"] / 2 + 10, start["y"] + start["height"] / 2 + 10)
    end = target.bounding_box()
    assert end is not None
    mouse.move(end["x"] + end["width"] / 2, end["y"] + min(end["height"] / 2, 20), steps=6)
    mouse.up()


def edited(driver: Driver, number: int) -> None:
    driver.page.locator(".entities-side .said").get_by_text(f"saved as number {number}.").wait_for()


def test_review(shared: Server, visit: Open) -> None:
    document = shared.id_of("review")
    driver = visit(shared, f"#review/{document}")
    page = driver.page
    cards = page.locator(".card:not(.once)")
    cards.first.wait_for()
    found = shared.get(f"/documents/{document}/entities")["entities"]
    assert any(entity["name"] != entity["mentions"][0]["span"] for entity in found), "a name comes after a noun"
    for entity, header in zip(found, page.locator(".card").all(), strict=False):
        if len(entity["mentions"]) > 1:
            best = next(each["text"] for each in entity["mentions"] if each["span"] == entity["name"])
            assert header.locator("header .first").inner_text() == best

    before = entities(shared, document)
    largest = max(range(len(before)), key=lambda index: len(before[index]))
    card = page.locator(f".card[data-entity='{largest}']")
    chips = card.locator(".mention-item")
    last = tuple(int(part) for part in str(chips.last.get_attribute("data-mention")).split("-"))

    chips.last.click()
    driver.press("s")
    edited(driver, 1)
    after = entities(shared, document)
    own = next(entity for entity in after if last in entity)
    assert min(own) == last, "what is split off begins an entity"
    assert not own & (before[largest] - {last})

    driver.press("z")
    page.locator(".entities-side .said").get_by_text("Undone").wait_for()
    assert sorted(map(sorted, entities(shared, document))) == sorted(map(sorted, before))

    drag(driver, card.locator(".mention-item").last, page.locator("[data-drop=bin]"))
    edited(driver, 2)
    assert all(last not in entity for entity in entities(shared, document))

    first, second = (
        entities(shared, document)[int(str(cards.nth(index).get_attribute("data-entity")))] for index in (0, 1)
    )
    drag(driver, cards.nth(0).locator("header"), cards.nth(1))
    edited(driver, 3)
    assert first | second in entities(shared, document)

    moved = tuple(
        int(part) for part in str(cards.nth(1).locator(".mention-item").last.get_attribute("data-mention")).split("-")
    )
    cards.nth(1).locator(".mention-item").last.click()
    driver.press("m")
    target = page.get_by_role("dialog").locator("[role=option]").first
    target.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    edited(driver, 4)
    assert next(entity for entity in entities(shared, document) if moved in entity) not in ({moved},)
    assert [entry["kind"] for entry in shared.history(document)] == ["edit"] * 4


def test_words_of_the_text_are_added(shared: Server, visit: Open) -> None:
    document = shared.id_of("review")
    driver = visit(shared, f"#review/{document}")
    driver.page.locator(".card").first.wait_for()
    known = {span for entity in entities(shared, document) for span in entity}
    token = next(index for index in range(200) if all(not start <= index <= end for start, end in known))
    driver.token(token).click()
    before = len(shared.history(document))
    driver.press("n")
    edited(driver, before + 1)
    assert {(token, token)} in entities(shared, document)


def colour(driver: Driver, span: tuple[int, int]) -> str:
    """The colour that underlines a mention in the text."""
    found: str = driver.token(span[0]).evaluate("token => token.style.getPropertyValue('--u0')")
    return found


@pytest.mark.parametrize("by", ["keys", "mouse"])
def test_entities_are_confirmed_and_documents_reviewed(shared: Server, visit: Open, by: str) -> None:
    document = shared.id_of("team" if by == "keys" else "offline")
    driver = visit(shared, f"#review/{document}")
    page = driver.page
    card = page.locator(".card:not(.once)").first
    card.wait_for()
    size = card.locator(".mention-item").count()
    count = page.locator(".card:not(.once)").count()
    assert page.title().startswith(f"0 of {count} confirmed")
    if by == "keys":
        page.locator("#main").focus()
        driver.press("ArrowRight", "c")
    else:
        card.get_by_role("button", name="Confirm").click()
    page.locator(".entities-side .said").get_by_text(f"is confirmed: {size} mentions").wait_for()
    card.get_by_text("✓ confirmed").wait_for()
    assert card.locator(".mention-item.human").count() == size
    assert page.title().startswith(f"1 of {count} confirmed")
    reviewed = page.get_by_role("button", name="Document reviewed")
    driver.press("Shift+r") if by == "keys" else reviewed.click()
    page.get_by_text("The document is marked as reviewed").wait_for()
    assert reviewed.get_attribute("aria-pressed") == "true"
    assert page.title().startswith("Reviewed · ")
    assert next(row for row in shared.get("/documents") if row["id"] == document)["reviewed"]
    driver.press("Shift+r") if by == "keys" else reviewed.click()
    page.get_by_text("no longer marked as reviewed").wait_for()
    driver.press("z")
    page.locator(".entities-side .said").get_by_text("Undone").wait_for()
    card.get_by_role("button", name="Confirm").wait_for()


def test_colours_stay_when_others_merge_and_a_single_mention_is_underlined(shared: Server, visit: Open) -> None:
    document = shared.id_of("contradiction")
    driver = visit(shared, f"#review/{document}")
    page = driver.page
    cards = page.locator(".card:not(.once)")
    cards.first.wait_for()
    before = entities(shared, document)
    alone = [min(entity) for entity in before if len(entity) > 1]
    colours = {span: colour(driver, span) for span in alone}
    assert all(colours.values())
    cards.nth(0).locator(".mention-item").first.click()
    driver.press("j")  # merged with the first that is offered
    page.get_by_role("dialog").locator("[role=option]").first.wait_for()
    driver.press("ArrowDown", "Enter")
    page.locator(".entities-side .said").get_by_text("Merged").wait_for()
    after = entities(shared, document)
    merged = next(entity for entity in after if entity not in before)
    kept = [span for span in alone if span not in merged]
    assert kept
    assert {span: colour(driver, span) for span in kept} == {span: colours[span] for span in kept}

    known = {span for entity in after for span in entity}
    token = next(index for index in range(300) if all(not start <= index <= end for start, end in known))
    assert not colour(driver, (token, token))
    driver.token(token).click()
    driver.press("n")
    page.locator(".entities-side .said").get_by_text("Added").wait_for()
    assert colour(driver, (token, token)), "somebody said that it is one"
    page.reload()
    cards.first.wait_for()
    assert colour(driver, (token, token))

"""The page Documents: searched and sorted by everybody; named, tagged, assigned, deleted and restored by the owner."""

from __future__ import annotations

from collections.abc import Callable

from helpers.browser_driving import Driver, Open, Server


def shown(driver: Driver) -> list[str]:
    names: list[str] = driver.page.locator("td.name > a").all_inner_texts()
    return names


def opened(launch: Callable[..., Server], visit: Open) -> Driver:
    driver = visit(launch(), "#documents")
    driver.page.locator("td.name > a").first.wait_for()
    return driver


def test_with_the_mouse(launch: Callable[..., Server], visit: Open) -> None:
    driver = opened(launch, visit)
    page = driver.page
    names = shown(driver)
    page.get_by_role("button", name="Name", exact=True).click()
    assert shown(driver) == sorted(names, key=str.lower)
    page.get_by_role("button", name="Name", exact=True).click()
    assert shown(driver) == sorted(names, key=str.lower, reverse=True)
    page.get_by_role("checkbox", name="Select keyboard").check()
    page.get_by_role("checkbox", name="Select hostile").check()
    page.get_by_role("button", name="Tags").click()
    page.get_by_label("New tag").fill("odd")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Show only the tag odd").first.click()
    assert sorted(shown(driver)) == ["hostile", "keyboard"]
    page.get_by_role("button", name="Assign").click()
    page.get_by_role("dialog").get_by_label("owner").check()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("for owner").first.wait_for()
    page.get_by_role("button", name="Mark reviewed").click()
    page.locator("td.state").get_by_text("reviewed").first.wait_for()
    page.get_by_role("button", name="Delete").click()
    page.get_by_text("2 documents are in the trash").wait_for()
    assert not {"hostile", "keyboard"} & {row["name"] for row in driver.server.get("/documents")}
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("checkbox", name="Select keyboard").wait_for()
    page.get_by_role("checkbox", name="Select keyboard").check()
    page.get_by_role("button", name="Rename").click()
    page.get_by_role("dialog").get_by_label("Name").fill("The piano")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    page.get_by_role("link", name="The piano", exact=True).wait_for()


def test_with_keys(launch: Callable[..., Server], visit: Open) -> None:
    driver = opened(launch, visit)
    page = driver.page
    total = len(shown(driver))
    driver.press("/")
    page.keyboard.type("KEYB")
    assert shown(driver) == ["keyboard"]
    driver.press("Control+a", "Backspace", "Tab")
    page.locator("#main").focus()
    driver.press("ArrowDown", "ArrowDown", "x", "ArrowDown", "x")
    page.get_by_text("2 documents selected").wait_for()
    driver.press("Delete")
    page.get_by_text("Trash (2)").wait_for()
    assert len(shown(driver)) == total - 2
    page.get_by_role("button", name="Trash (2)").focus()
    driver.press("Enter")
    page.get_by_role("button", name="Restore all").focus()
    driver.press("Enter")
    page.get_by_text("Trash (2)").wait_for(state="hidden")
    assert len(shown(driver)) == total

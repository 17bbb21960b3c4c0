"""Files that are added: their language is shown and can be changed, and what they come with is asked about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from corefine import formats
from corefine.corpora import stories
from corefine.document import Document
from helpers.browser_driving import Driver, Open, Server
from helpers.browser_texts import DUTCH

if TYPE_CHECKING:
    from playwright.sync_api import Locator

CHINESE = "王芳在上海的一家医院当护士。她每天早上六点起床。"
ARABIC = "وصلت ليلى إلى المدينة في الصباح. استقبلها أخوها سامي في المحطة."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("uploads")
    formats.write([Document.from_sentences("first", DUTCH, language="nl")], folder / "texts.jsonl")
    with Server(folder / "project", folder / "texts.jsonl", {}) as started:
        yield started


def opened(server: Server, visit: Open, address: str = "#documents") -> Driver:
    driver = visit(server, address)
    driver.page.locator("body[data-page]").wait_for()
    return driver


def add(driver: Driver, *paths: Path) -> None:
    driver.page.locator("#files").set_input_files(list(paths))


def row_of(server: Server, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in server.get("/documents") if row["name"] == name)
    return found


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.txt"
    path.write_text(text, "utf-8")
    return path


def with_entities(folder: Path, name: str) -> Path:
    """A story with gold entities that no other test adds."""
    path = folder / f"{name}.jsonl"
    formats.write([replace(stories.load()[0], name=name)], path)
    return path


def selected(driver: Driver) -> Locator:
    return driver.page.get_by_role("region", name="Selected documents")


def test_languages_are_detected_shown_and_changed_with_the_mouse(server: Server, visit: Open, tmp_path: Path) -> None:
    driver = opened(server, visit)
    page = driver.page
    add(driver, written(tmp_path, "wang", CHINESE), written(tmp_path, "layla", ARABIC))
    page.locator(".upload-result").get_by_text("detected as Chinese").wait_for()
    page.locator(".upload-result").get_by_text("detected as Arabic").wait_for()
    assert "Chinese" in page.get_by_role("row", name="Select wang").inner_text()
    assert row_of(server, "wang")["tokens"] == len(CHINESE), "a character is a token"
    page.get_by_role("checkbox", name="Select wang").check()
    selected(driver).get_by_role("button", name="Language").click()
    page.get_by_role("dialog").get_by_label("Language").select_option(label="English")
    page.get_by_role("button", name="Split again").click()
    page.get_by_text("1 document split as English").wait_for()
    row = row_of(server, "wang")
    assert (row["language"], row["tokens"] < len(CHINESE)) == ("English", True)
    page.get_by_role("button", name="Trash (1)").click()
    page.get_by_role("dialog").get_by_text("wang (Chinese)").wait_for()


def test_the_language_is_changed_with_keys(server: Server, visit: Open, tmp_path: Path) -> None:
    driver = opened(server, visit)
    page = driver.page
    add(driver, written(tmp_path, "li", CHINESE.replace("王芳", "李强")))
    page.get_by_role("link", name="li", exact=True).wait_for()
    driver.press("/")
    page.keyboard.type("chinese")
    page.get_by_text("1 shown").wait_for()
    driver.press("Tab")
    page.locator("#main").focus()
    driver.press("ArrowDown", "x")
    page.get_by_text("1 document selected").wait_for()
    selected(driver).get_by_role("button", name="Language").focus()
    driver.press("Enter")
    page.get_by_role("dialog").wait_for()
    page.keyboard.type("Japanese")
    driver.press("Tab", "Enter")
    page.get_by_text("1 document split as Japanese").wait_for()
    assert row_of(server, "li")["language"] == "Japanese"


def test_the_language_of_a_project_is_a_setting(server: Server, visit: Open, tmp_path: Path) -> None:
    driver = opened(server, visit, "#project/settings")
    page = driver.page

    def choose(label: str) -> None:
        driver.go("project/settings")
        page.get_by_label("Language of new documents").select_option(label=label)
        page.get_by_role("button", name="Save").click()
        page.get_by_text("Saved", exact=True).wait_for()

    choose("Persian")
    driver.go("documents")
    page.wait_for_function("() => document.querySelector('.upload-options select')?.value === 'fa'")
    add(driver, written(tmp_path, "samira", ARABIC.replace("ليلى", "سميرة")))
    page.locator(".upload-result").get_by_text("language: Persian").wait_for()
    assert row_of(server, "samira")["language"] == "Persian"
    choose("detected from the text")


def test_what_a_file_comes_with_is_asked_about(server: Server, visit: Open, tmp_path: Path) -> None:
    """With keys; the last choice is offered first the next time."""
    driver = opened(server, visit)
    page = driver.page
    asked = page.get_by_text("may come with entities")
    for name, key, said in (
        ("answers", None, "are used as answers already given"),
        ("suggestions", "ArrowDown", "are used as suggestions"),
        ("gold", "ArrowDown", "are used as gold"),
        ("nothing", "ArrowDown", "are not used"),
    ):
        path = with_entities(tmp_path, name)
        add(driver, path)
        asked.wait_for()
        driver.press("Escape")
        asked.wait_for(state="detached")
        assert name not in {row["name"] for row in server.get("/documents")}, "nothing was sent"
        add(driver, path)
        asked.wait_for()
        page.locator("dialog :checked").and_(page.locator(":focus")).wait_for()
        driver.press(*([key] if key else []), "Enter")
        page.locator(".upload-result").get_by_text(said).wait_for()
        names = {row["name"] for row in server.get("/documents")}
        assert (name in names) is (name != "gold"), "nobody is asked about gold"
        entries = [entry for entry in server.history() if entry["said"].startswith(f"from {name}.jsonl")]
        assert bool(entries) is (name == "answers"), "the source stands in the history"


def test_what_files_come_with_is_asked_about_once_with_the_mouse(server: Server, visit: Open, tmp_path: Path) -> None:
    driver = opened(server, visit)
    page = driver.page
    add(driver, with_entities(tmp_path, "by mouse"), written(tmp_path, "plain", "Bo slept. He woke up."))
    page.get_by_role("radio", name="Suggestions").check()
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator(".upload-result").get_by_text("are used as suggestions").wait_for()
    page.locator("table.documents").get_by_text("plain").wait_for()
    assert {"by mouse", "plain"} <= {row["name"] for row in server.get("/documents")}


def test_a_text_without_a_font_is_told(server: Server, visit: Open, tmp_path: Path) -> None:
    """No machine has a font for Linear A."""
    driver = opened(server, visit)
    page = driver.page
    add(driver, written(tmp_path, "linear", "".join(map(chr, range(0x10600, 0x10620))) + "."))
    page.get_by_role("link", name="linear", exact=True).wait_for()
    driver.go(f"review/{server.id_of('first')}")
    page.locator("article.text").wait_for()
    page.wait_for_timeout(300)
    assert page.locator("p.fonts").count() == 0
    driver.go(f"annotate/{row_of(server, 'linear')['id']}")
    page.get_by_text("This computer has no font").wait_for()

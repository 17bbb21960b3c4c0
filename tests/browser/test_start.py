"""The first minute of a project without documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.browser_driving import Open, Server


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "none.jsonl").write_text("", "utf-8")
    with Server(tmp_path / "project", tmp_path / "none.jsonl", {}) as started:
        yield started


def test_an_empty_project_offers_the_stories_and_no_key_fails(empty: Server, visit: Open) -> None:
    driver = visit(empty)
    page = driver.page
    page.get_by_role("heading", name="No documents yet").wait_for()
    for key in ("z", "Shift+z", "i", "r", "e", "m", "k", "Shift+d", "y", "n"):  # `visit` fails on errors in the page
        driver.press(key)
    page.get_by_text("there is nothing to redo").or_(page.get_by_text("there is nothing to undo")).wait_for()
    page.get_by_role("heading", name="No documents yet").wait_for()
    driver.press("Enter")
    page.get_by_role("heading", name="The project has no documents yet").wait_for()
    page.get_by_role("button", name="Try the stories").click()
    page.locator("table.documents tbody tr").nth(8).wait_for()
    assert len(empty.get("/documents")) == 9

"""A document about which the model can ask nothing: it is not done, and the person begins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from corefine import formats
from corefine.document import Document
from helpers.browser_driving import Driver, Open, Server
from helpers.browser_texts import DUTCH

NAMES = ("unfamiliar, first", "unfamiliar, second")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("unfamiliar")
    texts = [Document.from_sentences(name, DUTCH, language="nl") for name in NAMES]
    formats.write(texts, folder / "texts.jsonl")
    with Server(folder / "project", folder / "texts.jsonl", {"least_gain": 0.05}) as started:
        yield started


def arrived(driver: Driver, name: str) -> None:
    driver.page.get_by_text("You begin here").wait_for()
    driver.page.locator(".reader").get_by_text(name).first.wait_for()


def not_done(server: Server) -> bool:
    return all(row["state"] != "done" for row in server.get("/documents"))


def test_by_keys(server: Server, visit: Open) -> None:
    first, second = (server.id_of(name) for name in NAMES)
    driver = visit(server, f"#annotate/{first}")
    arrived(driver, NAMES[0])
    driver.press("k")
    arrived(driver, NAMES[1])
    assert not_done(server)
    driver.press("Enter")
    driver.page.locator(f"body[data-page='full/{second}']").wait_for()
    driver.go(f"annotate/{first}")
    arrived(driver, NAMES[0])
    driver.press("m")  # asks all the same
    driver.page.get_by_role("button", name="Begin").wait_for()
    driver.press("Enter")
    driver.page.locator(".panel[data-question]").wait_for()


def test_by_mouse(server: Server, visit: Open) -> None:
    second = server.id_of(NAMES[1])
    driver = visit(server, f"#annotate/{second}")
    page = driver.page
    arrived(driver, NAMES[1])
    page.locator(".panel").get_by_role("button", name="Annotate in full").click()
    page.locator(f"body[data-page='full/{second}']").wait_for()
    page.go_back()
    arrived(driver, NAMES[1])
    assert not_done(server)
    page.get_by_role("button", name="Finish document").click()
    page.get_by_text("This document is done").wait_for()
    assert [row["state"] for row in server.get("/documents") if row["id"] == second] == ["done"]

"""A real Chromium on the real server. Whatever a test does, a violated Content-Security-Policy or an error fails it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser import ARGUMENTS
from corefine import formats
from corefine.document import Document
from helpers.browser_driving import Driver, Open, Server, watch
from helpers.browser_texts import every_document

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext


SETTINGS: dict[str, object] = {"budget_questions": 6, "retrain_every": 0, "least_gain": 0.0, "groups": False}


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (pip install playwright)"
    )
    path = os.environ.get("COREFINE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("there is no chromium here; install it, or set COREFINE_CHROMIUM to where it is")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def documents() -> dict[str, Document]:
    return every_document()


@pytest.fixture(scope="session")
def corpus(
    request: pytest.FixtureRequest, documents: dict[str, Document], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    request.getfixturevalue("chromium")  # without it no server needs to start
    path = tmp_path_factory.mktemp("corpus") / "documents.jsonl"
    formats.write(documents.values(), path)
    return path


@pytest.fixture(scope="session")
def shared(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that need none of their own; each works in a document of its own."""
    with Server(tmp_path_factory.mktemp("project"), corpus, SETTINGS) as server:
        yield server


@pytest.fixture
def launch(corpus: Path, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """A server of the test's own."""
    servers: list[Server] = []

    def start(**settings: object) -> Server:
        folder = tmp_path / f"project{len(servers)}"
        server = Server(folder, corpus, {**SETTINGS, **settings})
        servers.append(server)
        server.start()
        return server

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Open]:
    """Opens the page, each time in a browser profile of its own; checks at the end that nothing went wrong in it."""
    contexts: list[tuple[BrowserContext, list[str]]] = []

    def open_page(server: Server, address: str = "", **options: object) -> Driver:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        problems = watch(context)
        contexts.append((context, problems))
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{server.url}/{address}")
        return Driver(page, server)

    yield open_page
    for context, problems in contexts:
        context.close()
        assert problems == []

"""What browser tests do with a server and a page, in the words of the app."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.request import Request, urlopen

from corefine.document import Document, Span

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page

SERVING = Path(__file__).with_name("browser_serving.py")

_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`violated: ${event.violatedDirective} ${event.blockedURI}`));
"""


class Server:
    """The app on a free port of the loopback interface, in a process that ends with the test."""

    def __init__(self, folder: Path, corpus: Path, settings: dict[str, object]) -> None:
        self.folder, self.corpus, self.settings = folder, corpus, settings
        self.process: subprocess.Popen[str] | None = None
        self.url = ""

    def start(self) -> None:
        """Start it, at the port it had before if it had one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder.with_suffix(".json")
        path.write_text(json.dumps(self.settings), "utf-8")
        port = self.url.rpartition(":")[2] or "0"
        command = [sys.executable, str(SERVING), str(self.folder), str(self.corpus), str(path), port]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:"), "the server did not start"

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process = None

    def get(self, path: str) -> Any:
        with urlopen(Request(f"{self.url}/api{path}"), timeout=60) as response:
            return json.load(response)

    def put(self, path: str, body: dict[str, Any]) -> None:
        headers = {"X-Corefine": "1", "Content-Type": "application/json"}
        request = Request(f"{self.url}/api{path}", data=json.dumps(body).encode(), headers=headers, method="PUT")
        with urlopen(request, timeout=60) as response:
            assert response.status == 200

    def history(self, document: int | None = None) -> list[dict[str, Any]]:
        query = "" if document is None else f"&document={document}"
        entries: list[dict[str, Any]] = self.get(f"/history?limit=200{query}")["entries"]
        return entries

    def id_of(self, name: str) -> int:
        return next(int(row["id"]) for row in self.get("/documents") if row["name"] == name)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def watch(context: BrowserContext) -> list[str]:
    """Collects what must not happen in a page: errors, and violations of the Content-Security-Policy."""
    problems: list[str] = []
    expected = ("net::ERR_", "the server responded with a status of 4", "the server responded with a status of 503")

    def console(message: Any) -> None:
        if message.type in ("error", "warning") and not any(part in message.text for part in expected):
            problems.append(f"{message.type}: {message.text}")

    context.add_init_script(_VIOLATIONS)
    context.on("console", console)
    context.on("weberror", lambda error: problems.append(f"exception: {error.error}"))
    return problems


class Driver:
    """A page, driven as a person would."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page, self.server = page, server

    # Where one is

    def go(self, address: str) -> None:
        self.page.evaluate("address => { location.hash = address }", address)

    def annotate(self, document: int) -> None:
        """Open a document and read it."""
        self.go(f"annotate/{document}")
        self.page.locator(f"body[data-page='annotate/{document}']").wait_for()
        begin = self.page.get_by_role("button", name="Begin")
        question = self.page.locator(".panel[data-question]")
        begin.or_(question).first.wait_for()
        if begin.is_visible():
            self.page.keyboard.press("Enter")
        question.wait_for()

    def introduced(self) -> None:
        """Somebody new, who knows the work already."""
        self.page.locator("body[data-page]").wait_for()
        done = self.page.request.post(
            f"{self.server.url}/api/me", data={"introduced": True}, headers={"X-Corefine": "1"}
        )
        assert done.ok
        self.page.reload()
        self.page.locator("body[data-page]").wait_for()

    def tutorial(self) -> None:
        """All of the tutorial, with keys."""
        self.page.get_by_text("step 1 of 3").wait_for()
        self.answered("y")
        self.press("Enter")
        self.page.get_by_text("step 2 of 3").wait_for()
        self.press("n", "ArrowLeft")
        start, end = self.marked("chosen") or Span(0, 0)
        self.press(*["Alt+ArrowLeft" if start > 23 else "Alt+ArrowRight"] * abs(start - 23))
        self.press(*["Shift+ArrowRight" if end < 30 else "Shift+ArrowLeft"] * abs(end - 30))
        self.answered("Enter")
        self.press("Enter")
        self.page.get_by_text("step 3 of 3").wait_for()
        self.press("n")
        self.answered("f")
        self.press("Enter")

    @property
    def title(self) -> str:
        return self.page.locator("#question").inner_text()

    @property
    def said(self) -> str:
        return self.page.locator(".panel .said").inner_text()

    @property
    def question(self) -> str | None:
        return self.page.locator(".panel").get_attribute("data-question")

    @property
    def asked(self) -> str:
        """What is asked, without its number: spans and protocol."""
        return (self.question or "").partition(":")[2]

    def marked(self, name: str) -> Span | None:
        """The span with a mark: "mention", "antecedent", "chosen"."""
        tokens = self.page.locator(f".t.{name}").evaluate_all("all => all.map(each => Number(each.dataset.i))")
        return Span(min(tokens), max(tokens)) if tokens else None

    def token(self, index: int) -> Locator:
        return self.page.locator(f".t[data-i='{index}']")

    # What one does

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def answered(self, *keys: str) -> None:
        """Press keys and wait until another question, or none, is shown."""
        before = self.question
        self.press(*keys)
        self.page.wait_for_function(
            "before => document.querySelector('.panel')?.dataset.question !== before", arg=before
        )

    def drag(self, first: int, last: int) -> None:
        """Drag over tokens with the mouse."""
        mouse = self.page.mouse
        start, end = self.token(first).bounding_box(), self.token(last).bounding_box()
        assert start is not None
        assert end is not None
        mouse.move(start["x"] + 2, start["y"] + start["height"] / 2)
        mouse.down()
        mouse.move(end["x"] + end["width"] - 2, end["y"] + end["height"] / 2, steps=8)
        mouse.up()

    def choose(self, span: Span) -> None:
        """Select a span with keys only, from whichever candidate comes first."""
        self.page.locator(".entity-list [role=option]").first.wait_for()  # the candidates are there
        self.press("ArrowLeft")
        start, end = self.marked("chosen") or Span(0, 0)
        back, on = ("ArrowLeft", "ArrowRight")
        self.press(*["Alt+ArrowLeft"] * max(start - span.start, 0))
        self.press(*[f"Shift+{on if span.end > end else back}"] * abs(span.end - end))
        self.press(*["Alt+ArrowRight"] * max(span.start - start, 0))
        assert self.marked("chosen") == span


def first_mention(document: Document, span: Span) -> Span | None:
    """The gold first mention of a span's entity; None if it is in none."""
    return next((min(cluster) for cluster in document.clusters if span in cluster), None)


Open = Callable[..., Driver]

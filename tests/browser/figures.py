"""Draws the pictures of the app in docs/figures: a project on the bundled stories, two people, answers from the gold.

    python tests/browser/figures.py docs/figures [NAME...]

One of the two errs on purpose in some answers, so that there is something to agree and differ about.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from http.cookiejar import CookieJar
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, Request, build_opener

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser.driving import ARGUMENTS, Driver, Server, first_mention
from corefine import stories
from corefine.document import Document, Span

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

STORIES = {story.name: story for story in stories.load()}
BUDGET = 14


class Person:
    """Somebody who answers through the API."""

    def __init__(self, url: str, errors: float) -> None:
        self.url, self.errors = url, errors
        self.jar = CookieJar()
        self._open = build_opener(HTTPCookieProcessor(self.jar)).open
        self._random = random.Random(7)

    def call(self, path: str, body: dict[str, Any] | None = None, method: str | None = None) -> Any:
        headers = {"X-Corefine": "1", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with self._open(Request(f"{self.url}/api{path}", data=data, headers=headers, method=method)) as response:
            return json.load(response)

    def answer(self, count: int) -> None:
        names = {row["id"]: row["name"] for row in self.call("/documents")}
        state = self.call("/next")
        for _ in range(count):
            if state["state"] == "document-done":
                state = self.call(f"/next?document={state['upcoming']}")
            question = state["question"]
            if question is None:
                return
            answer = self._said(question, STORIES[names[question["document"]]])
            try:
                state = self._send(question, answer)
            except HTTPError as error:  # it contradicts what was said in error before
                error.close()
                state = self._send(question, {"reply": "unsure"})

    def _send(self, question: dict[str, Any], answer: dict[str, Any]) -> Any:
        seconds = {"initial": self._random.lognormvariate(2.3, 0.5)}
        if answer.get("same") is False:
            seconds["follow_up"] = self._random.lognormvariate(2.3, 0.5)
        sent = {"document": question["document"], "question": question["id"], "answer": answer, "timing": seconds}
        return self.call("/answers", {"client_id": f"{self._random.getrandbits(128):032x}", **sent})["next"]

    def _said(self, question: dict[str, Any], story: Document) -> dict[str, Any]:
        mention = Span(*question["mention"])
        first = first_mention(story, mention)
        same = question["antecedent"] is not None and first_mention(story, Span(*question["antecedent"])) == first
        if self._random.random() < self.errors:
            return {"same": False, "reply": "first", "span": question["mention"]} if same else {"same": True}
        if first is None:
            return {"reply": "not-a-mention"}
        return {"same": True} if same else {"same": False, "reply": "first", "span": list(first)}


class Artist:
    def __init__(self, browser: Browser, server: Server, owner: Person, folder: Path) -> None:
        self.browser, self.server, self.owner, self.folder = browser, server, owner, folder
        self.cookies = [
            {"name": each.name, "value": str(each.value), "url": server.url} for each in owner.jar if each.name
        ]

    def page(self, address: str, *, dark: bool = False, phone: bool = False) -> Page:
        size = {"width": 390, "height": 800} if phone else {"width": 1360, "height": 850}
        scheme = "dark" if dark else "light"
        context = self.browser.new_context(viewport=size, color_scheme=scheme, device_scale_factor=2 if phone else 1)
        context.add_cookies(self.cookies)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{self.server.url}/#{address}")
        page.locator(f"body[data-page='{address}'] main h1").first.wait_for()
        page.wait_for_load_state("networkidle")
        return page

    def keep(self, page: Page, name: str) -> None:
        page.wait_for_timeout(700)  # animations end
        page.screenshot(path=self.folder / f"app-{name}.png")
        page.context.close()

    def plain(self, name: str, address: str, **options: bool) -> Callable[[], None]:
        return lambda: self.keep(self.page(address, **options), name)

    def asked(self, name: str, document: int, *keys: str, **options: bool) -> Callable[[], None]:
        def draw() -> None:
            page = self.page(f"annotate/{document}", **options)
            Driver(page, self.server).annotate(document)
            for key in keys:
                page.keyboard.press(key)
                page.wait_for_timeout(900)
            self.keep(page, name)

        return draw

    def contradiction(self, document: int) -> None:
        """What was called no mention is then named as a first appearance."""
        page = self.page(f"annotate/{document}")
        driver = Driver(page, self.server)
        driver.annotate(document)
        gone: list[Span] = []
        while (mention := driver.marked("mention")) and not (earlier := [span for span in gone if span < mention]):
            gone.append(mention)
            driver.answered("x")
        page.keyboard.press("n")
        driver.choose(earlier[0])
        driver.press("Enter")
        page.get_by_role("dialog").wait_for()
        driver.press("1")
        self.keep(page, "contradiction")


def pictures(artist: Artist) -> dict[str, Callable[[], None]]:
    rows = artist.owner.call("/documents")
    begun = next(row["id"] for row in rows if row["state"] == "open")
    done = next(row["id"] for row in rows if row["state"] == "done")
    fresh = next(row["id"] for row in rows if row["state"] == "new")
    made = {
        "annotate": artist.asked("annotate", begun),
        "follow-up": artist.asked("follow-up", begun, "n", "ArrowLeft", "ArrowLeft"),
        "entities": artist.asked("entities", begun, "e"),
        "dark": artist.asked("dark", begun, "n", dark=True),
        "phone": artist.asked("phone", begun, phone=True),
        "phone-follow-up": artist.asked("phone-follow-up", begun, "n", phone=True, dark=True),
        "keys": artist.asked("keys", begun, "?"),
        "history": artist.asked("history", begun, "h"),
        "guidelines": artist.asked("guidelines", begun, "g"),
        "review": artist.plain("review", f"review/{done}"),
        "review-phone": artist.plain("review-phone", f"review/{done}", phone=True, dark=True),
        "reading": artist.plain("reading", f"annotate/{fresh}"),
        "contradiction": lambda: artist.contradiction(fresh),
    }
    for name in ("tutorial", "documents"):
        made[name] = artist.plain(name, name)
    for part in ("dashboard", "people", "agreement", "adjudication", "guidelines", "settings", "study", "export"):
        made[f"project-{part}"] = artist.plain(f"project-{part}", f"project/{part}")
        made[f"project-{part}-phone"] = artist.plain(f"project-{part}-phone", f"project/{part}", phone=True, dark=True)
    return made


def main(folder: str, *wanted: str) -> None:
    from playwright.sync_api import sync_playwright

    settings = {"budget_questions": BUDGET, "overlap": 0.35, "retrain_every": 0}
    with tempfile.TemporaryDirectory() as made, Server(Path(made) / "stories", stories.path(), settings) as server:
        owner, mira = Person(server.url, 0.04), Person(server.url, 0.15)
        link = owner.call("/people", {"name": "Mira", "role": "annotator"})["link"]
        mira.call("/login", {"token": link.partition("join=")[2]})
        for person in (owner, mira):
            person.answer(4 * BUDGET - 5)
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
            artist = Artist(browser, server, owner, Path(folder))
            for name, draw in pictures(artist).items():
                if not wanted or name in wanted:
                    draw()
            browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

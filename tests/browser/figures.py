"""Draws the pictures of the app in docs/figures: a project on the bundled stories, two people, answers from the gold.

    python tests/browser/figures.py docs/figures [NAME...]     # the pictures of the documentation, or those named
    python tests/browser/figures.py --every FOLDER [WIDTH...]  # every page in three sizes, light and dark, to look at

The starter model asks. One of the two errs on purpose in some answers, so that there is something to agree and differ
about.
`dashboard` is drawn only when it is named: a model is trained for it five times, which takes minutes.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from http.cookiejar import CookieJar
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPCookieProcessor, Request, build_opener

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from PIL import Image

from browser import ARGUMENTS
from corefine import formats
from corefine.corpora import stories
from corefine.document import Document, Span
from helpers.browser_driving import Driver, Server, first_mention

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MOST_SKIPPED = 4
SIZES = ((1360, 850), (640, 400), (375, 667))
PARTS = ("dashboard", "people", "agreement", "adjudication", "guidelines", "settings", "study", "export")
STORIES = {story.name: story for story in stories.load()}
BUDGET = 14
DOCUMENTED = (
    "annotate", "follow-up", "dark", "phone", "keys", "history", "review", "contradiction", "study", "adjudication",
    "tutorial", "documents", "group", "full",
)  # fmt: skip
"""The pictures that the documentation shows, besides those of the terminal and the dashboard."""
DUTCH = Document.from_text(
    "Anna kocht een oude fiets op de markt. De verkoper lachte en gaf haar een lamp. Zij schroefde de lamp op de "
    "fiets. Op weg naar huis kwam Anna haar broer tegen. Hij wilde de fiets meteen proberen. Zijn zus liep "
    "achter hem aan.",
    "De fiets",
    language="nl",
)


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

    def page(
        self, address: str, *, dark: bool = False, phone: bool = False, size: tuple[int, int] | None = None
    ) -> Page:
        width, height = size or ((390, 844) if phone else (1360, 850))
        scheme, view = "dark" if dark else "light", {"width": width, "height": height}
        context = self.browser.new_context(viewport=view, color_scheme=scheme, device_scale_factor=2 if phone else 1)
        context.add_cookies(self.cookies)
        page = context.new_page()
        page.on("pageerror", lambda error: sys.stderr.write(f"{address}: {error}\n"))
        page.set_default_timeout(60_000)
        page.goto(f"{self.server.url}/#{address}")
        page.locator(f"body[data-page='{address}'] main h1").first.wait_for()
        page.wait_for_load_state("networkidle")
        return page

    def keep(self, page: Page, name: str) -> None:
        page.wait_for_timeout(700)  # animations end
        path = self.folder / f"app-{name}.png"
        page.screenshot(path=path)
        few = Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE)
        few.save(path, optimize=True)  # a third of the size
        page.context.close()

    def plain(self, name: str, address: str, **options: bool) -> Callable[[], None]:
        return lambda: self.keep(self.page(address, **options), name)

    def asked(self, name: str, document: int, *keys: str, **options: bool) -> Callable[[], None]:
        def draw() -> None:
            page = self.page(f"annotate/{document}", **options)
            driver = Driver(page, self.server)
            driver.annotate(document)
            for _ in range(MOST_SKIPPED):
                if self.is_sensible(driver, document):
                    break
                driver.answered("u")
            for key in keys:
                page.keyboard.press(key)
                page.wait_for_timeout(900)
            self.keep(page, name)

        return draw

    def is_sensible(self, driver: Driver, document: int) -> bool:
        """Whether the proposal is right: the rules' questions can be odd, and a picture should show a usual one."""
        names = {row["id"]: row["name"] for row in self.owner.call("/documents")}
        mention, proposed = driver.marked("mention"), driver.marked("antecedent")
        if mention is None or proposed is None:
            return False
        entity = first_mention(STORIES[names[document]], mention)
        return entity is not None and entity == first_mention(STORIES[names[document]], proposed)

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

    def study(self) -> None:
        """The study as somebody sees it: instructions, then a question."""
        self.owner.call("/study", {"minutes": 30, "documents": 8, "questions": 16})
        self.plain("study-instructions", "study")()
        page = self.page("study")
        page.get_by_role("button", name="Start the session").click()
        page.locator(".panel[data-question]").wait_for()
        self.keep(page, "study")

    def dashboard(self) -> None:
        """With the learning curve, which is far down."""
        page = self.page("project", size=(1360, 1480))
        page.get_by_text("worth asking").or_(page.get_by_text("Little:")).first.wait_for()
        self.keep(page, "dashboard")

    def group(self) -> None:
        """One question about several mentions, one of them struck out."""
        for row in self.owner.call("/documents"):
            state = self.owner.call(f"/next?document={row['id']}")
            while state["question"] and state["question"]["protocol"] != "group":
                state = self.owner._send(state["question"], {"reply": "unsure"})
            if state["question"]:
                page = self.page(f"annotate/{row['id']}")
                Driver(page, self.server).annotate(row["id"])
                page.keyboard.press("2")
                self.keep(page, "group")
                return

    def full(self) -> None:
        """A Dutch text whose first sentence is done."""
        document = self.owner.call("/documents")[0]["id"]
        for edit in (
            {"kind": "mark", "mention": [0, 0]},
            {"kind": "mark", "mention": [2, 4]},
            {"kind": "mark", "mention": [6, 7]},
            {"kind": "complete", "sentences": [0]},
        ):
            body = {"client_id": f"{random.getrandbits(128):032x}", "document": document, "edit": edit}
            self.owner.call("/full", body)
        page = self.page(f"full/{document}")
        page.get_by_text("1 of 6 sentences done").wait_for()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Shift+ArrowRight")
        self.keep(page, "full")

    def upload(self) -> None:
        page = self.page("documents")
        files = [("garden.txt", b"Anna met Maria. She gave Maria a book."), ("scan.pdf", b"%PDF"), ("old.txt", b"\xff")]
        page.locator("#files").set_input_files([{"name": n, "mimeType": "", "buffer": b} for n, b in files])
        page.locator(".upload-result li", has_text="old.txt").get_by_text("skipped").wait_for()
        page.locator(".upload-result").scroll_into_view_if_needed()
        self.keep(page, "upload")

    def stranger(self) -> None:
        self.cookies, kept = [], self.cookies
        page = self.browser.new_context(viewport={"width": 1360, "height": 850}).new_page()
        page.goto(self.server.url)
        page.get_by_text("An invitation is needed").wait_for()
        self.keep(page, "join")
        self.cookies = kept


def learn(folder: Path, draw: Callable[[Server, Person], None]) -> None:
    """The app as it is, with its background process: 30 answers, a new model, and again."""
    server = Server(folder, folder, {})
    server.url = "http://127.0.0.1:8765"
    options = ["--project", str(folder), "--port", "8765", "--no-browser", "--stories"]
    process = subprocess.Popen([sys.executable, "-m", "corefine", "annotate", *options])
    try:
        person = Person(server.url, 0.04)
        status = _until(person, 2)
        person.call("/settings", {**person.call("/settings"), "retrain_every": 0, "budget_questions": 25}, "PUT")
        for _ in range(5):
            person.answer(30)
            person.call("/training", {}, "POST")
            status = _until(person, status["version"] + 1)
        draw(server, person)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def _until(person: Person, version: int) -> Any:
    """Wait for a version of the model that has read everything."""
    while True:
        try:
            status = person.call("/training")
            if status["version"] >= version and status["state"] == "idle":
                return status
            if status["state"] == "failed":
                raise SystemExit(status["message"])
        except URLError:
            pass  # it is not up yet
        time.sleep(2)


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
        "upload": artist.upload,
        "join": artist.stranger,
        "study": artist.study,
        "adjudication": artist.plain("adjudication", "project/adjudication"),
        "agreement": artist.plain("agreement", "project/agreement"),
    }
    for name in ("tutorial", "documents"):
        made[name] = artist.plain(name, name)
    for part in PARTS:
        made[f"project-{part}"] = artist.plain(f"project-{part}", f"project/{part}")
        made[f"project-{part}-phone"] = artist.plain(f"project-{part}-phone", f"project/{part}", phone=True, dark=True)
    return made


def every(artist: Artist, *widths: str) -> None:
    """Every page in every size or those of these widths, light and dark, and a sheet with all pages of each."""
    rows = artist.owner.call("/documents")
    begun = next(row["id"] for row in rows if row["state"] == "open")
    done = next(row["id"] for row in rows if row["state"] == "done")
    plain = [
        "documents",
        "tutorial",
        "welcome",
        f"review/{done}",
        f"full/{done}",
        *(f"project/{part}" for part in PARTS),
    ]
    chosen = [size for size in SIZES if not widths or str(size[0]) in widths]
    for (width, height), dark in product(chosen, (False, True)):
        sheet = []
        for address in [f"annotate/{begun}", f"annotate/{begun}+n", *plain]:
            page = artist.page(address.partition("+")[0], dark=dark, size=(width, height))
            if address.startswith("annotate"):
                Driver(page, artist.server).annotate(begun)
                for key in address.partition("+")[2]:
                    page.keyboard.press(key)
            name = f"{address.replace('/', '-')}-{width}-{'dark' if dark else 'light'}"
            artist.keep(page, name)
            sheet.append(artist.folder / f"app-{name}.png")
        together(sheet, artist.folder / f"sheet-{width}-{'dark' if dark else 'light'}.png", width, height)


def together(pictures: list[Path], target: Path, width: int, height: int) -> None:
    """One picture of many."""
    across = max(1, 2800 // width)
    whole = Image.new("RGB", (across * (width + 8), -(-len(pictures) // across) * (height + 8)), "grey")
    for place, path in enumerate(pictures):
        with Image.open(path) as picture:
            whole.paste(picture.convert("RGB"), (place % across * (width + 8), place // across * (height + 8)))
    whole.save(target)


def of_its_own(browser: Browser, folder: Path, corpus: Sequence[Document], target: Path, name: str) -> None:
    """A picture of a project of its own, in which questions can be about groups."""
    folder.mkdir()
    formats.write(corpus, folder / "texts.jsonl")
    settings = {"asked_by": "starter", "groups": True, "budget_questions": 60}
    with Server(folder / "project", folder / "texts.jsonl", settings) as server:
        draw: Callable[[], None] = getattr(Artist(browser, server, Person(server.url, 0.0), target), name)
        draw()


def main(folder: str, *wanted: str) -> None:
    if folder == "--every":
        folder = wanted[0]
        Path(folder).mkdir(parents=True, exist_ok=True)
        return _main(folder, *wanted[1:], every_page=True)
    return _main(folder, *wanted)


def _main(folder: str, *wanted: str, every_page: bool = False) -> None:
    from playwright.sync_api import sync_playwright

    settings = {"asked_by": "starter", "budget_questions": BUDGET, "overlap": 0.35, "retrain_every": 0, "groups": False}
    named = wanted or DOCUMENTED
    with tempfile.TemporaryDirectory() as made, Server(Path(made) / "stories", stories.path(), settings) as server:
        owner, mira = Person(server.url, 0.04), Person(server.url, 0.15)
        link = owner.call("/people", {"name": "Mira", "role": "annotator"})["link"]
        mira.call("/login", {"token": link.partition("join=")[2]})
        rows = owner.call("/documents")
        owner.call("/documents", {"documents": [row["id"] for row in rows[:3]], "add_tags": ["sea"]}, "PATCH")
        owner.call("/documents", {"documents": [rows[4]["id"]], "reviewed": True, "add_tags": ["short"]}, "PATCH")
        for person in (owner, mira):
            person.answer(4 * BUDGET - 5)
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
            artist = Artist(browser, server, owner, Path(folder))
            if every_page:
                every(artist, *wanted)
            for name, draw in ({} if every_page else pictures(artist)).items():
                if name in named:
                    draw()
            for name, corpus in (("group", stories.load()), ("full", [DUTCH])) if not every_page else ():
                if name in named:
                    of_its_own(browser, Path(made) / name, corpus, Path(folder), name)
            if "dashboard" in wanted:
                learn(
                    Path(made) / "learned" / "stories",
                    lambda at, person: Artist(browser, at, person, Path(folder)).dashboard(),
                )
            browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What a person waits for in the real page, in a real Chromium: from an answer to the next question on the screen.

The document has 5,000 tokens and 500 answers already; the project's own background process trains the starter model
all the while. The page itself takes the times: from the key press until the frame that shows the next question was
drawn.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from command import Json, Seed, report, run
from corefine.document import Document, Span
from corefine.errors import InputError, MissingExtraError
from serving import Client, Server, Training, Waits, long_document, long_project, served, until_ready

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
THINKING = 0.5
"""Seconds before each key: time in which the page may fetch ahead, as it does while people think."""
QUESTION = ".panel[data-question]"
BAR_MS = 100.0
"""For the 95th percentile of the answers."""
USABLE_BAR_MS = 1000.0

_PAINTED = "performance.getEntriesByName('corefine:answer-to-question')"


@dataclass(frozen=True, slots=True)
class BrowserTimes:
    """Milliseconds.

    usable           from opening the page until a question can be answered; median of the visits
    server_ms        processor time of the server for an answer and what the page fetches ahead after it
    page_ms          time the page's thread worked for an answer, all that comes before and after it included
    while_training   share of the answers that were given while the background process trained
    """

    tokens: int
    answers_before: int
    usable_ms: float
    server_ms: float
    page_ms: float
    while_training: float
    waits: Waits

    @property
    def failure(self) -> str | None:
        """What of the bars was missed."""
        missed = []
        if self.waits.p95_ms >= BAR_MS:
            missed.append(f"p95 is {self.waits.p95_ms:.0f} ms, the bar {BAR_MS:.0f} ms")
        if self.usable_ms >= USABLE_BAR_MS:
            missed.append(f"the page is usable after {self.usable_ms:.0f} ms, the bar {USABLE_BAR_MS:.0f} ms")
        return "; ".join(missed) or None


def measure(
    *, tokens: int = 5000, answers_before: int = 500, answers: int = 100, visits: int = 3, seed: int = 0
) -> BrowserTimes:
    """Annotate one large document in the page."""
    document = long_document(tokens, seed)
    with tempfile.TemporaryDirectory(prefix="corefine-browser-") as name:
        _, token, owner = long_project(Path(name), document, answers_before, seed)
        with served(Path(name)) as server, Training(server.port, owner) as training, chromium_page() as page:
            with Client(server.port, token) as client:
                until_ready(client)
            page.goto(f"{server.url}#join={token}")
            page.wait_for_selector(QUESTION)  # before that, leaving the page would abort the login
            usable = [_visit(page, server) for _ in range(1 + visits)][1:]  # the first one fills caches
            measured = _annotate(page, server, training, document, answers)
            if training.failure:
                raise InputError(f"training failed: {training.failure}")
    return BrowserTimes(
        tokens,
        answers_before,
        float(np.median(usable)),
        server_ms=measured.server_seconds * 1000 / answers,
        page_ms=measured.page_seconds * 1000 / answers,
        while_training=measured.trained / answers,
        waits=Waits.of(measured.spent),
    )


def described(times: BrowserTimes) -> str:
    return (
        f"{times.waits.count} answers in the page, after {times.answers_before}, on {times.tokens} tokens; "
        f"the starter model trained during {100 * times.while_training:.0f} % of them\n"
        f"answer to next question painted: {times.waits}\n"
        f"an answer costs the server {times.server_ms:.1f} ms and the page {times.page_ms:.1f} ms of work\n"
        f"page usable after {times.usable_ms:.0f} ms"
    )


# The person


@dataclass(frozen=True, slots=True)
class _Measured:
    spent: list[float]
    trained: int
    server_seconds: float
    page_seconds: float


def _visit(page: Page, server: Server) -> float:
    """Milliseconds from opening the page until it can be used."""
    page.goto("about:blank")
    page.goto(server.url)
    page.wait_for_selector(QUESTION)
    page.wait_for_function("() => performance.getEntriesByName('corefine:usable').length > 0")
    return float(page.evaluate("() => performance.getEntriesByName('corefine:usable')[0].startTime"))


def _annotate(page: Page, server: Server, training: Training, document: Document, count: int) -> _Measured:
    """Answer with keys, while training runs."""
    entity_of = {span: min(cluster) for cluster in document.clusters for span in cluster}
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    server_before, page_before = server.cpu_seconds(), _worked(devtools)
    trained = 0
    for number in range(count):
        time.sleep(THINKING)
        trained += training.is_on
        mention, antecedent = _marked(page, "mention"), _marked(page, "antecedent")
        if mention is None:
            raise InputError(f"no question is shown after {number} answers in the page")
        entity = entity_of.get(mention, mention)  # a model that was just trained asks about other spans too
        about_many = page.locator(".panel[data-phase='group']").count() > 0
        if about_many or (antecedent is not None and entity_of.get(antecedent) == entity):
            page.keyboard.press("y")
        else:
            if antecedent is not None:
                page.keyboard.press("n")
                time.sleep(THINKING)
            page.keyboard.press("f" if entity == mention else "u")
        page.wait_for_function(f"count => {_PAINTED}.length > count", arg=number, polling=20)
    spent = page.evaluate(f"() => {_PAINTED}.map((entry) => entry.duration)")
    return _Measured(spent, trained, server.cpu_seconds() - server_before, _worked(devtools) - page_before)


def _worked(devtools: CDPSession) -> float:
    """Seconds that the page's thread has worked."""
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


def _marked(page: Page, name: str) -> Span | None:
    tokens = page.locator(f".t.{name}").evaluate_all("all => all.map((each) => Number(each.dataset.i))")
    return Span(min(tokens), max(tokens)) if tokens else None


@contextmanager
def chromium_page() -> Iterator[Page]:
    """A page of a new Chromium."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise MissingExtraError("playwright", "dev") from error
    path = os.environ.get("COREFINE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise InputError("there is no chromium here; install it, or set COREFINE_CHROMIUM to where it is")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1360, "height": 850})
        page.set_default_timeout(60_000)
        yield page
        browser.close()


def main(
    as_json: Json = False,
    answers: Annotated[int, typer.Option(min=1, help="Answers in the page that are timed.")] = 100,
    before: Annotated[int, typer.Option(min=0, help="Answers that the document has already.")] = 500,
    seed: Seed = 0,
) -> None:
    """Time the wait between an answer and the next question in a real browser, while training runs."""
    report(measure(answers=answers, answers_before=before, seed=seed), described, as_json=as_json)


if __name__ == "__main__":
    run(main)

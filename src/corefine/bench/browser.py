"""What a person waits for in the real page, in a real Chromium: from an answer to the next question on the screen.

The document has 5,000 tokens and 500 answers already; the background process trains all the while, if there is a
starter model to train. The page itself takes the times: from the key press until the frame that shows the next
question was drawn.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import numpy as np

from corefine import stories
from corefine.bench.session import TOKENS_A_SPAN, large_document
from corefine.document import Document, Span
from corefine.errors import InputError, MissingExtraError
from corefine.questions import span_from_json, span_to_json

if TYPE_CHECKING:
    from playwright.sync_api import Page

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
START_SECONDS = 180.0

_PAINTED = "performance.getEntriesByName('corefine:answer-to-question')"


@dataclass(frozen=True, slots=True)
class BrowserTimes:
    """Milliseconds.

    usable           from opening the page until a question can be answered; median of the visits
    while_training   share of the answers that were given while the background process trained
    load             processes that wanted to run, over the machine's cores, at the end: what the times must be read by
    """

    tokens: int
    answers_before: int
    answers: int
    median_ms: float
    p95_ms: float
    worst_ms: float
    usable_ms: float
    while_training: float
    load: float


def measure(
    *,
    tokens: int = 5000,
    answers_before: int = 500,
    answers: int = 100,
    candidates: int = 100,
    visits: int = 3,
    seed: int = 0,
) -> BrowserTimes:
    """Annotate one large document in the page."""
    document = _document(tokens, candidates, seed)
    with tempfile.TemporaryDirectory() as folder, _server(Path(folder), document, candidates, seed) as server:
        server.answer(answers_before, document)
        with _page() as page:
            usable = []
            for _ in range(visits):
                page.goto("about:blank")
                page.goto(server.url)
                page.wait_for_selector(".panel[data-question]")
                page.wait_for_function("() => performance.getEntriesByName('corefine:usable').length > 0")
                usable.append(page.evaluate("() => performance.getEntriesByName('corefine:usable')[0].startTime"))
            spent, trained = _annotate(page, server, document, answers)
    median, p95, worst = np.quantile(spent, [0.5, 0.95, 1.0])
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    return BrowserTimes(
        tokens,
        answers_before,
        len(spent),
        float(median),
        float(p95),
        float(worst),
        float(np.median(usable)),
        trained,
        load,
    )


def described(times: BrowserTimes) -> str:
    return (
        f"{times.answers} answers in the page, after {times.answers_before}, on a document of {times.tokens} tokens; "
        f"training ran during {100 * times.while_training:.0f} % of them, load {times.load:.1f} a core\n"
        f"answer to next question painted: median {times.median_ms:.0f} ms, 95th percentile {times.p95_ms:.0f} ms, "
        f"worst {times.worst_ms:.0f} ms\n"
        f"page usable after {times.usable_ms:.0f} ms"
    )


# The document


def _document(tokens: int, candidates: int, seed: int) -> Document:
    """Sentences of the stories, over and over, with the entities of the benchmark's document laid upon them."""
    spans = tokens // TOKENS_A_SPAN
    sentences: list[tuple[str, ...]] = []
    size = 0
    for sentence in cycle([sentence for story in stories.load() for sentence in story.sentences]):
        sentences.append(sentence[: tokens - size])
        size += len(sentences[-1])
        if size == tokens:
            break
    clusters = large_document(spans, candidates, seed)[0].clusters
    return Document.from_sentences("large", sentences, clusters)


# The server


class _Server:
    def __init__(self, url: str) -> None:
        self.url = url

    def call(self, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"X-Corefine": "1", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(f"{self.url}api{path}", data=data, headers=headers), timeout=60) as response:
            return json.load(response)

    def answer(self, count: int, document: Document) -> None:
        """Give so many right answers, as fast as the server takes them."""
        state = self._ready()
        for number in range(count):
            question = state["question"]
            if question is None:
                raise InputError(f"nothing is left to ask after {number} answers: take a larger document")
            body = {"client_id": f"bench-{number:08d}", "document": question["document"], "question": question["id"]}
            state = self.call("/answers", {**body, "answer": _right(question, document), "timing": {"initial": 1.0}})[
                "next"
            ]

    def _ready(self) -> Any:
        for _ in range(int(START_SECONDS)):
            state = self.call("/next")
            if state["state"] != "preparing":
                return state
            time.sleep(1)
        raise InputError("the server did not read the document in time")

    def keep_training(self) -> bool:
        """Whether training runs; asks for it if not."""
        if self.call("/training")["state"] == "training":
            return True
        self.call("/training", {})
        return False


@contextmanager
def _server(folder: Path, document: Document, candidates: int, seed: int) -> Iterator[_Server]:
    """`corefine annotate` on a project with this document, in processes of its own."""
    from corefine.project import Project, documents, versions

    prediction = large_document(len(document) // TOKENS_A_SPAN, candidates, seed)[1]
    with Project(folder / "project") as project:
        version = project.writer.write(lambda connection: versions.add(connection, "bench", versions.STARTER))
        number = project.writer.write(lambda connection: documents.add(connection, document.with_clusters(())))
        project.predictions.save(version, number, prediction)
        project.change_settings(replace(project.settings, budget_questions=1_000_000, retrain_every=0))
    command = [
        sys.executable,
        "-m",
        "corefine",
        "annotate",
        "--project",
        str(folder / "project"),
        "--port",
        "0",
        "--no-browser",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = _address(process)
        yield _Server(url)
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _address(process: subprocess.Popen[str]) -> str:
    line = process.stdout.readline() if process.stdout is not None else ""
    if "http://" not in line:
        raise InputError(f"the server did not start: {line.strip() or 'no output'}")
    return line[line.index("http://") :].strip()


# The person


def _right(question: dict[str, Any], document: Document) -> dict[str, Any]:
    """What the gold says to a question."""
    mention, antecedent = span_from_json(question["mention"]), span_from_json(question["antecedent"])
    cluster = next(cluster for cluster in document.clusters if mention in cluster)
    if antecedent in cluster:
        return {"same": True}
    return {"same": False, "reply": "first", "span": span_to_json(min(cluster))}


def _annotate(page: Page, server: _Server, document: Document, count: int) -> tuple[list[float], float]:
    """Answer with keys; returns milliseconds of each answer, and in what share of them training ran."""
    entity_of = {span: min(cluster) for cluster in document.clusters for span in cluster}
    trained = 0
    for number in range(count):
        time.sleep(THINKING)
        trained += server.keep_training()
        mention, antecedent = _marked(page, "mention"), _marked(page, "antecedent")
        if mention is None:
            raise InputError(f"no question is shown after {number} answers in the page")
        if antecedent is not None and entity_of[mention] == entity_of[antecedent]:
            page.keyboard.press("y")
        else:
            page.keyboard.press("n")
            time.sleep(THINKING)
            page.keyboard.press("f" if entity_of[mention] == mention else "u")
        page.wait_for_function(f"count => {_PAINTED}.length > count", arg=number, polling=20)
    return page.evaluate(f"() => {_PAINTED}.map((entry) => entry.duration)"), trained / count


def _marked(page: Page, name: str) -> Span | None:
    tokens = page.locator(f".t.{name}").evaluate_all("all => all.map((each) => Number(each.dataset.i))")
    return Span(min(tokens), max(tokens)) if tokens else None


@contextmanager
def _page() -> Iterator[Page]:
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

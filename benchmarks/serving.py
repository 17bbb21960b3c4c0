"""`corefine annotate` as a process of its own, the long document it is measured on, and real training behind it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from itertools import cycle
from pathlib import Path
from typing import Any, Self

import numpy as np

from corefine.annotation.annotators import GoldAnnotator
from corefine.corpora import stories
from corefine.document import Document
from corefine.errors import InputError
from session import TOKENS_A_SPAN, large_document

PATIENCE_SECONDS = 300.0
POLL_SECONDS = 0.25
CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class Waits:
    """How long people waited, in milliseconds.

    load    processes that wanted to run, over the machine's cores, at the end: what the times must be read by
    """

    count: int
    median_ms: float
    p90_ms: float
    p95_ms: float
    p99_ms: float
    worst_ms: float
    load: float

    @classmethod
    def of(cls, milliseconds: Sequence[float]) -> Waits:
        median, p90, p95, p99, worst = (float(part) for part in np.quantile(milliseconds, [0.5, 0.9, 0.95, 0.99, 1.0]))
        load = os.getloadavg()[0] / (os.cpu_count() or 1)
        return cls(len(milliseconds), median, p90, p95, p99, worst, load)

    def __str__(self) -> str:
        return (
            f"median {self.median_ms:.0f} ms, p90 {self.p90_ms:.0f}, p95 {self.p95_ms:.0f}, p99 {self.p99_ms:.0f}, "
            f"worst {self.worst_ms:.0f} ({self.count} answers; load {self.load:.1f} a core)"
        )


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def megabytes(self) -> float:
        """Memory of the server and of the process that reads uploads for it, without the one that trains."""
        readers = [pid for pid in _children(self.pid) if "corefine.formats.uploads" in _command(pid)]
        return sum(_status(pid, "VmRSS") for pid in (self.pid, *readers))

    def cpu_seconds(self) -> float:
        """Processor time of the server alone, without its worker; 0 where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _status(pid: int, field: str) -> float:
    """A field of the process's status in megabytes; 0 if the system does not provide it."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((float(line.split()[1]) / 2**10 for line in lines if line.startswith(field)), 0.0)


def _children(pid: int) -> list[int]:
    files = Path(f"/proc/{pid}/task").glob("*/children")
    found = []
    for file in files:
        with suppress(OSError):  # a thread that has ended
            found += [int(child) for child in file.read_text().split()]
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@contextmanager
def served(folder: Path, database: str | None = None) -> Iterator[Server]:
    """`corefine annotate` on a free port of loopback, with its background process, as people run it."""
    command = [sys.executable, "-m", "corefine", "annotate", "--project", str(folder), "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        [*command, *(["--database", database] if database else [])], stdout=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline() if process.stdout is not None else ""
        if "http://" not in line:
            raise InputError(f"the server did not start: {line.strip() or 'no output'}")
        yield Server(int(line.split(":")[3].partition("/")[0]), process.pid)
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


class Client:
    """One person's connection, without a browser: what clients cost must not be what is measured."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        self.cookie = ""
        if token is not None:
            self.call("POST", "login", {"token": token})

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"X-Corefine": "1", "Cookie": self.cookie, "Content-Type": "application/json"}
        self._connection.request(method, f"/api/{path}", None if body is None else json.dumps(body), headers)
        response = self._connection.getresponse()
        content = json.loads(response.read())
        if response.status != 200:
            raise ValueError(f"{response.status} {content}")
        if cookie := response.getheader("set-cookie"):
            self.cookie = cookie.partition(";")[0]
        return content

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Training:
    """Keeps the product's own background training of the starter model going, one run after the other."""

    def __init__(self, port: int, token: str | None) -> None:
        self._client = Client(port, token)
        self._stop = threading.Event()
        self._begun = threading.Event()
        self.is_on = False
        self.failure: str | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        """Returns when the first run has come to its first steps."""
        self._thread.start()
        if not self._begun.wait(PATIENCE_SECONDS) or self.failure:
            self.__exit__()
            raise InputError(f"training did not begin: {self.failure or 'it took too long'}")
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._client.close()

    def _run(self) -> None:
        try:
            while not self._stop.wait(POLL_SECONDS):
                now = self._client.call("GET", "training")
                self.is_on = now["state"] == "training"
                if self.is_on and now["share_done"]:
                    self._begun.set()
                elif now["state"] == "failed":
                    self.failure = now["message"]
                    self._begun.set()
                elif not self.is_on:
                    self._client.call("POST", "training", {})
        except (OSError, HTTPException, ValueError) as error:
            self.failure = f"{type(error).__name__}: {error}"
            self._begun.set()


def long_document(tokens: int, seed: int) -> Document:
    """Sentences of the stories, over and over, with the entities of the session's benchmark laid upon them."""
    sentences: list[tuple[str, ...]] = []
    size = 0
    for sentence in cycle([sentence for story in stories.load() for sentence in story.sentences]):
        sentences.append(sentence[: tokens - size])
        size += len(sentences[-1])
        if size == tokens:
            break
    clusters = large_document(tokens // TOKENS_A_SPAN, CANDIDATES, seed)[0].clusters
    return Document.from_sentences("large", sentences, clusters)


def long_project(folder: Path, document: Document, answers: int, seed: int) -> tuple[int, str, str]:
    """A project with the document and so many right answers; its number, an annotator's token and an owner's."""
    from corefine.project import Project
    from corefine.project.store import documents, people, predictions
    from corefine.project.store.settings import ProjectConfig
    from corefine.project.work.workspace import question_id_of
    from corefine.project.work.workspaces import Workspaces

    prediction = large_document(len(document) // TOKENS_A_SPAN, CANDIDATES, seed)[1]
    gold = GoldAnnotator(document)
    with Project(folder) as project:
        project.change_settings(
            ProjectConfig(budget_questions=1_000_000, retrain_every=0, least_gain=0.0, hold_back=False)
        )
        version = project.writer.write(
            lambda connection: predictions.add_version(connection, "bench", predictions.STARTER)
        )
        key = project.writer.write(lambda connection: documents.add(connection, document.with_clusters(())))
        project.predictions.save(version, key, prediction)
        person, token = project.invite("annotator")
        project.writer.write(lambda connection: people.introduce(connection, person))
        _, owner = project.invite("boss", "owner")
        with Workspaces(project).of(person.id) as workspace:
            for number in range(answers):
                question = workspace.show(key).question
                if question is None:
                    raise InputError(f"nothing is left to ask after {number} answers: take a larger document")
                workspace.answer(f"before-{number}", key, question_id_of(question), gold.answer(question))
    return key, token, owner


def until_ready(client: Client) -> Any:
    """The first question, once the document has been read."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (state := client.call("GET", "next"))["state"] == "preparing":
        if time.monotonic() > end:
            raise InputError("the server did not read the document in time")
        time.sleep(POLL_SECONDS)
    return state

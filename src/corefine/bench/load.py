"""Many people answering at once: one server, one machine, real HTTP over loopback.

Every annotator has a document of their own, answers, thinks for a moment, and answers again. The server runs as people
run it, with its background process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from corefine.annotators import GoldAnnotator
from corefine.bench.session import large_document
from corefine.document import Document
from corefine.errors import InputError
from corefine.questions import Protocol, Question, span_from_json

SPANS = 400
CANDIDATES = 50
START_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class LoadTimes:
    """Milliseconds from sending an answer until the next question is here.

    load    processes that wanted to run, over the machine's cores, at the end: what the times must be read by
    """

    database: str
    people: int
    think_seconds: float
    answers: int
    errors: int
    answers_per_second: float
    median_ms: float
    p95_ms: float
    worst_ms: float
    load: float


def measure(
    *, people: int = 50, answers: int = 20, think: float = 1.0, database: str | None = None, seed: int = 0
) -> LoadTimes:
    """Let so many people give so many answers each."""
    with tempfile.TemporaryDirectory(prefix="corefine-load-") as folder:
        golds, tokens = _prepare(Path(folder), people, database, seed)
        with served(Path(folder), database) as port:
            crowd = [Annotator(port, token, golds, answers, think, Random(seed + n)) for n, token in enumerate(tokens)]
            threads = [threading.Thread(target=each.run) for each in crowd]
            for thread in threads:
                thread.start()
            for each in crowd:
                each.ready.wait()
            began = time.perf_counter()
            for each in crowd:
                each.go.set()
            for thread in threads:
                thread.join()
            took = time.perf_counter() - began
    seconds = [second for each in crowd for second in each.seconds]
    if not seconds:
        raise InputError(f"nobody got an answer through: {crowd[0].errors[:1]}")
    median, p95, worst = np.quantile(seconds, [0.5, 0.95, 1.0]) * 1000
    return LoadTimes(
        database="sqlite" if database is None else "postgresql",
        people=people,
        think_seconds=think,
        answers=len(seconds),
        errors=sum(len(each.errors) for each in crowd),
        answers_per_second=len(seconds) / took,
        median_ms=float(median),
        p95_ms=float(p95),
        worst_ms=float(worst),
        load=os.getloadavg()[0] / (os.cpu_count() or 1),
    )


def described(times: LoadTimes) -> str:
    return (
        f"{times.people} people on {times.database}, thinking {times.think_seconds:g} s: {times.answers} answers, "
        f"{times.errors} errors, {times.answers_per_second:.0f} a second; answer to next question: "
        f"median {times.median_ms:.0f} ms, p95 {times.p95_ms:.0f} ms, worst {times.worst_ms:.0f} ms "
        f"(load {times.load:.1f} a core)"
    )


def _prepare(folder: Path, people: int, database: str | None, seed: int) -> tuple[dict[int, Document], list[str]]:
    """A project with a document and an invitation for everybody."""
    from sqlalchemy import Connection

    from corefine.project import Project, documents, versions
    from corefine.project.settings import Settings

    golds: dict[int, Document] = {}
    with Project(folder, database=database) as project:
        project.change_settings(Settings(budget_questions=100_000, retrain_every=0))
        version = project.writer.write(lambda connection: versions.add(connection, "bench", versions.TRAINED))
        for number in range(people):
            document, prediction = large_document(SPANS, CANDIDATES, seed + number)
            named = replace(document, name=f"load-{number}")

            def job(connection: Connection, document: Document = named) -> int:
                return documents.add(connection, document)

            key = project.writer.write(job)
            project.predictions.save(version, key, prediction)
            golds[key] = named
        project.invite("boss", "owner")
        return golds, [project.invite(f"annotator {number}")[1] for number in range(people)]


@contextmanager
def served(folder: Path, database: str | None) -> Iterator[int]:
    """`corefine annotate` on a free port of loopback, as a process of its own."""
    command = [sys.executable, "-m", "corefine", "annotate", "--project", str(folder), "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        [*command, *(["--database", database] if database else [])], stdout=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline() if process.stdout is not None else ""
        if "http://" not in line:
            raise InputError(f"the server did not start: {line}")
        yield int(line.split(":")[3].partition("/")[0])
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


@dataclass
class Annotator:
    """One person's browser, without the browser: what the clients cost must not be what is measured."""

    port: int
    token: str
    golds: dict[int, Document]
    answers: int
    think: float
    rng: Random
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    ready: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)
    _cookie: str = ""

    def run(self) -> None:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=START_SECONDS)
        try:
            self._run(connection)
        except (OSError, HTTPException, KeyError, ValueError) as error:
            self.errors.append(f"{type(error).__name__}: {error}")
        finally:
            connection.close()
            self.ready.set()

    def _run(self, connection: HTTPConnection) -> None:
        self._call(connection, "POST", "login", {"token": self.token})
        state = self._call(connection, "GET", "next")
        annotator = GoldAnnotator(self.golds[state["document"]])
        self.ready.set()
        self.go.wait()
        time.sleep(self.rng.uniform(0, self.think))
        for _ in range(self.answers):
            if state["state"] != "question":
                break
            question = state["question"]
            body = {
                "client_id": uuid.uuid4().hex,
                "document": question["document"],
                "question": question["id"],
                "answer": annotator.answer(_question(question)).to_json(),
                "timing": {"initial": self.think},
            }
            began = time.perf_counter()
            result = self._call(connection, "POST", "answers", body)
            self.seconds.append(time.perf_counter() - began)
            state = result["next"]
            time.sleep(self.rng.uniform(0.5, 1.5) * self.think)

    def _call(self, connection: HTTPConnection, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"X-Corefine": "1", "Cookie": self._cookie, "Content-Type": "application/json"}
        connection.request(method, f"/api/{path}", None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        content = json.loads(response.read())
        if response.status != 200:
            raise ValueError(f"{response.status} {content}")
        if cookie := response.getheader("set-cookie"):
            self._cookie = cookie.partition(";")[0]
        return content


def _question(view: dict[str, Any]) -> Question:
    antecedent = view["antecedent"]
    return Question(
        number=view["number"],
        mention=span_from_json(view["mention"]),
        antecedent=None if antecedent is None else span_from_json(antecedent),
        protocol=Protocol(view["protocol"]),
    )

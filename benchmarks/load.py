"""Many people answering at once: one server, one machine, real HTTP over loopback.

Every annotator has a document of their own, answers, thinks for a moment, and answers again. The server runs as people
run it, with its background process.
"""

from __future__ import annotations

import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, field, replace
from http.client import HTTPException
from pathlib import Path
from random import Random
from typing import Annotated, Any

import typer

from command import Json, Seed, report, run
from corefine.annotation.annotators import GoldAnnotator
from corefine.annotation.question import Protocol, Question, span_from_json
from corefine.document import Document
from corefine.errors import InputError
from serving import Client, Waits, served
from session import large_document

BAR_MS = 300.0
"""For the 95th percentile."""
SPANS = 400
CANDIDATES = 50


@dataclass(frozen=True, slots=True)
class LoadTimes:
    """How long people waited from sending an answer until the next question was there.

    server_ms    processor time of the server for an answer, whatever else the machine does
    """

    database: str
    people: int
    think_seconds: float
    errors: int
    answers_per_second: float
    server_ms: float
    waits: Waits

    @property
    def failure(self) -> str | None:
        """What of the bar was missed."""
        if self.errors:
            return f"{self.errors} errors"
        return None if self.waits.p95_ms < BAR_MS else f"p95 is {self.waits.p95_ms:.0f} ms, the bar {BAR_MS:.0f} ms"


def measure(
    *, people: int = 50, answers: int = 20, think: float = 1.0, database: str | None = None, seed: int = 0
) -> LoadTimes:
    """Let so many people give so many answers each."""
    with tempfile.TemporaryDirectory(prefix="corefine-load-") as folder:
        golds, tokens = prepare(Path(folder), people, database, seed)
        with served(Path(folder), database) as server:
            crowd = [
                Annotator(server.port, token, golds, answers, think, Random(seed + number))
                for number, token in enumerate(tokens)
            ]
            threads = [threading.Thread(target=each.run) for each in crowd]
            for thread in threads:
                thread.start()
            for each in crowd:
                each.ready.wait()
            began, cpu = time.perf_counter(), server.cpu_seconds()
            for each in crowd:
                each.go.set()
            for thread in threads:
                thread.join()
            took, cpu = time.perf_counter() - began, server.cpu_seconds() - cpu
    seconds = [second for each in crowd for second in each.seconds]
    if not seconds:
        raise InputError(f"nobody got an answer through: {crowd[0].errors[:1]}")
    return LoadTimes(
        database="sqlite" if database is None else "postgresql",
        people=people,
        think_seconds=think,
        errors=sum(len(each.errors) for each in crowd),
        answers_per_second=len(seconds) / took,
        server_ms=1000 * cpu / len(seconds),
        waits=Waits.of([1000 * second for second in seconds]),
    )


def described(times: LoadTimes) -> str:
    return (
        f"{times.people} people on {times.database}, thinking {times.think_seconds:g} s: {times.errors} errors, "
        f"{times.answers_per_second:.0f} answers a second, "
        f"{times.server_ms:.1f} ms of the server's processor time each\n"
        f"answer to next question over HTTP: {times.waits}"
    )


def prepare(folder: Path, people: int, database: str | None, seed: int) -> tuple[dict[int, Document], list[str]]:
    """A project with a document and an invitation for everybody."""
    from sqlalchemy import Connection

    from corefine.project import Project
    from corefine.project.store import documents, predictions
    from corefine.project.store.settings import ProjectConfig

    golds: dict[int, Document] = {}
    with Project(folder, database=database) as project:
        project.change_settings(
            ProjectConfig(budget_questions=100_000, retrain_every=0, least_gain=0.0, hold_back=False)
        )
        version = project.writer.write(
            lambda connection: predictions.add_version(connection, "bench", predictions.TRAINED)
        )
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


@dataclass
class Annotator:
    """One person: answers, thinks for a moment, and answers again."""

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

    def run(self) -> None:
        try:
            with Client(self.port, self.token) as client:
                self._run(client)
        except (OSError, HTTPException, KeyError, ValueError) as error:
            self.errors.append(f"{type(error).__name__}: {error}")
        finally:
            self.ready.set()

    def _run(self, client: Client) -> None:
        state = client.call("GET", "next")
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
                "answer": annotator.answer(question_of(question)).to_json(),
                "timing": {"initial": self.think},
            }
            began = time.perf_counter()
            result = client.call("POST", "answers", body)
            self.seconds.append(time.perf_counter() - began)
            state = result["next"]
            time.sleep(self.rng.uniform(0.5, 1.5) * self.think)


def question_of(view: dict[str, Any]) -> Question:
    antecedent = view["antecedent"]
    return Question(
        number=view["number"],
        mention=span_from_json(view["mention"]),
        antecedent=None if antecedent is None else span_from_json(antecedent),
        protocol=Protocol(view["protocol"]),
    )


def main(
    as_json: Json = False,
    people: Annotated[int, typer.Option(min=1, help="Annotators at once.")] = 50,
    answers: Annotated[int, typer.Option(min=1, help="Answers of each.")] = 20,
    think: Annotated[float, typer.Option(min=0.0, help="Seconds between answers, on average.")] = 1.0,
    database: Annotated[str | None, typer.Option(help="An empty PostgreSQL database instead of SQLite.")] = None,
    seed: Seed = 0,
) -> None:
    """Let many people answer at once, over HTTP."""
    times = measure(people=people, answers=answers, think=think, database=database, seed=seed)
    report(times, described, as_json=as_json)


if __name__ == "__main__":
    run(main)

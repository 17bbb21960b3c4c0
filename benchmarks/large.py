"""Large projects: 5,000 documents, and one document of 200,000 tokens, each beside a small project in the same run.

    python benchmarks/large.py --json

The server runs as people run it, and a person answers over HTTP. The background process does not train, but it reads
documents. The small project is the undisturbed baseline: what the machine gives at that moment.
"""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Annotated

import typer

from command import Json, Seed, report, run
from corefine.corpora import stories
from corefine.document import Document
from corefine.errors import InputError
from corefine.models import rules
from measuring import in_own_process, peak_megabytes
from serving import Client, Waits, long_document, served, until_ready
from session import TOKENS_A_SPAN, large_document

ANSWER_MS = 100.0
EXPORT_SECONDS = 10.0
ENTITIES_SECONDS = 1.0
WORKER_MEGABYTES = 2048.0
BASELINE_DOCUMENTS = 12
CANDIDATES = 50
VERSION = 1


@dataclass(frozen=True, slots=True)
class LargeProjects:
    """Times of a small project, of one with many documents, and of one with a long document.

    export_cpu_seconds    processor time of the export, which a busy machine does not change much
    worker_model          the model that predicted the long document: the starter, or the rules where it is not there
    worker_megabytes      the most memory that this took, in a process of its own
    """

    documents: int
    tokens: int
    small: Waits
    many: Waits
    export_seconds: float
    export_cpu_seconds: float
    long: Waits
    entities_seconds: float
    worker_model: str
    worker_megabytes: float

    @property
    def failure(self) -> str | None:
        """The bars that were missed."""
        missed = []
        for name, waits in (("many documents", self.many), ("a long document", self.long)):
            if waits.p95_ms >= ANSWER_MS:
                missed.append(f"{name}: p95 {waits.p95_ms:.0f} ms, small project {self.small.p95_ms:.0f} ms")
        if self.export_seconds >= EXPORT_SECONDS:
            missed.append(f"export {self.export_seconds:.1f} s ({self.export_cpu_seconds:.1f} s of the processor)")
        if self.entities_seconds >= ENTITIES_SECONDS:
            missed.append(f"entities {self.entities_seconds:.2f} s")
        if self.worker_megabytes >= WORKER_MEGABYTES:
            missed.append(f"worker {self.worker_megabytes:.0f} MB")
        return "; ".join(missed) or None


def measure(*, documents: int = 5_000, tokens: int = 200_000, answers: int = 200, seed: int = 0) -> LargeProjects:
    with tempfile.TemporaryDirectory(prefix="corefine-large-") as folder:
        small = _answering(Path(folder) / "small", lambda place: make_many(place, BASELINE_DOCUMENTS), answers)[0]
        many = _answering(Path(folder) / "many", lambda place: make_many(place, documents), answers)[0]
        seconds, cpu = in_own_process(export_project, Path(folder) / "many")
        long, entities = _answering(Path(folder) / "long", lambda place: make_long(place, tokens, seed), answers)
        worker = in_own_process(worker_memory, tokens)
    return LargeProjects(documents, tokens, small, many, seconds, cpu, long, entities, *worker)


def described(found: LargeProjects) -> str:
    return (
        f"{BASELINE_DOCUMENTS} documents: {found.small}\n"
        f"{found.documents} documents: {found.many}\n"
        f"export of them: {found.export_seconds:.1f} s, {found.export_cpu_seconds:.1f} s of the processor\n"
        f"{found.tokens} tokens: {found.long}\n"
        f"its entities: {found.entities_seconds:.2f} s\n"
        f"predicting it with {found.worker_model}: {found.worker_megabytes:.0f} MB"
    )


def make_many(folder: Path, documents: int) -> str:
    """A project with so many short documents, read by the rules; a person's token."""
    from sqlalchemy import Connection

    from corefine.project import Project
    from corefine.project.store import documents as store
    from corefine.project.store import predictions
    from corefine.project.store.settings import ProjectConfig

    told = [replace(story, clusters=()) for story in stories.load()]
    with Project(folder) as project:
        project.change_settings(ProjectConfig(retrain_every=0, budget_questions=5, least_gain=0.0))

        def fill(connection: Connection) -> list[int]:
            predictions.add_version(connection, "bench", predictions.TRAINED)
            named = (replace(told[number % len(told)], name=f"document {number}") for number in range(documents))
            return [store.add(connection, document) for document in named]

        ids = project.writer.write(fill)
        read = [rules.predict(document) for document in told]
        for number, key in enumerate(ids):
            project.predictions.save(VERSION, key, read[number % len(read)])
        project.invite("boss", "owner")
        return project.invite("annotator")[1]


def make_long(folder: Path, tokens: int, seed: int) -> str:
    """A project with one document of so many tokens, and a prediction for it; a person's token."""
    from corefine.project import Project
    from corefine.project.store import documents as store
    from corefine.project.store import predictions
    from corefine.project.store.settings import ProjectConfig

    document = long_document(tokens, seed).with_clusters(())
    prediction = large_document(tokens // TOKENS_A_SPAN, CANDIDATES, seed)[1]
    with Project(folder) as project:
        project.change_settings(ProjectConfig(retrain_every=0, least_gain=0.0))
        project.writer.write(lambda connection: predictions.add_version(connection, "bench", predictions.TRAINED))
        key = project.writer.write(lambda connection: store.add(connection, document))
        project.predictions.save(VERSION, key, prediction)
        project.invite("boss", "owner")
        return project.invite("annotator")[1]


def export_project(folder: Path) -> tuple[float, float]:
    """Seconds by the clock and of the processor to export a project as CoNLL-2012."""
    from corefine.project import Project
    from corefine.project.results.export import export

    with Project(folder) as project:
        began, cpu = time.perf_counter(), time.process_time()
        made = export(project, folder / "out.conll", lossy=True)
        took = time.perf_counter() - began, time.process_time() - cpu
    if made.skipped:
        raise InputError(f"{len(made.skipped)} documents were not exported: {made.skipped[0]}")
    return took


def worker_memory(tokens: int) -> tuple[str, float]:
    """The starter model, or without it the rules, and the megabytes that it takes to read a long document."""
    from corefine.models.load import load
    from corefine.project.learning.long_documents import predict_long

    told = cycle([sentence for story in stories.load() for sentence in story.sentences])
    sentences: list[Sequence[str]] = []
    size = 0
    while size < tokens:
        sentences.append(next(told))
        size += len(sentences[-1])
    document = Document.from_sentences("novel", sentences)
    try:
        name, predict = "starter", load("starter", device="cpu").model.predict
    except InputError:
        name, predict = "rules", rules.predict
    predict_long(predict, document)
    return name, peak_megabytes()


def _answering(folder: Path, make: Callable[[Path], str], answers: int) -> tuple[Waits, float]:
    """How long a person waits for the next question, whatever document it is in, and for the entities."""
    token = make(folder)
    waits: list[float] = []
    with served(folder) as server, Client(server.port, token) as client:
        state = until_ready(client)
        began = time.perf_counter()
        client.call("GET", f"documents/{state['document']}/entities")
        entities = time.perf_counter() - began
        while len(waits) < answers and state["state"] == "question":
            question = state["question"]
            body = {"client_id": uuid.uuid4().hex, "document": question["document"], "question": question["id"]}
            began = time.perf_counter()
            state = client.call("POST", "answers", {**body, "answer": {"reply": "unsure"}})["next"]
            if state["state"] == "document-done":
                state = client.call("GET", "next")
            waits.append(1000 * (time.perf_counter() - began))
    return Waits.of(waits), entities


def main(
    as_json: Json = False,
    documents: Annotated[int, typer.Option(min=1, help="Documents of the large project.")] = 5_000,
    tokens: Annotated[int, typer.Option(min=1000, help="Tokens of the long document.")] = 200_000,
    answers: Annotated[int, typer.Option(min=1, help="Answers in each project.")] = 200,
    seed: Seed = 0,
) -> None:
    """Measure answers, an export and memory on large projects."""
    report(measure(documents=documents, tokens=tokens, answers=answers, seed=seed), described, as_json=as_json)


if __name__ == "__main__":
    run(main)

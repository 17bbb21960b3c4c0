"""The server's share of the wait for the next question: a document of 5,000 tokens that has 500 answers.

Measured over real HTTP on loopback by one annotator, while a process of low priority keeps a core busy as training
does. `corefine.bench.browser` measures the whole way to the screen.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from corefine.annotators import GoldAnnotator
from corefine.bench.load import Annotator, served
from corefine.bench.session import TOKENS_A_SPAN, large_document

TOKENS = 5_000
BUSY = "import os, numpy\nos.nice(10)\na = numpy.ones((400, 400))\nwhile True:\n    a = a @ a / 400\n"


@dataclass(frozen=True, slots=True)
class AnswerTimes:
    """Milliseconds from sending an answer until the next question is here."""

    tokens: int
    answers_before: int
    answers: int
    median_ms: float
    p95_ms: float
    worst_ms: float
    load: float


def measure(*, before: int = 500, answers: int = 100, seed: int = 0) -> AnswerTimes:
    from corefine.project import Project, documents, versions
    from corefine.project.desk import question_id_of
    from corefine.project.office import Office
    from corefine.project.settings import Settings

    document, prediction = large_document(TOKENS // TOKENS_A_SPAN + 1, 100, seed)
    with tempfile.TemporaryDirectory(prefix="corefine-answer-") as name:
        folder = Path(name)
        with Project(folder) as project:
            project.change_settings(Settings(budget_questions=100_000, retrain_every=0))
            version = project.writer.write(lambda connection: versions.add(connection, "bench", versions.TRAINED))
            key = project.writer.write(lambda connection: documents.add(connection, document))
            project.predictions.save(version, key, prediction)
            person, token = project.invite("annotator")
            project.invite("boss", "owner")
            gold = GoldAnnotator(document)
            with Office(project).at(person.id) as desk:
                for number in range(before):
                    shown = desk.show(key)
                    if shown.question is not None:
                        said = gold.answer(shown.question)
                        desk.answer(f"before-{number}", key, question_id_of(shown.question), said)
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        busy = subprocess.Popen([sys.executable, "-c", BUSY], env=environment)
        try:
            with served(folder, None) as port:
                one = Annotator(port, token, {key: document}, answers, 0.1, Random(seed))
                one.go = threading.Event()
                one.go.set()
                one.run()
        finally:
            busy.kill()
            busy.wait()
    if one.errors or not one.seconds:
        raise RuntimeError(f"answers failed: {one.errors}")
    median, p95, worst = np.quantile(one.seconds, [0.5, 0.95, 1.0]) * 1000
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    return AnswerTimes(len(document), before, len(one.seconds), float(median), float(p95), float(worst), load)


def described(times: AnswerTimes) -> str:
    return (
        f"{times.tokens} tokens, {times.answers_before} answers before: answer to next question over HTTP "
        f"median {times.median_ms:.0f} ms, p95 {times.p95_ms:.0f} ms, worst {times.worst_ms:.0f} ms "
        f"({times.answers} answers; load {times.load:.1f} a core)"
    )

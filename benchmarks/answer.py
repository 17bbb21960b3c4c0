"""The server's share of the wait for the next question: a document of 5,000 tokens that has 500 answers.

Measured over real HTTP on loopback by one annotator, while the project's own background process trains the starter
model. `browser.py` measures the whole way to the screen.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Annotated

import typer

from command import Json, Seed, report, run
from load import Annotator
from serving import Training, Waits, long_document, long_project, served

TOKENS = 5_000
THINK_SECONDS = 0.1
BAR_MS = 100.0
"""For the 95th percentile; it is the bar of the whole way, of which this is a part."""


@dataclass(frozen=True, slots=True)
class AnswerTimes:
    """How long it took from sending an answer until the next question was here.

    server_ms    processor time of the server for an answer, whatever else the machine does
    """

    tokens: int
    answers_before: int
    server_ms: float
    waits: Waits

    @property
    def failure(self) -> str | None:
        """What of the bar was missed."""
        return None if self.waits.p95_ms < BAR_MS else f"p95 is {self.waits.p95_ms:.0f} ms, the bar {BAR_MS:.0f} ms"


def measure(*, tokens: int = TOKENS, before: int = 500, answers: int = 100, seed: int = 0) -> AnswerTimes:
    document = long_document(tokens, seed)
    with tempfile.TemporaryDirectory(prefix="corefine-answer-") as name:
        folder = Path(name)
        key, token, owner = long_project(folder, document, before, seed)
        with served(folder) as server, Training(server.port, owner) as training:
            one = Annotator(server.port, token, {key: document}, answers, THINK_SECONDS, Random(seed))
            one.go.set()
            cpu = server.cpu_seconds()
            one.run()
            cpu = server.cpu_seconds() - cpu
            failure = training.failure
    if failure or one.errors or not one.seconds:
        raise RuntimeError(f"the measurement failed: {failure or one.errors}")
    waits = Waits.of([1000 * second for second in one.seconds])
    return AnswerTimes(len(document), before, 1000 * cpu / len(one.seconds), waits)


def described(times: AnswerTimes) -> str:
    return (
        f"{times.tokens} tokens, {times.answers_before} answers before, the starter model trains: "
        f"{times.server_ms:.1f} ms of the server's processor time an answer\n"
        f"answer to next question over HTTP: {times.waits}"
    )


def main(
    as_json: Json = False,
    answers: Annotated[int, typer.Option(min=1, help="Answers that are timed.")] = 100,
    seed: Seed = 0,
) -> None:
    """Time the server from an answer to the next question, on a long document with many answers."""
    report(measure(answers=answers, seed=seed), described, as_json=as_json)


if __name__ == "__main__":
    run(main)

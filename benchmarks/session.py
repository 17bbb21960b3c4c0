"""How long a person waits: from an answer to the next question, against recomputing everything.

The document is as large as the bar asks: 1,600 top spans with 100 candidates each, answered by a faultless annotator.
From scratch means what a program without incremental updates would do after each answer: close over all answers,
revise every row, decode, sum and score all of it, choose.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer

from command import Bar, Json, Seed, missed, report, run
from corefine.annotation.annotators import GoldAnnotator
from corefine.annotation.revision import Mask, Revision
from corefine.annotation.session import Session
from corefine.document import Document, Span
from corefine.links import Links
from corefine.prediction import NONE, Prediction

TOKENS_A_SPAN = 3


@dataclass(frozen=True, slots=True)
class SessionTimes:
    """Milliseconds from an answer to the next question.

    ratio    median of ours over median from scratch, in the same run
    """

    spans: int
    candidates: int
    questions: int
    median_ms: float
    p95_ms: float
    worst_ms: float
    scratch_median_ms: float
    ratio: float

    @property
    def failure(self) -> str | None:
        return missed(
            Bar("p95, ms", self.p95_ms, "below", 20),
            Bar("ours over from scratch", self.ratio, "below", 0.1),
        )


def measure(
    *, spans: int = 1600, candidates: int = 100, questions: int = 600, scratch_every: int = 20, seed: int = 0
) -> SessionTimes:
    """Annotate one large document, and every so often redo all the work from scratch for comparison."""
    document, prediction = large_document(spans, candidates, seed)
    session = Session(document, prediction)
    annotator = GoldAnnotator(document)
    ours: list[float] = []
    scratch: list[float] = []
    question = session.next_question()
    while question is not None and len(ours) < questions:
        answer = annotator.answer(question)
        start = time.perf_counter()
        session.answer(answer)
        question = session.next_question()
        ours.append(time.perf_counter() - start)
        if len(ours) % scratch_every == 0:
            start = time.perf_counter()
            row = choose_from_scratch(session)
            scratch.append(time.perf_counter() - start)
            if question is not None and (row is None or prediction.spans[row] != question.mention):
                raise RuntimeError("the incremental and the from-scratch choice differ")
    median, p95, worst = np.quantile(ours, [0.5, 0.95, 1.0]) * 1000
    from_scratch = float(np.median(scratch)) * 1000
    return SessionTimes(
        spans,
        candidates,
        len(ours),
        float(median),
        float(p95),
        float(worst),
        from_scratch,
        float(median) / from_scratch,
    )


def choose_from_scratch(session: Session) -> int | None:
    """The row to ask about next, with nothing kept from before but the answers."""
    links = Links(infer_first=session.links.infer_first)
    for answered in session.answers:
        links.add(answered.question.number, *answered.assertions)
    prediction = session.revision.prediction
    revision = Revision(prediction, links)
    scores = session.selector.scores(revision, np.arange(len(prediction)))
    allowed: Mask = ~revision.settled & (prediction.candidates != NONE).any(axis=1)
    allowed[[revision.nodes.get_or_add(answered.question.mention) for answered in session.answers]] = False
    return session.selector.choose(scores, allowed, revision, asked=len(session.answers), budget=None)


def large_document(spans: int, candidates: int, seed: int) -> tuple[Document, Prediction]:
    """A document whose entities are of very unequal size, and a prediction that is often, not always, right."""
    rng = np.random.default_rng(seed)
    mentions = [Span(TOKENS_A_SPAN * i, TOKENS_A_SPAN * i + 1) for i in range(spans)]
    entity = _entities(spans, rng)
    clusters: dict[int, list[Span]] = {}
    for mention, number in zip(mentions, entity.tolist(), strict=True):
        clusters.setdefault(number, []).append(mention)
    tokens = tuple(f"w{i}" for i in range(TOKENS_A_SPAN * spans))
    document = Document("large", tokens, tuple(range(0, len(tokens), 30)), tuple(map(tuple, clusters.values())))
    table = np.arange(spans)[:, None] - np.arange(candidates, 0, -1)[None, :]  # [N, K] the nearest K, in order
    table[table < 0] = NONE
    same = (entity[:, None] == entity[table]) & (table != NONE)
    # About as right as a model early in annotation: 6 links in 10 are right, 9 first mentions in 10 have no antecedent.
    scores = rng.normal(-6.0, 2.0, table.shape) + 6.5 * same
    scores[table == NONE] = -np.inf
    weights = np.exp(np.concatenate([np.full((spans, 1), 1.0), scores], axis=1))
    return document, Prediction(tuple(mentions), table, weights / weights.sum(axis=1, keepdims=True))


def _entities(size: int, rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Entity of each mention, as people introduce them: a known one in proportion to its mentions, or a new one."""
    entity = np.zeros(size, dtype=np.int64)
    fresh = 1
    for i in range(1, size):
        if rng.random() < 0.3:
            entity[i] = fresh
            fresh += 1
        else:
            entity[i] = entity[rng.integers(i)]
    return entity


def described(times: SessionTimes) -> str:
    return (
        f"{times.questions} answers about {times.spans} top spans with {times.candidates} candidates each\n"
        f"answer to next question: median {times.median_ms:.1f} ms, 95th percentile {times.p95_ms:.1f} ms, "
        f"worst {times.worst_ms:.1f} ms\n"
        f"from scratch: median {times.scratch_median_ms:.1f} ms, {1 / times.ratio:.1f} times as long"
    )


def main(
    as_json: Json = False,
    questions: Annotated[int, typer.Option(min=1, help="Questions to answer.")] = 600,
    seed: Seed = 0,
) -> None:
    """Time the wait between an answer and the next question, against recomputing everything."""
    report(measure(questions=questions, seed=seed), described, as_json=as_json)


if __name__ == "__main__":
    run(main)

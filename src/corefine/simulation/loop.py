"""The loop: learn, ask, relabel, learn again (the paper's Algorithms 2 and 3). It yields what happens.

A round trains on all lessons so far, scores the model, and annotates the round's documents. When no documents are
left, a last training starts from scratch. The loop keeps nothing: rows, lessons and clocks go to the caller, who may
stop after any `RoundDone` and go on from it later (`Restored`) to the same end.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from corefine.annotation.labels import Labels
from corefine.corpora import Corpus
from corefine.document import Document
from corefine.prediction import Prediction
from corefine.simulation.asking import Annotation, Clock, annotate_document, annotator_of
from corefine.simulation.baselines import buy
from corefine.simulation.budget import budget_of, shares
from corefine.simulation.config import FULL, SimulationConfig
from corefine.simulation.learners import Learner
from corefine.simulation.scoring import conll_f1, scores_of
from corefine.simulation.splits import plan


@dataclass(frozen=True, slots=True)
class RoundStart:
    """A round begins; `rounds` counts them all, the last training included."""

    round: int
    rounds: int
    lessons: int


@dataclass(frozen=True, slots=True)
class Learned:
    """The round's model is trained and scored."""

    round: int
    scores: dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Annotated:
    """One document has been asked about."""

    round: int
    annotation: Annotation


@dataclass(frozen=True, slots=True)
class RoundDone:
    """All of a round. `row` and `questions` depend on settings and corpus alone, `timing` on the machine."""

    round: int
    row: dict[str, Any]
    questions: tuple[dict[str, Any], ...]
    lessons: tuple[Labels, ...]
    timing: dict[str, Any]


Event = RoundStart | Learned | Annotated | RoundDone


@dataclass(frozen=True, slots=True)
class Restored:
    """What rounds that are done have left: their rows and lessons."""

    rows: tuple[dict[str, Any], ...] = ()
    lessons: tuple[Labels, ...] = ()


def simulate(
    config: SimulationConfig,
    corpus: Corpus,
    learner: Learner,
    *,
    restored: Restored | None = None,
    clock: Clock = time.perf_counter,
) -> Iterator[Event]:
    """Run all rounds that are not restored."""
    planned = plan(corpus, config)
    restored = restored or Restored()
    lessons = [*map(Labels.gold, planned.initial), *restored.lessons]
    seconds = restored.rows[-1]["seconds"] if restored.rows else 0.0
    left = restored.rows[-1]["left"] if restored.rows else 0.0
    last = len(planned.rounds)
    for number in range(len(restored.rows), last + 1):
        final = number == last
        yield RoundStart(number, last + 1, len(lessons))
        watch = _Watch(clock)
        predictor = learner.learn(lessons, round=number, final=final)
        watch.lap("training")
        scores = {
            split: scores_of(documents, learner.predict(predictor, documents))
            for split, documents in (("dev", corpus.dev), ("test", corpus.test))
        }
        watch.lap("scoring")
        yield Learned(number, scores)
        annotations: list[Annotation] = []
        if not final:
            documents = planned.rounds[number]
            predictions = learner.predict(predictor, documents)
            watch.lap("prediction")
            if config.protocol == FULL:
                purchase = buy(documents, predictions, config, left=left)
                annotations, left = list(purchase.annotations), purchase.left
            else:
                for annotation in _ask(documents, predictions, config, clock):
                    annotations.append(annotation)
                    yield Annotated(number, annotation)
            watch.lap("annotation")
        before = seconds
        seconds += sum(annotation.seconds for annotation in annotations)
        row = {
            "round": number,
            "final": final,
            "documents": len(lessons),
            "hours": before / 3600,
            "scores": scores,
            "asked": _asked(annotations) if not final else None,
            "seconds": seconds,
            "left": left,
        }
        new = tuple(annotation.lesson for annotation in annotations)
        lessons += new
        questions = tuple({"round": number, **row} for annotation in annotations for row in annotation.rows)
        yield RoundDone(number, row, questions, new, watch.timing(number, annotations))
        learner.finished(number)


def _ask(
    documents: Sequence[Document], predictions: Sequence[Prediction], config: SimulationConfig, clock: Clock
) -> Iterator[Annotation]:
    parts = shares(documents, predictions, config)
    for document, prediction, share in zip(documents, predictions, parts, strict=True):
        budget = budget_of(document, prediction, annotator_of(document, config), config, share)
        yield annotate_document(document, prediction, config, budget, clock)


def _asked(annotations: Sequence[Annotation]) -> dict[str, Any]:
    """What a round's questions came to."""
    initial = sum(annotation.initial for annotation in annotations)
    before = conll_f1(annotation.before for annotation in annotations)
    after = conll_f1(annotation.after for annotation in annotations)
    return {
        "documents": len(annotations),
        "tokens": sum(len(annotation.document) for annotation in annotations),
        "questions": sum(len(annotation.rows) for annotation in annotations),
        "initial": initial,
        "yes": sum(annotation.yes for annotation in annotations),
        "passed": sum(row.get("passed", False) for annotation in annotations for row in annotation.rows),
        "settled": sum(row["settled"] for annotation in annotations for row in annotation.rows),
        "pairs": sum(row["pairs"] for annotation in annotations for row in annotation.rows),
        "seconds": sum(annotation.seconds for annotation in annotations),
        "before_f1": before,
        "after_f1": after,
        "delta_f1": round(after - before, 4),
    }


class _Watch:
    """Where a round's time goes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = self._last = clock()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        now = self._clock()
        self._laps[name] = self._laps.get(name, 0.0) + now - self._last
        self._last = now

    def timing(self, number: int, annotations: Sequence[Annotation]) -> dict[str, Any]:
        """Seconds by what they went into. "annotation" is all of it, selection and closure are parts of that."""
        return {
            "round": number,
            **self._laps,
            "selection": sum(annotation.selection for annotation in annotations),
            "closure": sum(annotation.closure for annotation in annotations),
            "total": self._clock() - self._began,
        }

"""The active learning loop: train, ask, relabel, train again (the paper's Algorithms 2 and 3).

A round trains on all lessons so far, scores the model and annotates the round's documents. When no documents are left,
a last training follows. The loop writes no files: it yields events, and the caller may stop after any
`RoundDone` and go on from there later, to the same result.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corefine.annotation.labels import Labels
from corefine.annotation.revision import decode
from corefine.corpora import Corpus
from corefine.document import Document
from corefine.prediction import Prediction
from corefine.scores import Counts, report
from corefine.scores.own_metrics import own_scores
from corefine.simulation.annotating import AnnotatedDocument, Clock, annotate_round, label_fully
from corefine.simulation.config import FULL, GOLD, SimulationConfig
from corefine.simulation.learners import Learner
from corefine.simulation.rows import AskedRow, ModelScores, QuestionRow, RoundRow, RunTiming
from corefine.simulation.splits import plan

if TYPE_CHECKING:
    from corefine.models.resolver import Predictor

DIGITS = 4
"""Decimals of an F1 in a row."""


@dataclass(frozen=True, slots=True)
class RoundStart:
    """A round begins. `rounds` counts them all, with the last training."""

    round: int
    rounds: int
    lessons: int


@dataclass(frozen=True, slots=True)
class Learned:
    """The round's model is trained and scored."""

    round: int
    scores: dict[str, ModelScores]


@dataclass(frozen=True, slots=True)
class Annotated:
    """The questions about one document have been asked."""

    round: int
    annotation: AnnotatedDocument


@dataclass(frozen=True, slots=True)
class RoundDone:
    """A round is done. All but `timing` depends on the settings and the corpus alone."""

    round: int
    row: RoundRow
    questions: tuple[QuestionRow, ...]
    lessons: tuple[Labels, ...]
    timing: RunTiming


RunEvent = RoundStart | Learned | Annotated | RoundDone


@dataclass(frozen=True, slots=True)
class FinishedRounds:
    """The rows, questions and lessons of the rounds that are done. The last lesson about a document counts."""

    rows: tuple[RoundRow, ...] = ()
    questions: tuple[QuestionRow, ...] = ()
    lessons: tuple[Labels, ...] = ()


def simulate(
    config: SimulationConfig,
    corpus: Corpus,
    learner: Learner,
    *,
    finished: FinishedRounds | None = None,
    clock: Clock = time.perf_counter,
) -> Iterator[RunEvent]:
    """Run all rounds that are not finished."""
    planned = plan(corpus, config)
    finished = finished or FinishedRounds()
    lessons = {each.document.key: each for each in (*map(Labels.gold, planned.initial), *finished.lessons)}
    asked: defaultdict[str, list[QuestionRow]] = defaultdict(list)
    for question in finished.questions:
        asked[question.document].append(question)
    seconds = finished.rows[-1].seconds if finished.rows else 0.0
    left = finished.rows[-1].left if finished.rows else 0.0
    last = len(planned.rounds)
    for number in range(len(finished.rows), last + 1):
        final = number == last
        yield RoundStart(number, last + 1, len(lessons))
        watch = _Stopwatch(clock)
        predictor = learner.learn(tuple(lessons.values()), round=number, final=final)
        watch.lap("training")
        scores = _scores(config, corpus, learner, predictor)
        watch.lap("scoring")
        yield Learned(number, scores)
        annotated: list[AnnotatedDocument] = []
        if not final:
            documents = planned.rounds[number]
            predictions = learner.predict(predictor, documents)
            watch.lap("prediction")
            if config.protocol in (FULL, GOLD):
                annotated, left = label_fully(documents, predictions, config, left=left)
            else:
                earlier = asked if config.spread else None
                for document in annotate_round(documents, predictions, config, clock, round=number, earlier=earlier):
                    annotated.append(document)
                    yield Annotated(number, document)
            watch.lap("annotation")
        before = seconds
        seconds += sum(document.seconds for document in annotated)
        row = RoundRow(
            round=number,
            final=final,
            documents=len(lessons),
            hours=before / 3600,
            scores=scores,
            asked=None if final else _asked(annotated),
            seconds=seconds,
            left=left,
        )
        new = tuple(document.lesson for document in annotated)
        lessons |= {lesson.document.key: lesson for lesson in new}
        questions = tuple(row for document in annotated for row in document.rows)
        for question in questions:
            asked[question.document].append(question)
        yield RoundDone(number, row, questions, new, watch.timing(annotated))
        learner.finished(number)


def _scores(config: SimulationConfig, corpus: Corpus, learner: Learner, predictor: Predictor) -> dict[str, ModelScores]:
    """The scores of a model on development and test documents."""
    splits = {"dev": corpus.dev, "test": corpus.test}
    return {
        name: score_model(held, learner.predict(predictor, held), config.metric)
        for name, held in splits.items()
        if held
    }


def score_model(
    documents: Sequence[Document], predictions: Iterable[Prediction], metrics: Sequence[str] = ()
) -> ModelScores:
    """Score the clusters that predictions decode to against gold, singletons dropped; `metrics` are from outside."""
    answers = [
        document.with_clusters(decode(prediction)) for document, prediction in zip(documents, predictions, strict=True)
    ]
    found = report(documents, answers, singletons="drop").scores
    pronouns = report(documents, answers, singletons="drop", pronouns=True).scores
    pairs = [(gold.without_singletons(), answer) for gold, answer in zip(documents, answers, strict=True)]
    return ModelScores(
        conll_f1=round(found.conll_f1, DIGITS),
        muc_f1=round(found.muc.f1, DIGITS),
        b3_f1=round(found.b3.f1, DIGITS),
        ceafe_f1=round(found.ceafe.f1, DIGITS),
        mention_f1=round(found.mentions.f1, DIGITS),
        pronoun_f1=round(pronouns.conll_f1, DIGITS),
        own={name: round(found.f1, DIGITS) for name, found in own_scores(metrics, pairs).items()},
    )


def _asked(annotated: Sequence[AnnotatedDocument]) -> AskedRow:
    rows = [row for document in annotated for row in document.rows]
    said = [row.answered.answer.same for row in rows]
    before, after = (
        round(Counts.total(counts).scores.conll_f1, DIGITS)
        for counts in ((document.before for document in annotated), (document.after for document in annotated))
    )
    return AskedRow(
        documents=len(annotated),
        tokens=sum(len(each.document) for each in annotated),
        questions=len(rows),
        initial=sum(same is not None for same in said),
        yes=sum(same is True for same in said),
        passed=sum(row.passed for row in rows),
        settled=sum(len(row.settled) for row in rows),
        pairs=sum(row.pairs for row in rows),
        seconds=sum(document.seconds for document in annotated),
        before_f1=before,
        after_f1=after,
        delta_f1=round(after - before, DIGITS),
    )


class _Stopwatch:
    """Measures the parts of a round."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = self._last = clock()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        now = self._clock()
        self._laps[name] = now - self._last
        self._last = now

    def timing(self, annotated: Sequence[AnnotatedDocument]) -> RunTiming:
        selection = sum(document.selection for document in annotated)
        closure = sum(document.closure for document in annotated)
        return RunTiming(self._clock() - self._began, {**self._laps, "selection": selection, "closure": closure})

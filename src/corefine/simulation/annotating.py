"""Annotates the documents of one round: their budgets, the questions, and the labels that result.

A budget is in questions or in seconds, per document or per 1,000 tokens. All other arms are compared with discrete
questions chosen by clustered entropy at *equal time*: they may spend the seconds that the budgeted number of those
questions would take. To find these seconds, the questions are asked about the same prediction and the answers are
discarded, so no run depends on another.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from corefine import plugins
from corefine.annotation.annotators import Annotator, GoldAnnotator
from corefine.annotation.labels import Labels
from corefine.annotation.log import AnswerEntry, Budget
from corefine.annotation.question import Protocol
from corefine.annotation.revision import decode
from corefine.annotation.selectors import make_selector
from corefine.annotation.session import Session
from corefine.document import Cluster, Document
from corefine.errors import ContradictionError
from corefine.prediction import Prediction
from corefine.scores import Counts
from corefine.simulation.ablation import CLOSURES
from corefine.simulation.config import FULL, GOLD, SimulationConfig
from corefine.simulation.rows import QuestionRow

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class AnnotatedDocument:
    """A document after its annotation in a round.

    rows         the questions of the round
    lesson       what training learns from it, from earlier rounds too
    before       how the labels before these questions score against gold, singletons dropped
    after        how the new labels score
    seconds      of annotation in the round
    selection    seconds that this machine took to choose the questions
    closure      seconds that it took to apply the answers
    """

    document: Document
    rows: tuple[QuestionRow, ...]
    lesson: Labels
    before: Counts
    after: Counts
    seconds: float
    selection: float = 0.0
    closure: float = 0.0


def annotator_of(document: Document, config: SimulationConfig) -> Annotator:
    """The simulated annotator that the settings describe."""
    if config.annotator != "gold":
        plugged_in: Annotator = plugins.make("annotators", config.annotator, document=document)
        return plugged_in
    return GoldAnnotator(document, nearest=config.nearest, error_rate=config.error_rate, seed=config.seed)


def session_of(document: Document, prediction: Prediction, config: SimulationConfig, budget: Budget) -> Session:
    """The session that the settings describe."""
    seeded = {"seed": config.seed} if config.selector == "random" else {}
    return Session(
        document,
        prediction,
        protocol=Protocol(config.protocol),
        selector=make_selector(config.selector, clustered=config.clustered, sample=config.sample, **seeded),
        budget=budget,
        infer_first=config.infer_first,
        groups=config.groups,
        cost=config.cost,
        closure=CLOSURES[config.closure],
    )


def annotate_document(
    document: Document,
    prediction: Prediction,
    config: SimulationConfig,
    budget: Budget,
    clock: Clock = time.perf_counter,
    earlier: Sequence[QuestionRow] = (),
) -> AnnotatedDocument:
    """Ask about a document until its budget is spent. Questions of earlier rounds count towards it.

    A simulated annotator who errs may contradict an earlier answer. Such an answer is not applied, but its time counts.
    """
    annotator = annotator_of(document, config)
    selection = closure = 0.0
    began = clock()
    session = session_of(document, prediction, config, budget)
    for row in earlier:
        session.replay_event({"event": "answer", **row.taken.to_json()})
    spent, clusters = session.seconds, session.relabelled().clusters if earlier else decode(prediction)
    rows = []
    while True:
        question = session.next_question()
        selection += clock() - began
        if question is None:
            break
        answer = annotator.answer(question)
        answered = AnswerEntry(question, answer, config.cost.seconds(question, answer))
        passed = False
        began = clock()
        try:
            outcome = session.answer(answer, seconds=answered.seconds)
        except ContradictionError:
            passed = True
            outcome = session.skip(seconds=answered.seconds)
        closure += clock() - began
        rows.append(QuestionRow(document.key, answered, outcome.settled, outcome.pairs, passed))
        began = clock()
    lesson = Labels.from_session(session)
    before, after = _counts(document, clusters, lesson)
    return AnnotatedDocument(document, tuple(rows), lesson, before, after, session.seconds - spent, selection, closure)


def _counts(document: Document, clusters: Iterable[Cluster], lesson: Labels) -> tuple[Counts, Counts]:
    gold = document.without_singletons().clusters
    before = document.with_clusters(clusters).without_singletons().clusters
    return Counts.of(gold, before), Counts.of(gold, lesson.document.without_singletons().clusters)


def annotate_round(
    documents: Sequence[Document],
    predictions: Sequence[Prediction],
    config: SimulationConfig,
    clock: Clock,
    *,
    round: int = 0,
    earlier: Mapping[str, Sequence[QuestionRow]] | None = None,
) -> Iterator[AnnotatedDocument]:
    """Ask about each document of a round. `earlier` has the questions of rounds before, by document."""
    for document, prediction, share in zip(documents, predictions, shares(documents, predictions, config), strict=True):
        budget = budget_of(document, prediction, config, share * config.share_spent(round))
        yield annotate_document(document, prediction, config, budget, clock, (earlier or {}).get(document.key, ()))


def budget_of(document: Document, prediction: Prediction, config: SimulationConfig, share: float = 1.0) -> Budget:
    """What may be spent on a document: what the settings say, times `share`; in seconds where time is to be equal."""
    size = (len(document) / 1000 if config.per == "1000-tokens" else 1.0) * share
    protocol = Protocol.DISCRETE if config.protocol in (FULL, GOLD) else Protocol(config.protocol)
    least_gain = max(config.least_gain, config.cost.least_gain(config.least_per_hour, protocol))
    if config.questions is None:
        return Budget(seconds=(config.seconds or 0.0) * size, least_gain=least_gain)
    questions = round(config.questions * size)
    usual = config.with_changes(
        protocol=Protocol.DISCRETE.value,
        selector="entropy",
        sample=0.0,
        clustered=True,
        closure="incremental",
        infer_first=False,
        groups=False,
        nearest=False,
        error_rate=0.0,
        least_gain=0.0,
        least_per_hour=0.0,
    )
    equal = {"every": config != usual, "pairwise": config.protocol == "pairwise", "off": False}[config.equal_time]
    if config.protocol == FULL or equal:
        seconds = annotate_document(document, prediction, usual, Budget(questions=questions)).seconds
        return Budget(seconds=seconds, least_gain=least_gain)
    return Budget(questions=questions, least_gain=least_gain)


def shares(
    documents: Sequence[Document], predictions: Sequence[Prediction], config: SimulationConfig
) -> tuple[float, ...]:
    """By how much each document's budget is multiplied.

    With `read_at_most`, the documents with the largest mean entropy share the budget of the whole round in proportion
    to their own budgets, and the others get nothing. Otherwise every share is 1.
    """
    most = config.read_at_most
    if not most or most >= len(documents):
        return (1.0,) * len(documents)
    order = sorted(range(len(documents)), key=lambda index: (-_mean_entropy(predictions[index]), index))
    read = set(order[:most])
    sizes = [len(document) if config.per == "1000-tokens" else 1 for document in documents]
    factor = sum(sizes) / max(1, sum(sizes[index] for index in read))
    return tuple(factor if index in read else 0.0 for index in range(len(documents)))


def _mean_entropy(prediction: Prediction) -> float:
    rows = prediction.probabilities
    logs = np.log(np.where(rows > 0.0, rows, 1.0))
    return float(-(rows * logs).sum(axis=1).mean()) if len(rows) else 0.0


def label_fully(
    documents: Sequence[Document], predictions: Sequence[Prediction], config: SimulationConfig, *, left: float
) -> tuple[list[AnnotatedDocument], float]:
    """Give whole documents their gold labels, in order, until the time is used up. Also returns the time left over.

    With the protocol gold, time is unlimited. Otherwise a round has the seconds that discrete questions would take on
    its documents, plus what earlier rounds left over. A document costs one follow-up asked alone per top span.
    """
    pairs = list(zip(documents, predictions, strict=True))
    for document, prediction in pairs:
        left += inf if config.protocol == GOLD else budget_of(document, prediction, config).seconds or 0.0
    labelled = []
    for document, prediction in pairs:
        price = config.cost.follow_ups(len(prediction))
        if price > left:
            break
        left -= price
        lesson = Labels.gold(document)
        before, after = _counts(document, decode(prediction), lesson)
        labelled.append(AnnotatedDocument(document, (), lesson, before, after, price))
    return labelled, left if left < inf else 0.0

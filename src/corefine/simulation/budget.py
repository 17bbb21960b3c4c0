"""How much a document may cost: questions or seconds, for each document or for each 1,000 tokens.

Documents differ in length, so a budget for each 1,000 tokens is the default (docs/method.md). Pairwise questions are
compared at *equal time*: a document gets the seconds that discrete questions of the same budget would take there.
That is found by asking them: a second session on the same document and the same prediction, with the same simulated
annotator, whose answers are thrown away and whose time is kept. So the run of a baseline depends on no other run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corefine.annotation.annotators import Annotator
from corefine.annotation.log import Budget
from corefine.annotation.question import Protocol
from corefine.annotation.selectors import Entropy
from corefine.annotation.session import Session
from corefine.document import Document
from corefine.errors import ContradictionError
from corefine.prediction import Prediction
from corefine.simulation.config import FULL, SimulationConfig


def own_budget(document: Document, config: SimulationConfig, share: float = 1.0) -> Budget:
    """What the settings give this document, times `share`."""
    size = (len(document) / 1000 if config.per == "1000-tokens" else 1.0) * share
    if config.questions is not None:
        return Budget(questions=round(config.questions * size))
    return Budget(seconds=(config.seconds or 0.0) * size)


def budget_of(
    document: Document,
    prediction: Prediction,
    annotator: Annotator,
    config: SimulationConfig,
    share: float = 1.0,
) -> Budget:
    """What may be spent on this document; for a baseline that is compared at equal time, in seconds."""
    budget = own_budget(document, config, share)
    timed = config.protocol == FULL or (config.protocol == Protocol.PAIRWISE and config.equal_time)
    if timed and budget.questions is not None:
        return Budget(seconds=discrete_seconds(document, prediction, annotator, config, budget))
    return budget


def discrete_seconds(
    document: Document, prediction: Prediction, annotator: Annotator, config: SimulationConfig, budget: Budget
) -> float:
    """What discrete questions of this budget, chosen by clustered entropy, would take."""
    session = Session(
        document, prediction, selector=Entropy(), budget=budget, infer_first=config.infer_first, cost=config.cost
    )
    while (question := session.next_question()) is not None:
        answer = annotator.answer(question)
        try:
            session.answer(answer)
        except ContradictionError:
            session.skip(seconds=config.cost.seconds(question.protocol, answer))
    return session.seconds


def shares(
    documents: Sequence[Document], predictions: Sequence[Prediction], config: SimulationConfig
) -> tuple[float, ...]:
    """By how much each document's budget is multiplied.

    All by 1; or, where only some documents of a round are read, those with the largest mean entropy share what the
    whole round has, each in proportion to its own budget, and the others get nothing.
    """
    cap = config.read_at_most
    if not cap or cap >= len(documents):
        return (1.0,) * len(documents)
    order = sorted(range(len(documents)), key=lambda at: (-_mean_entropy(predictions[at]), at))
    read = set(order[:cap])
    sizes = [len(document) if config.per == "1000-tokens" else 1 for document in documents]
    factor = sum(sizes) / max(1, sum(sizes[at] for at in read))
    return tuple(factor if at in read else 0.0 for at in range(len(documents)))


def _mean_entropy(prediction: Prediction) -> float:
    rows = prediction.probabilities
    logs = np.log(np.where(rows > 0.0, rows, 1.0))
    return float(-(rows * logs).sum(axis=1).mean()) if len(rows) else 0.0

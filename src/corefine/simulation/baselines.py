"""Random fully labelled: whole documents, with their gold clusters, for as long as the same hours last.

Every top span of a document costs one "mark the first appearance" asked alone (28.01 s). A round's hours are what
discrete questions would take on the round's documents, and what a round does not spend the next one has. Documents
come in the order of the seed; one that is not bought is not used at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corefine.annotation.labels import Labels
from corefine.annotation.revision import decode
from corefine.document import Document
from corefine.prediction import Prediction
from corefine.scores import Counts
from corefine.simulation.asking import Annotation, annotator_of
from corefine.simulation.budget import budget_of
from corefine.simulation.config import SimulationConfig


@dataclass(frozen=True, slots=True)
class Purchase:
    """Documents that a round bought, and the seconds left over for the next."""

    annotations: tuple[Annotation, ...]
    left: float


def full_seconds(prediction: Prediction, config: SimulationConfig) -> float:
    """What it takes to label a document fully."""
    return config.cost.follow_ups(len(prediction))


def buy(
    documents: Sequence[Document],
    predictions: Sequence[Prediction],
    config: SimulationConfig,
    *,
    left: float,
) -> Purchase:
    """Label as many of the round's documents as its hours, and what is left of earlier ones, pay for."""
    pairs = list(zip(documents, predictions, strict=True))
    for document, prediction in pairs:
        left += budget_of(document, prediction, annotator_of(document, config), config).seconds or 0.0
    bought = []
    for document, prediction in pairs:
        price = full_seconds(prediction, config)
        if price > left:
            break
        left -= price
        bought.append(_bought(document, prediction, price))
    return Purchase(tuple(bought), left)


def _bought(document: Document, prediction: Prediction, price: float) -> Annotation:
    gold = document.without_singletons().clusters
    return Annotation(
        document=document,
        rows=[],
        lesson=Labels.gold(document),
        before=Counts.of(gold, decode(prediction)),
        after=Counts.of(gold, gold),
        seconds=price,
    )

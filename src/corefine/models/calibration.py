"""Chooses the temperature of a model's probabilities and its threshold for linking.

Both are chosen on development documents after training. A trained ranker is overconfident. Dividing its scores by the
temperature makes the labels of the development documents as probable as possible. The threshold does not change
probabilities; it decides when a mention is linked.

Without development documents only the threshold is chosen: the model then links about as many mentions as it expects to
have an antecedent. In a new field its threshold from elsewhere links far too few of them, or far too many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from corefine.annotation.labels import Labels
from corefine.annotation.revision import decode
from corefine.document import Document
from corefine.models.network.model import Model
from corefine.models.training.loss import targets_for
from corefine.prediction import Floats
from corefine.scores.results import Counts

TEMPERATURES = np.geomspace(0.5, 3.0, 36)
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
LOWEST, HIGHEST = 0.05, 0.95
CAUTION = 0.85
"""A wrong link between two large entities costs more than a missed one, so slightly too few links score best."""
BINS = 15


@dataclass(frozen=True, slots=True)
class Calibration:
    """The chosen values, and the expected calibration error (in percent) of "has no antecedent" before and after."""

    temperature: float
    threshold: float
    error_before: float
    error_after: float


def calibrate(model: Model, documents: Sequence[Document]) -> Calibration:
    """Choose temperature and threshold on these documents, and set them in the model."""
    set_calibration(model, 1.0, 0.5)
    rows = [_rows(model, document) for document in documents]
    losses = [sum(_loss(scores, allowed, value) for scores, allowed in rows) for value in TEMPERATURES]
    temperature = round(float(TEMPERATURES[int(np.argmin(losses))]), 3)
    before, after = (calibration_error(rows, value) for value in (1.0, temperature))
    set_calibration(model, temperature, 0.5)
    predictions = [model.predict(document) for document in documents]
    scores = [
        Counts.total(
            Counts.of(document.without_singletons().clusters, decode(replace(prediction, threshold=threshold)))
            for document, prediction in zip(documents, predictions, strict=True)
        ).scores.conll_f1
        for threshold in THRESHOLDS
    ]
    best = max(range(len(THRESHOLDS)), key=lambda at: (round(_smooth(scores)[at], 3), -abs(THRESHOLDS[at] - 0.5)))
    set_calibration(model, temperature, THRESHOLDS[best])
    return Calibration(temperature, THRESHOLDS[best], before, after)


def link_as_expected(model: Model, documents: Sequence[Document]) -> float:
    """Set the threshold at which the model links as many mentions of these documents as it expects, and return it.

    It expects what its probabilities add up to with as many candidates as in training. With more candidates, many small
    probabilities would add up to links that are not there.
    """
    trained = 1 + model.config.head.candidates  # columns; the best candidates come first
    rows = [model.scores(document) / model.config.head.temperature for document in documents]
    wanted = int(CAUTION * sum(float((1 - scores[:, :trained].softmax(1)[:, 0]).sum()) for scores in rows))
    chances = np.sort(np.concatenate([scores.softmax(1)[:, 0].numpy() for scores in rows]))
    threshold = chances[min(wanted, len(chances) - 1)] if len(chances) else model.config.head.threshold
    threshold = round(float(np.clip(threshold, LOWEST, HIGHEST)), 3)
    set_calibration(model, model.config.head.temperature, threshold)
    return threshold


def set_calibration(model: Model, temperature: float, threshold: float) -> None:
    """Use this temperature and threshold in the model's predictions."""
    model.config = replace(model.config, head=replace(model.config.head, temperature=temperature, threshold=threshold))
    model.ranker.config = model.config


def calibration_error(rows: Sequence[tuple[Tensor, Tensor]], temperature: float) -> float:
    """The mean difference, in percent, between the probability of "has no antecedent" and how often it is true.

    The probability of a single antecedent cannot be checked this way, because antecedents of one entity share it.
    """
    chances: list[Floats] = [(scores / temperature).softmax(1)[:, 0].numpy() for scores, _ in rows]
    chance = np.concatenate(chances)
    truth = np.concatenate([allowed[:, 0].double().numpy() for _, allowed in rows])
    bins = np.minimum((chance * BINS).astype(np.int64), BINS - 1)
    gaps = np.abs(np.bincount(bins, weights=chance - truth, minlength=BINS))
    return 100 * float(gaps.sum() / max(1, len(chance)))


def _rows(model: Model, document: Document) -> tuple[Tensor, Tensor]:
    """[N, 1 + K] the scores of a document, and a mask of the columns that agree with its labels."""
    model.train(False)
    with torch.inference_mode():
        ranking = model.rank(document)
        allowed = targets_for(ranking, Labels.gold(document)).allowed
    return ranking.scores.cpu().double(), allowed.cpu()


def _loss(scores: Tensor, allowed: Tensor, temperature: float) -> float:
    scaled = scores / temperature
    return float((scaled.logsumexp(1) - scaled.masked_fill(~allowed, -torch.inf).logsumexp(1)).sum())


def _smooth(scores: Sequence[float]) -> list[float]:
    """Each score averaged with its neighbours, so that no threshold wins by luck."""
    padded = [scores[0], *scores, scores[-1]]
    return [(padded[at] + 2 * padded[at + 1] + padded[at + 2]) / 4 for at in range(len(scores))]

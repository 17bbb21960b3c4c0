"""Chooses the temperature of a model's probabilities and its threshold for linking.

Both are chosen on development documents after training. A trained ranker is overconfident. Dividing its scores by the
temperature makes the labels of the development documents as probable as possible. The threshold does not change
probabilities; it decides when a mention is linked.

Without development documents only the threshold is chosen: the model then links about as many mentions as are expected
to have an antecedent. In a new field a model expects far too few links, or too many. Answers correct that: when a
question was asked, no model had learnt from its answer, so answers show how often a mention really has an antecedent at
the probability that the model gave it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.optimize import brentq
from scipy.special import expit, logit
from torch import Tensor

from corefine.annotation.completed import covers
from corefine.annotation.labels import Labels
from corefine.annotation.revision import EPSILON, decode
from corefine.document import Document
from corefine.models.network.model import Model
from corefine.models.training.loss import targets_for
from corefine.prediction import Floats, Prediction
from corefine.scores.results import Counts

TEMPERATURES = np.geomspace(0.5, 3.0, 36)
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
LOWEST, HIGHEST = 0.05, 0.95
CAUTION = 0.9
"""A wrong link between two large entities costs more than a missed one, so slightly too few links score best."""
NEARLY_ALL = 2 / 3
"""If answers settle this share of the expected links, labels are nearly full."""
ENOUGH_LINKS = 100
"""Documents annotated in full set the threshold alone if they link this many mentions; two short texts do."""
SUREST = 1e-6
"""No probability counts as closer to 0 or 1 than this."""
WIDEST = 40.0
"""The largest correction of log-odds. It turns every probability into 0 or 1."""
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
    return Calibration(temperature, link_as_labelled(model, documents), before, after)


def link_as_taught(model: Model, taught: Sequence[Labels]) -> float:
    """Set the threshold by the labels that the model learnt from, and return it.

    Documents with full labels show which threshold is best, though the model has learnt from them. If they link too few
    mentions for that, all labels together show how many links to expect.
    """
    full = [each.document for each in taught if each.full]
    if sum(len(cluster) - 1 for document in full for cluster in document.clusters) >= ENOUGH_LINKS:
        return link_as_labelled(model, full)
    return link_as_expected(model, taught)


def link_as_labelled(model: Model, documents: Sequence[Document]) -> float:
    """Set the threshold that gives these documents the best F1, and return it."""
    predictions = [model.predict(document) for document in documents]
    scores = [
        Counts.total(
            Counts.of(document.without_singletons().clusters, decode(replace(prediction, threshold=threshold)))
            for document, prediction in zip(documents, predictions, strict=True)
        ).scores.conll_f1
        for threshold in THRESHOLDS
    ]
    best = max(range(len(THRESHOLDS)), key=lambda at: (round(_smooth(scores)[at], 3), -abs(THRESHOLDS[at] - 0.5)))
    set_calibration(model, model.config.head.temperature, THRESHOLDS[best])
    return THRESHOLDS[best]


def link_as_expected(model: Model, labels: Sequence[Labels]) -> float:
    """Set the threshold at which the model links as many mentions of these documents as is expected, and return it.

    Mentions that answers settle count as they say. All others count by the model's probabilities, corrected by how
    often answers said something else than was expected. If answers settle most links, the model has learnt from most of
    these mentions, and its probabilities for them say little about other documents. The labels are then nearly full,
    and set the threshold as full ones do.
    """
    predictions = [model.predict(each.document) for each in labels]
    if not any(map(len, predictions)):
        return model.config.head.threshold
    no_antecedent = np.concatenate([each.probabilities[:, EPSILON] for each in predictions])
    odds = logit(np.clip(1.0 - no_antecedent, SUREST, 1.0 - SUREST))
    usual = _correction_to_training(odds, predictions, 1 + model.config.head.candidates)
    known = np.concatenate([_known(each, prediction) for each, prediction in zip(labels, predictions, strict=True)])
    linked = np.where(np.isnan(known), expit(odds + _correction_by_answers(labels, usual)), known)
    if np.nansum(known) >= NEARLY_ALL * linked.sum() > 0.0:
        return link_as_labelled(model, [each.document for each in labels])
    wanted = min(int(CAUTION * linked.sum()), len(linked) - 1)
    threshold = round(float(np.clip(np.sort(no_antecedent)[wanted], LOWEST, HIGHEST)), 3)
    set_calibration(model, model.config.head.temperature, threshold)
    return threshold


def _correction_to_training(odds: Floats, predictions: Sequence[Prediction], columns: int) -> float:
    """The correction of log-odds by which links add up to what they do with as many candidates as in training.

    Prediction considers more. The small probabilities of many more candidates add up to links that are not there.
    """
    best = [each.probabilities[:, :columns] for each in predictions]  # the best candidates come first
    expected = sum(float((1.0 - rows[:, EPSILON] / rows.sum(axis=1)).sum()) for rows in best)
    return _root(lambda correction: float(expit(odds + correction).sum()) - expected)


def _correction_by_answers(labels: Sequence[Labels], usual: float) -> float:
    """The most probable correction of log-odds, given the answers; near `usual` if there are few.

    Its prior has a standard deviation of 1. Of each document, only the later half of its answers is used: the models
    that asked these questions had learnt from the others.
    """
    chances: list[float] = []
    said: list[bool] = []
    for each in labels:
        settled = each.settled
        answered = [(span, chance) for span, chance in each.expected if span in settled]
        for span, chance in answered[len(answered) // 2 :]:
            chances.append(chance)
            said.append(settled[span])
    odds = logit(np.clip(chances, SUREST, 1.0 - SUREST))
    return _root(lambda correction: float((expit(odds + correction) - said).sum()) + correction - usual)


def _root(rising: Callable[[float], float]) -> float:
    """Where a rising function is 0, or the end of the interval nearest to that."""
    if rising(-WIDEST) >= 0.0:
        return -WIDEST
    return WIDEST if rising(WIDEST) <= 0.0 else float(brentq(rising, -WIDEST, WIDEST))


def _known(labels: Labels, prediction: Prediction) -> Floats:
    """[N] 1 for mentions that people linked, 0 for those without an antecedent, NaN where nobody said."""
    known = {span: False for span in prediction.spans if labels.full or covers(labels.complete, span)}
    known |= {span: True for cluster in labels.document.clusters for span in cluster[1:] if span in known}
    known |= labels.settled
    return np.array([known.get(span, np.nan) for span in prediction.spans], dtype=np.float64)


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

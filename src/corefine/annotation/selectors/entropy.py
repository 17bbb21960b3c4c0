"""Uncertainty sampling: ask where the model's distribution is the widest, or where the committee disagrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from corefine.annotation.revision import Mask, Revision
from corefine.annotation.selectors.base import MaxScoreSelector
from corefine.errors import PredictionError
from corefine.prediction import Floats, Indices, Prediction

SHARPNESS = 8
"""Below a probability of 0.9, a span must be twice as doubtful as a sure mention to be asked about before it."""


@dataclass(frozen=True, slots=True)
class Entropy(MaxScoreSelector):
    """Entropy over entities (the paper's clustered entropy), or over antecedents if not clustered."""

    name: ClassVar[str] = "entropy"

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        return revision.masses(rows, clustered=self.clustered).entropy()


@dataclass(frozen=True, slots=True)
class VoteEntropy(MaxScoreSelector):
    """Query by committee: entropy of the members' votes over entities, or over antecedents if not clustered.

    alone    whether to accept a single model instead of a committee, with its probabilities as votes
    """

    alone: bool = False
    name: ClassVar[str] = "committee"

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        votes = revision.votes is not None or not self.alone
        return revision.masses(rows, clustered=self.clustered, votes=votes).entropy()


@dataclass(frozen=True, slots=True)
class MentionEntropy(MaxScoreSelector):
    """Entropy of "is this a mention at all?"."""

    name: ClassVar[str] = "mention-entropy"

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        return binary_entropy(mention_probability(revision, rows))


@dataclass(frozen=True, slots=True)
class JointEntropy(MaxScoreSelector):
    """Entropy of "is it a mention, and if so, of which entity?" together."""

    name: ClassVar[str] = "joint-entropy"

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        mention = mention_probability(revision, rows)
        return binary_entropy(mention) + mention * revision.masses(rows, clustered=self.clustered).entropy()


@dataclass(frozen=True, slots=True)
class LikelyEntropy(MaxScoreSelector):
    """Entropy over entities, times a power of the probability that the span is a mention: unlikely mentions come last.

    The same as `Entropy` for a model that does not score mentions.
    """

    name: ClassVar[str] = "likely-entropy"

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        entropy = revision.masses(rows, clustered=self.clustered).entropy()
        scored = revision.prediction.mention_scores is not None
        return entropy * mention_probability(revision, rows) ** SHARPNESS if scored else entropy


@dataclass(frozen=True, slots=True)
class ExpectedChange(MaxScoreSelector):
    """How far an answer is expected to lie from the model's probabilities.

    This is the expected squared gradient of the loss with respect to the scores of entities. It grows with the entropy,
    but entities of small probability hardly count.
    """

    name: ClassVar[str] = "expected-change"

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        return revision.masses(rows, clustered=self.clustered).disagreement()


@dataclass(frozen=True, slots=True)
class PairwiseEntropy(MaxScoreSelector):
    """Binary entropy of each mention's most uncertain pair; for the pairwise protocol."""

    name: ClassVar[str] = "pairwise-entropy"

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        best: Floats = pair_entropies(revision, rows).max(axis=1, initial=-np.inf)
        return best


def pair_entropies(revision: Revision, rows: Indices) -> Floats:
    """[R, K] binary entropy of each pair's probability, -inf for pairs that may not be asked about."""
    entropies = binary_entropy(revision.rows[rows][:, 1:])
    entropies[revision.closed_pairs(rows)] = -np.inf
    return entropies


def mention_probability(revision: Revision, rows: Indices) -> Floats:
    """[R] probability that each row's span is a mention."""
    scores = revision.prediction.mention_scores
    if scores is None:
        raise PredictionError("this selector needs a model that scores mentions (Prediction.mention_scores)")
    return np.exp(-np.logaddexp(0.0, -scores[rows]))


LIKELY = 0.9
"""A span with this probability is a likely mention."""
LIKELIEST = 1 / 4
"""At least this share of the top spans counts as likely mentions. In a new field the model may find very few."""


def likely_mentions(prediction: Prediction) -> Mask:
    """[N] the top spans that are probably mentions; all for a model that does not score mentions."""
    if prediction.mention_scores is None or not len(prediction):
        return np.ones(len(prediction), dtype=np.bool_)
    chances = 1.0 / (1.0 + np.exp(-np.clip(prediction.mention_scores, -50.0, 50.0)))
    likely: Mask = chances >= min(LIKELY, float(np.quantile(chances, 1 - LIKELIEST)))
    return likely


def binary_entropy(p: Floats) -> Floats:
    """-p log p - (1 - p) log(1 - p), 0 at both ends."""
    q = 1.0 - p
    inner = (p > 0.0) & (q > 0.0)
    entropy = np.zeros_like(p)
    entropy[inner] = -p[inner] * np.log(p[inner]) - q[inner] * np.log(q[inner])
    return entropy

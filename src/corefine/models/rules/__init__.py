"""A predictor without a network: a few rules for English that fill in a `Prediction`.

It is there so that everything downstream of a model can be tried, shown and tested without one. It is not a good
coreference resolver and is not meant to become one.
"""

from __future__ import annotations

import numpy as np

from corefine.document import Document
from corefine.models.rules.matching import pair_score
from corefine.models.rules.mentions import find_mentions
from corefine.prediction import NONE, Prediction

__all__ = ["predict"]


def predict(document: Document, *, candidates: int = 100) -> Prediction:
    """Mentions by their form, antecedents by string, head, number, gender and distance."""
    mentions = find_mentions(document)
    size = len(mentions)
    table = np.full((size, candidates), NONE, dtype=np.int64)  # [N, K]
    scores = np.full((size, 1 + candidates), -np.inf)  # [N, 1 + K], epsilon first
    scores[:, 0] = 0.0
    for i, mention in enumerate(mentions):
        for column, j in enumerate(range(max(0, i - candidates), i)):
            table[i, column] = j
            scores[i, 1 + column] = pair_score(mention, mentions[j])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True)) if size else scores
    return Prediction(
        spans=tuple(mention.span for mention in mentions),
        candidates=table,
        probabilities=weights / weights.sum(axis=1, keepdims=True),
        mention_scores=np.array([mention.kind.likelihood for mention in mentions]),
    )

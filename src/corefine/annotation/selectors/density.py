"""Uncertain mentions that many others depend on."""

from __future__ import annotations

import numpy as np

from corefine.annotation.revision import Mask, Revision
from corefine.annotation.selectors.base import largest
from corefine.prediction import NONE, Floats, Indices, Prediction


class Density:
    """Entropy over entities, times how many later mentions the model expects to refer back to the mention.

    An answer about such a mention settles others too. The number is the sum of their probabilities in the model's own
    prediction, plus one for the mention itself.
    """

    name = "density"

    def __init__(self, clustered: bool = True) -> None:
        self.clustered = clustered
        self._known: tuple[Prediction, Floats] | None = None

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        return revision.masses(rows, clustered=self.clustered).entropy() * self._dependants(revision.prediction)[rows]

    def choose(
        self, scores: Floats, allowed: Mask, revision: Revision, *, asked: int, budget: int | None
    ) -> int | None:
        return largest(scores, allowed)

    def _dependants(self, prediction: Prediction) -> Floats:
        if self._known is None or self._known[0] is not prediction:
            self._known = (prediction, dependants(prediction))
        return self._known[1]


def dependants(prediction: Prediction) -> Floats:
    """[N] one for each mention, plus the expected number of mentions that have it as their antecedent."""
    chances = prediction.probabilities[:, 1:]
    real = prediction.candidates != NONE
    expected = np.bincount(prediction.candidates[real], weights=chances[real], minlength=len(prediction))
    return np.asarray(1.0 + expected, dtype=np.float64)

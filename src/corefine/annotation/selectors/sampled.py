"""A selector that adds questions about a random sample to those of another selector."""

from __future__ import annotations

import numpy as np

from corefine.annotation.revision import Mask, Revision
from corefine.annotation.sampling import sample_order, sampling_phase
from corefine.annotation.selectors.base import Selector
from corefine.prediction import Floats, Indices, Prediction


class Sampled:
    """Asks about the next mention of the random sample in an evenly spread share of the questions."""

    def __init__(self, selector: Selector, share: float) -> None:
        self.name = selector.name
        self.clustered = selector.clustered
        self.usual, self._share = selector, share
        self._order: tuple[Prediction, Indices] | None = None

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        return self.usual.scores(revision, rows)

    def choose(
        self, scores: Floats, allowed: Mask, revision: Revision, *, asked: int, budget: int | None
    ) -> int | None:
        row = self.sample_row(allowed, revision, asked=asked)
        return self.usual.choose(scores, allowed, revision, asked=asked, budget=budget) if row is None else row

    def sample_row(self, allowed: Mask, revision: Revision, *, asked: int) -> int | None:
        """The next row of the sample, if the next question is to be about it."""
        begin = sampling_phase(revision.prediction.spans)  # for documents with few questions
        if int(begin + (asked + 1) * self._share) == int(begin + asked * self._share):
            return None
        order = self._order_of(revision.prediction)
        open_places = np.flatnonzero(allowed[order])
        return int(order[open_places[0]]) if len(open_places) else None

    def _order_of(self, prediction: Prediction) -> Indices:
        if self._order is None or self._order[0] is not prediction:
            self._order = (prediction, sample_order(prediction.spans))
        return self._order[1]

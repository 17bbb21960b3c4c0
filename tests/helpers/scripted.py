"""A predictor whose every row is known."""

from __future__ import annotations

import numpy as np

from corefine.document import Document, Span
from corefine.prediction import Prediction


class Scripted:
    """A predictor whose every row is known: spans are single tokens, each points to the one two before it."""

    def predict(self, document: Document) -> Prediction:
        size = len(document)
        candidates = np.full((size, 2), -1)
        rows = np.zeros((size, 3))
        rows[:, 0] = 1
        for row in range(1, size):
            candidates[row, 0] = row - 1
        for row in range(2, size):
            candidates[row, 1] = row - 2
            rows[row] = (0.2, 0.1, 0.7)
        return Prediction(tuple(Span(i, i) for i in range(size)), candidates, rows)

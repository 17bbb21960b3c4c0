from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corefine.document import Span
from corefine.errors import PredictionError
from corefine.prediction import NONE, Prediction

GOOD: dict[str, Any] = {
    "spans": (Span(0, 0), Span(1, 2), Span(4, 4)),
    "candidates": np.array([[NONE, NONE], [0, NONE], [0, 1]]),
    "probabilities": np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]),
}


def test_a_good_one_can_be_made_and_not_changed() -> None:
    prediction = Prediction(**GOOD)
    assert len(prediction) == 3
    assert prediction.width == 2
    with pytest.raises(ValueError, match="read-only"):
        prediction.probabilities[0, 0] = 0.0


def test_the_arrays_of_the_caller_stay_writable() -> None:
    candidates, probabilities = GOOD["candidates"].copy(), GOOD["probabilities"].copy()
    Prediction(GOOD["spans"], candidates, probabilities, probabilities[None], np.zeros(3))
    candidates[0, 0] = probabilities[0, 0] = 0


def test_an_empty_one_can_be_made() -> None:
    assert len(Prediction((), np.zeros((0, 5), dtype=np.int64), np.zeros((0, 6)))) == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"spans": (Span(1, 2), Span(0, 0), Span(4, 4))}, "document order"),
        ({"spans": (Span(0, 0), Span(0, 0), Span(4, 4))}, "distinct"),
        ({"candidates": np.array([[NONE, NONE], [1, NONE], [0, 1]])}, "earlier"),
        ({"candidates": np.array([[NONE, NONE], [0, NONE], [0, 0]])}, "twice"),
        ({"candidates": np.array([[NONE, NONE], [-2, NONE], [0, 1]])}, "earlier"),
        ({"candidates": np.zeros((2, 2), dtype=np.int64)}, r"\[3, K\]"),
        ({"probabilities": np.full((3, 3), 0.5)}, "sum to 1"),
        ({"probabilities": np.array([[1.0, 0, 0], [0.5, 0.0, 0.5], [0.2, 0.3, 0.5]])}, "padding"),
        ({"probabilities": np.array([[1.0, 0, 0], [1.5, -0.5, 0.0], [0.2, 0.3, 0.5]])}, "negative"),
        ({"probabilities": np.array([[1.0, 0, 0], [np.nan, 0.5, 0.0], [0.2, 0.3, 0.5]])}, "finite"),
        ({"probabilities": np.ones((3, 2))}, r"\[3, 3\]"),
        ({"members": np.ones((3, 3))}, "members"),
        ({"members": np.full((1, 3, 3), 0.5)}, "member 0"),
        ({"mention_scores": np.zeros(2)}, r"\[3\]"),
        ({"mention_scores": np.array([0.0, np.nan, 1.0])}, "NaN"),
    ],
)
def test_what_cannot_be_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(PredictionError, match=message):
        Prediction(**{**GOOD, **changed})

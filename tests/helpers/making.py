"""Documents and predictions made for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import strategies as st

from corefine.document import Document, Span
from corefine.prediction import NONE, Prediction

EPSILON = "-"


def document_of(
    clusters: Iterable[Iterable[tuple[int, int]]] = (), *, tokens: int = 60, name: str = "made"
) -> Document:
    return Document.from_sentences(name, [[f"w{i}" for i in range(tokens)]], clusters)


def spans_of(count: int) -> tuple[Span, ...]:
    """So many one-token spans: span i is token i."""
    return tuple(Span(i, i) for i in range(count))


def prediction_of(
    rows: Sequence[dict[int | str, float]],
    spans: Sequence[Span] = (),
    *,
    members: Sequence[Sequence[int | str]] = (),
) -> Prediction:
    """A prediction over these, or one-token spans: row i maps candidates, and "-" for epsilon, to probabilities.

    `members` has for each committee member the antecedent it votes for in each row.
    """
    width = max((len(row.keys() - {EPSILON}) for row in rows), default=0)
    candidates = np.full((len(rows), width), NONE)
    probabilities = np.zeros((len(rows), 1 + width))
    votes = np.zeros((len(members), len(rows), 1 + width))
    for i, row in enumerate(rows):
        listed = [key for key in row if key != EPSILON]
        candidates[i, : len(listed)] = listed
        probabilities[i] = [row.get(EPSILON, 0.0), *(row[key] for key in listed), *[0.0] * (width - len(listed))]
        for m, member in enumerate(members):
            votes[m, i, 0 if member[i] == EPSILON else 1 + listed.index(member[i])] = 1.0
    spans = tuple(spans) or spans_of(len(rows))
    return Prediction(spans, candidates, probabilities, members=votes if members else None)


@st.composite
def predictions(draw: st.DrawFn, *, most: int = 14, committee: bool = False) -> Prediction:
    """Any prediction over a few one-token spans, candidates in any order."""
    size = draw(st.integers(1, most))
    width = draw(st.integers(1, max(1, size)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    candidates = np.full((size, width), NONE)
    for i in range(size):
        count = min(i, width)
        candidates[i, :count] = rng.permutation(i)[:count]
    members = np.stack([_rows(candidates, rng) for _ in range(3)])
    return Prediction(
        spans_of(size),
        candidates,
        members.mean(axis=0),
        members=members if committee else None,
        mention_scores=rng.normal(size=size),
    )


def _rows(candidates: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    scores = rng.normal(0.0, 2.0, (len(candidates), 1 + candidates.shape[1]))
    scores[:, 1:][candidates == NONE] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


@st.composite
def gold_documents(draw: st.DrawFn, size: int) -> Document:
    """Gold clusters over any of the first `size` one-token spans; some are in none."""
    entity = draw(st.lists(st.integers(0, max(1, size // 2)), min_size=size, max_size=size))
    clusters: dict[int, list[Span]] = {}
    for token, number in enumerate(entity):
        if number:  # entity 0 is "no mention"
            clusters.setdefault(number, []).append(Span(token, token))
    return document_of(clusters.values(), tokens=size + 5)


@st.composite
def cases(draw: st.DrawFn, *, most: int = 14, committee: bool = False) -> tuple[Document, Prediction]:
    """A gold document and a prediction about it."""
    prediction = draw(predictions(most=most, committee=committee))
    return draw(gold_documents(len(prediction))), prediction

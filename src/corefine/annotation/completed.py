"""Parts of a document that a person has annotated in full: mentions and links there are those that people said."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable

import numpy as np

from corefine.document import Document, Span
from corefine.prediction import NONE, Prediction


def joined(parts: Iterable[Span]) -> tuple[Span, ...]:
    """The parts in document order. Adjacent and overlapping parts are joined."""
    found: list[Span] = []
    for part in sorted(parts):
        if found and part.start <= found[-1].end + 1:
            found[-1] = Span(found[-1].start, max(found[-1].end, part.end))
        else:
            found.append(part)
    return tuple(found)


def covers(parts: tuple[Span, ...], span: Span) -> bool:
    """Whether a span lies within one of the joined parts."""
    place = bisect_right(parts, span.start, key=lambda part: part.start) - 1
    return place >= 0 and span.end <= parts[place].end


def is_whole(parts: tuple[Span, ...], document: Document) -> bool:
    """Whether the joined parts are the whole document."""
    return len(document) > 0 and parts == (Span(0, len(document) - 1),)


def with_alone(document: Document, mentions: Iterable[Span]) -> Document:
    """The document with these mentions added as entities of one mention, unless they are in an entity already."""
    known = {span for cluster in document.clusters for span in cluster}
    alone = dict.fromkeys(span for span in mentions if span not in known)
    return document.with_clusters([*document.clusters, *((span,) for span in alone)])


def without_unsaid(prediction: Prediction, parts: tuple[Span, ...], said: Container[Span]) -> Prediction:
    """The prediction without what people would have said about these parts, had it been true.

    Spans that nobody called mentions are left out; the probability of removed candidates is divided among the others.
    The mentions that are left have no antecedent in the model: those that people said are in the links.
    """
    inside = [covers(parts, span) for span in prediction.spans]
    if not any(inside):
        return prediction
    kept = [row for row, span in enumerate(prediction.spans) if span in said or not inside[row]]
    new = np.full(len(prediction) + 1, NONE, dtype=np.int64)  # the last column is for padding, whose index is -1
    new[kept] = np.arange(len(kept))
    candidates = new[prediction.candidates[kept]]
    candidates[[inside[row] for row in kept]] = NONE
    gone = candidates == NONE

    def rows(given: np.ndarray) -> np.ndarray:
        left = given[..., kept, :].copy()
        left[..., 1:][..., gone] = 0.0
        total = left.sum(axis=-1, keepdims=True)
        left[..., :1] = np.where(total > 0, left[..., :1], 1.0)
        return np.asarray(left / np.where(total > 0, total, 1.0))

    scores = prediction.mention_scores
    return Prediction(
        spans=tuple(prediction.spans[row] for row in kept),
        candidates=candidates,
        probabilities=rows(prediction.probabilities),
        members=None if prediction.members is None else rows(prediction.members),
        mention_scores=None if scores is None else scores[kept],
        decoding=prediction.decoding,
        threshold=prediction.threshold,
    )

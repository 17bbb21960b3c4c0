"""Predicts long documents in pieces, to limit the memory of the background process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from corefine.document import Document, Span
from corefine.prediction import NONE, Prediction

MOST_TOKENS = 20_000
"""The longest piece in tokens. The model looks for antecedents among the last thousand spans, so few links are lost."""

Predict = Callable[[Document], Prediction]


def predict_long(predict: Predict, document: Document, most_tokens: int = MOST_TOKENS) -> Prediction:
    """The prediction of a document. Documents that are too long are cut at sentence boundaries.

    The model proposes no links between pieces, but people can make them.
    """
    if len(document) <= most_tokens:
        return predict(document)
    starts = list(_cuts(document, most_tokens))
    pieces = [predict(_piece(document, start, end)) for start, end in pairwise([*starts, len(document)])]
    return _joined(pieces, starts)


def _cuts(document: Document, most_tokens: int) -> Iterator[int]:
    """The starts of the pieces. A sentence that is longer than a piece becomes a piece by itself."""
    last = 0
    yield last
    for sentence in document.sentence_spans:
        if sentence.end + 1 - last > most_tokens and sentence.start > last:
            last = sentence.start
            yield last


def _piece(document: Document, start: int, end: int) -> Document:
    return Document(
        name=f"{document.name}@{start}",
        tokens=document.tokens[start:end],
        sentence_starts=tuple(at - start for at in document.sentence_starts if start <= at < end),
        part=document.part,
        speakers=document.speakers and document.speakers[start:end],
        genre=document.genre,
        language=document.language,
    )


def _joined(pieces: Sequence[Prediction], starts: Sequence[int]) -> Prediction:
    width = max(piece.width for piece in pieces)
    spans: list[Span] = []
    candidates, probabilities, members, scores = [], [], [], []
    for piece, start in zip(pieces, starts, strict=True):
        padding = ((0, 0), (0, width - piece.width))
        shifted = np.where(piece.candidates == NONE, NONE, piece.candidates + len(spans))
        candidates.append(np.pad(shifted, padding, constant_values=NONE))
        probabilities.append(np.pad(piece.probabilities, padding))
        if piece.members is not None:
            members.append(np.pad(piece.members, ((0, 0), *padding)))
        if piece.mention_scores is not None:
            scores.append(piece.mention_scores)
        spans += [Span(span.start + start, span.end + start) for span in piece.spans]
    return replace(
        pieces[0],
        spans=tuple(spans),
        candidates=np.concatenate(candidates),
        probabilities=np.concatenate(probabilities),
        members=np.concatenate(members, axis=1) if len(members) == len(pieces) else None,
        mention_scores=np.concatenate(scores) if len(scores) == len(pieces) else None,
    )

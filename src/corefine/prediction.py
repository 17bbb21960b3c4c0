"""What a model says about one document. The rest of corefine knows nothing else of a model.

Any model that can fill in a `Prediction` can be used: links revise it, selectors read it, decoding turns it into
clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import lt
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from corefine.document import Span
from corefine.errors import PredictionError

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

DecodingRule = Literal["argmax", "half", "sums"]

ROUNDING = 1.1e-4
"""How far the sum of a row may be from 1."""

NONE = -1
"""Pads rows of `candidates` that have fewer than K."""


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Top spans and, for each, a distribution over its candidate antecedents.

    spans            N top spans in document order
    candidates       [N, K] indices into `spans` of earlier spans, `NONE` where a row has fewer than K
    probabilities    [N, 1 + K] P(ant(i) = y); column 0 is epsilon, "no antecedent"; rows sum to 1
    members          [M, N, 1 + K] the same for each member of a committee, or None
    mention_scores   [N] log-odds that each span is a mention, or None
    decoding         how rows become clusters. argmax: a mention is linked to its best antecedent if that is more
                     probable than epsilon (the paper). half: it is linked to it if epsilon is below `threshold`.
                     sums: the same, but to the best antecedent in the entity with the largest summed probability
    threshold        see `decoding`; a model chooses it on development documents

    The arrays are read-only views of those passed in. They are copied only if they must be converted.
    """

    spans: tuple[Span, ...]
    candidates: Indices
    probabilities: Floats
    members: Floats | None = None
    mention_scores: Floats | None = None
    decoding: DecodingRule = "sums"
    threshold: float = 0.5

    def __post_init__(self) -> None:
        for name in ("candidates", "probabilities", "members", "mention_scores"):
            value = getattr(self, name)
            if value is not None:
                dtype = np.int64 if name == "candidates" else np.float64
                array = np.ascontiguousarray(value, dtype=dtype).view()  # a view, so that the caller's stays writable
                array.flags.writeable = False
                object.__setattr__(self, name, array)
        self._validate()

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def width(self) -> int:
        """K, the largest number of candidates."""
        return int(self.candidates.shape[1])

    def _validate(self) -> None:
        size = len(self.spans)
        if self.decoding not in get_args(DecodingRule):
            raise PredictionError(f"decoding must be one of {', '.join(get_args(DecodingRule))}, not {self.decoding!r}")
        if not all(map(lt, self.spans, self.spans[1:])):
            raise PredictionError("top spans must be distinct and in document order")
        if self.candidates.ndim != 2 or len(self.candidates) != size:
            raise PredictionError(f"candidates must be [{size}, K], not {self.candidates.shape}")
        own = np.arange(size)[:, None]
        if ((self.candidates < NONE) | (self.candidates >= own)).any():
            raise PredictionError("every candidate must be an earlier top span, or -1")
        ordered = np.sort(self.candidates, axis=1)
        if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NONE)).any():
            raise PredictionError("a span lists a candidate twice")
        _check_rows(self.probabilities, self.candidates, "probabilities")
        if self.members is not None:
            if self.members.ndim != 3 or not len(self.members):
                raise PredictionError(f"members must be [M, {size}, 1 + K], not {self.members.shape}")
            for number, rows in enumerate(self.members):
                _check_rows(rows, self.candidates, f"probabilities of member {number}")
        if self.mention_scores is not None:
            if self.mention_scores.shape != (size,):
                raise PredictionError(f"mention_scores must be [{size}], not {self.mention_scores.shape}")
            if np.isnan(self.mention_scores).any():
                raise PredictionError("mention_scores hold NaN")


def _check_rows(rows: Floats, candidates: Indices, name: str) -> None:
    """Raise unless every row is a distribution with no mass on padding."""
    size, width = candidates.shape
    if rows.shape != (size, 1 + width):
        raise PredictionError(f"{name} must be [{size}, {1 + width}], not {rows.shape}")
    if not np.isfinite(rows).all() or (rows < 0).any():
        raise PredictionError(f"{name} must be finite and not negative")
    if (np.abs(rows.sum(axis=1) - 1.0) > ROUNDING).any():
        raise PredictionError(f"{name} must sum to 1 in every row")
    if rows[:, 1:][candidates == NONE].any():
        raise PredictionError(f"{name} put mass on padding")

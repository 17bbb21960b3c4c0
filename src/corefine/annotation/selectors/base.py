"""What a selector is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from corefine.annotation.revision import Mask, Revision
from corefine.prediction import Floats, Indices


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a document's session has come.

    asked     questions asked so far and not withdrawn
    budget    questions to ask in all, None for no limit
    """

    asked: int
    budget: int | None


class Selector(Protocol):
    """A strategy. `clustered` says whether antecedents of one cluster count as one outcome."""

    name: ClassVar[str]

    @property
    def clustered(self) -> bool: ...

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        """One score for each of these rows; the largest is asked first, -inf never."""
        ...

    def choose(self, scores: Floats, allowed: Mask, revision: Revision, progress: Progress) -> int | None:
        """The row to ask about, given every row's score and which rows may be asked about; None if none."""
        ...


def largest(scores: Floats, allowed: Mask) -> int | None:
    """The allowed row with the largest score, the first of them in document order."""
    masked = np.where(allowed, scores, -np.inf)
    row = int(masked.argmax()) if len(masked) else 0
    return row if len(masked) and masked[row] > -np.inf else None

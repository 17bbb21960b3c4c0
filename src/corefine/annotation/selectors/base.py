"""What a selector is, and what most selectors share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from corefine.annotation.revision import Mask, Revision
from corefine.prediction import Floats, Indices


class Selector(Protocol):
    """Scores mentions and chooses one. `clustered` says whether antecedents of one cluster count as one outcome."""

    @property
    def name(self) -> str: ...

    @property
    def clustered(self) -> bool: ...

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        """One score for each of these rows; the largest is asked first, -inf never."""
        ...

    def choose(
        self, scores: Floats, allowed: Mask, revision: Revision, *, asked: int, budget: int | None
    ) -> int | None:
        """The row to ask about, None if there is none.

        scores           of every row
        allowed          the rows that may be asked about
        asked, budget    how many questions were asked, and how many may be (None: no limit)
        """
        ...


@dataclass(frozen=True, slots=True)
class MaxScoreSelector:
    """Chooses the row with the largest score."""

    clustered: bool = True

    def choose(
        self, scores: Floats, allowed: Mask, revision: Revision, *, asked: int, budget: int | None
    ) -> int | None:
        return largest(scores, allowed)


def largest(scores: Floats, allowed: Mask) -> int | None:
    """The allowed row with the largest score; ties go to the first in the document."""
    masked = np.where(allowed, scores, -np.inf)
    row = int(masked.argmax()) if len(masked) else 0
    return row if len(masked) and masked[row] > -np.inf else None

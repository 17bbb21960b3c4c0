"""The baseline: any mention, all equally likely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from corefine.annotation.revision import Revision
from corefine.annotation.selectors.base import MaxScoreSelector
from corefine.prediction import Floats, Indices


@dataclass(frozen=True, slots=True)
class Random(MaxScoreSelector):
    """Each row gets a random number from the seed, so the same seed gives the same order."""

    seed: int = 0
    name: ClassVar[str] = "random"

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        size = len(revision.prediction)
        return np.random.default_rng([self.seed, size]).random(size)[rows]

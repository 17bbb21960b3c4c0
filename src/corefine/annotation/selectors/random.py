"""The baseline: any mention, each as likely as the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from corefine.annotation.revision import Mask, Revision
from corefine.annotation.selectors.base import Progress, largest
from corefine.prediction import Floats, Indices


@dataclass(frozen=True, slots=True)
class Random:
    """Each row has a lot drawn from the seed: any order is as likely, and the same seed gives the same one."""

    clustered: bool = True
    seed: int = 0
    name: ClassVar[str] = "random"

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        lots = np.random.default_rng([self.seed, len(revision.prediction)]).random(len(revision.prediction))
        return lots[rows]

    def choose(self, scores: Floats, allowed: Mask, revision: Revision, progress: Progress) -> int | None:
        return largest(scores, allowed)

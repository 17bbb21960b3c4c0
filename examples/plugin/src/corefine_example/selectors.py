"""A selector: it asks about the longest mention first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from corefine.annotation.revision import Revision
from corefine.annotation.selectors.base import MaxScoreSelector
from corefine.prediction import Floats, Indices


@dataclass(frozen=True, slots=True)
class Longest(MaxScoreSelector):
    name: ClassVar[str] = "longest"

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        return np.array([float(revision.prediction.spans[row].width) for row in rows])

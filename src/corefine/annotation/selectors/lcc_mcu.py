"""Least coreferent clustered, then most coreferent unclustered mentions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from corefine.annotation.revision import Mask, Revision
from corefine.annotation.selectors.base import Progress, largest
from corefine.prediction import Floats, Indices


@dataclass(frozen=True, slots=True)
class LccMcu:
    """Half of the budget on links the model doubts, the other half on links it nearly made.

    "Clustered" is a mention with a predicted antecedent, so the head of a chain is not. The first half goes to the
    clustered mentions least sure of their cluster, the rest to the unclustered ones with the likeliest cluster; where
    one kind has run out, to the other. Without a budget the two take turns.
    """

    clustered: bool = True
    name: ClassVar[str] = "lcc-mcu"

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        masses = revision.masses(rows, clustered=self.clustered)
        linked = revision.linked()[rows]
        own = revision.own_class(rows) if self.clustered else revision.antecedent_class(rows)
        return np.where(linked, -masses.largest(own), masses.largest())

    def choose(self, scores: Floats, allowed: Mask, revision: Revision, progress: Progress) -> int | None:
        linked = revision.linked()
        first_half = progress.asked < progress.budget // 2 if progress.budget is not None else progress.asked % 2 == 0
        kinds = (linked, ~linked) if first_half else (~linked, linked)
        for kind in kinds:
            row = largest(scores, allowed & kind)
            if row is not None:
                return row
        return None

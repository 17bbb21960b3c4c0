"""Least coreferent clustered mentions, then most coreferent unclustered mentions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from corefine.annotation.revision import Mask, Revision
from corefine.annotation.selectors.base import largest
from corefine.prediction import Floats, Indices


@dataclass(frozen=True, slots=True)
class LccMcu:
    """Half of the budget on links that the model doubts, the other half on links that it nearly made.

    A mention is "clustered" if it has a predicted antecedent, so the head of a chain is not. The first half goes to the
    clustered mentions with the least mass on their cluster, the second to the unclustered ones with the likeliest
    cluster. If one kind runs out, the other is asked. Without a budget the two take turns.
    """

    clustered: bool = True
    name: ClassVar[str] = "lcc-mcu"

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        masses = revision.masses(rows, clustered=self.clustered)
        linked = revision.linked()[rows]
        own = revision.own_class(rows) if self.clustered else revision.antecedent_class(rows)
        return np.where(linked, -masses.largest(own), masses.largest())

    def choose(
        self, scores: Floats, allowed: Mask, revision: Revision, *, asked: int, budget: int | None
    ) -> int | None:
        linked = revision.linked()
        first_half = asked < budget // 2 if budget is not None else asked % 2 == 0
        wanted, other = (linked, ~linked) if first_half else (~linked, linked)
        row = largest(scores, allowed & wanted)
        return row if row is not None else largest(scores, allowed & other)

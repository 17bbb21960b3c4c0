"""Query by committee: ask where the members disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from corefine.annotation.revision import Mask, Revision
from corefine.annotation.selectors.base import Progress, largest
from corefine.prediction import Floats, Indices


@dataclass(frozen=True, slots=True)
class Committee:
    """Entropy of the members' votes over entities, or over antecedents if not clustered."""

    clustered: bool = True
    name: ClassVar[str] = "committee"

    def scores(self, revision: Revision, rows: Indices) -> Floats:
        return revision.masses(rows, clustered=self.clustered, votes=True).entropy()

    def choose(self, scores: Floats, allowed: Mask, revision: Revision, progress: Progress) -> int | None:
        return largest(scores, allowed)

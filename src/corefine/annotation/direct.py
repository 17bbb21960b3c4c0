"""A prediction under answers that are taken one by one: the ablation of the closure.

An answer changes the row of the mention it is about, and nothing follows from it: no other row changes, and nothing
is known of two mentions that no single answer speaks of. Clusters are decoded from the rows, so that must-links still
make one cluster; a cannot-link holds for its two mentions alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corefine.annotation.revision import Revision
from corefine.document import Span
from corefine.links import Assertion, Cannot, Links
from corefine.prediction import NONE, Indices, Prediction


class DirectRevision(Revision):
    """One prediction under direct links. Its own `links` hold the cannot-links only, which decoding respects."""

    def __init__(self, prediction: Prediction) -> None:
        super().__init__(prediction, Links())

    def revise_alone(self, mention: Span, assertions: Sequence[Assertion]) -> Indices:
        """Bring the mention's row in line with all that was said about it.

        Returns the rows whose masses may have changed.
        """
        spans = set() if mention not in self.links.answers() else set(self.links.withdraw(mention).spans)
        cannot = [assertion for assertion in assertions if isinstance(assertion, Cannot)]
        spans |= self.links.assert_all(mention, cannot).spans
        self._follow_entities([self.nodes.number(span) for span in spans])
        row = self.nodes.row(mention)
        rows = np.array([] if row is None else [row], dtype=np.int64)
        if row is not None:
            self._revise_alone(row, mention, assertions)
        changed = self._decode(rows, spans)
        return np.union1d(rows, self._listed_by[changed])

    def _revise_alone(self, row: int, mention: Span, assertions: Sequence[Assertion]) -> None:
        said = Links(infer_first=False)
        said.assert_all(mention, assertions)
        entity = said.entity_id(mention)
        if not said.is_mention(mention) or (entity is not None and said.floor(entity) == mention):
            self._settle(row, NONE)
        elif entity is not None and said.first(entity) < mention:
            earlier = [self.nodes.number(member) for member in said.members(entity) if member < mention]
            self._settle(row, max(earlier, key=lambda node: (self._chance(row, node), node)))
        else:
            self._block(row, self.links.entity_id(mention))
            self._link_best(np.array([row]))

    def _chance(self, row: int, node: int) -> float:
        columns = np.flatnonzero(self.prediction.candidates[row] == node)
        return float(self.prediction.probabilities[row, 1 + columns[0]]) if len(columns) else 0.0

"""Ablations of the closure: sessions in which nothing follows from an answer.

An answer changes the row of the mention it is about and no other row. Nothing is known of two mentions unless a single
answer names both. Clusters are decoded from the rows, so must-links still make one cluster; a cannot-link holds for its
two mentions only. Ablations follow answers, not edits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from corefine.annotation.log import AnswerEntry, LogEntry
from corefine.annotation.revision import Revision
from corefine.document import Cluster, Span
from corefine.links import Assertion, Cannot, Change, Links
from corefine.prediction import NONE, Indices, Prediction


class NoClosure(Revision):
    """Never closes the links. Its own `links` hold only the cannot-links, which decoding respects."""

    def __init__(self, prediction: Prediction, links: Links, answers: Iterable[AnswerEntry] = ()) -> None:
        super().__init__(prediction, Links())
        self.all_links = links
        self._about: dict[Span, list[AnswerEntry]] = {}  # the standing answers about each mention
        for entry in answers:
            self._about.setdefault(entry.question.mention, []).append(entry)
        for mention in self._about:
            self._revise_mention(mention)

    def update_after(self, entry: LogEntry, change: Change, *, stands: bool) -> Indices:
        if not isinstance(entry, AnswerEntry):
            raise NotImplementedError("ablations of the closure follow answers, not edits")
        about = self._about.setdefault(entry.question.mention, [])
        about.append(entry) if stands else about.remove(entry)
        return self._revise_mention(entry.question.mention)

    def _revise_mention(self, mention: Span) -> Indices:
        """Apply all answers about a mention to its row; return the rows to score again."""
        said = [assertion for entry in self._about[mention] for assertion in entry.assertions]
        spans = set(self.links.withdraw(mention).spans) if mention in self.links.answers() else set()
        cannot = [assertion for assertion in said if isinstance(assertion, Cannot)]
        spans |= self.links.add(mention, *cannot).spans
        self._follow_entities([self.nodes.get_or_add(span) for span in spans])
        row = self.nodes.row(mention)
        rows = np.array([] if row is None else [row], dtype=np.int64)
        if row is not None:
            self._revise_row(row, mention, said)
        return self._decode(rows, spans)

    def _revise_row(self, row: int, mention: Span, assertions: Sequence[Assertion]) -> None:
        said = Links()
        said.add(mention, *assertions)
        entity = said.entity_id(mention)
        if said.has_no_antecedent(mention):
            self._settle(row, NONE)
        elif entity is not None and said.first(entity) < mention:
            earlier = [self.nodes.get_or_add(member) for member in said.members(entity) if member < mention]
            self._settle(row, max(earlier, key=lambda node: (self._probability(row, node), node)))
        else:
            self._block(row, self.links.entity_id(mention))
            self._link_best(np.array([row]))

    def _probability(self, row: int, node: int) -> float:
        columns = np.flatnonzero(self.prediction.candidates[row] == node)
        return float(self.prediction.probabilities[row, 1 + columns[0]]) if len(columns) else 0.0


class PerDocumentClosure(NoClosure):
    """Closes the links once, when the document is relabelled."""

    def clusters(self) -> tuple[Cluster, ...]:
        return Revision(self.prediction, self.all_links).clusters()


CLOSURES: dict[str, type[Revision]] = {
    "incremental": Revision,
    "per-document": PerDocumentClosure,
    "off": NoClosure,
}
"""When the links are closed, by the name of the setting: after every answer, once per document, or never."""

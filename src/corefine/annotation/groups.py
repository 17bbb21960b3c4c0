"""Mentions with the same words, which one question can settle together: "these nine: all one entity?"."""

from __future__ import annotations

import numpy as np

from corefine.annotation.log import AnswerEntry
from corefine.annotation.revision import EPSILON, Mask, Revision
from corefine.document import Document, Span
from corefine.errors import AnswerError
from corefine.links import Links
from corefine.prediction import Indices, Prediction
from corefine.scores.pronouns import is_pronoun

FEWEST = 3
"""A group of two is an ordinary question."""
MOST = 20
"""People do not want to check more mentions in one question. The others come with the next one."""
JOINED = 0.25
"""A mention joins a group if at least this much of its mass lies on an entity of the group."""


class EqualWords:
    """The top spans of a prediction, grouped by their words. Pronouns are left out."""

    def __init__(self, document: Document, prediction: Prediction) -> None:
        by_words: dict[str, list[int]] = {}
        for row, span in enumerate(prediction.spans):
            if len(span.parts) == 1 and not is_pronoun(document, span):
                by_words.setdefault(document.words(span).casefold(), []).append(row)
        self._rows: dict[int, Indices] = {}
        for rows in by_words.values():
            if len(rows) > 1:
                self._rows.update(dict.fromkeys(rows, np.array(rows, dtype=np.int64)))

    def rows(self, row: int) -> Indices:
        """The rows with the same words as this one, including itself; empty if it is the only one."""
        return self._rows.get(row, np.zeros(0, dtype=np.int64))


def group_of(revision: Revision, links: Links, equal: Indices, row: int, free: Mask) -> tuple[Span, ...]:
    """The mentions to ask about together with this row's mention; empty if there are too few.

    equal    the rows with the same words
    free     [N] the rows that can be asked about and were in no group question yet

    A group consists of the nearest free mentions that model and answers allow to be one entity. If answers have put
    other mentions with these words into entities, the group includes the nearest of them, so that a yes links the two.
    """
    if free[equal].sum() < FEWEST - 1:
        return ()
    near = equal[np.argsort(np.abs(equal - row), kind="stable")][: 2 * MOST]
    near = near[_could_be_one(revision, near, row)]
    spans = revision.nodes.spans
    known = [each for each in near[~free[near]].tolist() if links.entity_id(spans[each]) is not None]
    group: list[Span] = []
    for each in (row, *known[:1], *near[free[near]].tolist()):
        span = spans[each]
        if span not in group and all(links.relation(span, other) is None for other in group):
            group.append(span)
    return tuple(sorted(group[:MOST])) if len(group) >= FEWEST else ()


def _could_be_one(revision: Revision, rows: Indices, row: int) -> Mask:
    """[R] which of these rows are in the same cluster as one row, or have enough mass on that cluster."""
    labels = revision.labels[rows]
    masses = revision.masses(rows)
    held = (masses.mass >= JOINED) & (masses.label != EPSILON)
    ties = {
        (own, other)
        for own, other in zip(labels[masses.row[held]].tolist(), (masses.label[held] - 1).tolist(), strict=True)
        if own != other
    }
    joined, size = {int(revision.labels[row])}, 0
    while len(joined) > size:
        size = len(joined)
        for tie in ties:
            if not joined.isdisjoint(tie):
                joined.update(tie)
    return np.isin(labels, list(joined))


def mass_within(revision: Revision, rows: Indices) -> float:
    """The mean mass that these rows, except the first, put on the clusters of the group."""
    masses = revision.masses(rows[1:])
    within = np.isin(masses.label - 1, revision.labels[rows])
    return float(masses.mass[within].sum()) / max(1, len(rows) - 1)


def check_same_words(document: Document, entry: AnswerEntry) -> None:
    """Raise unless all corrected mentions have the same words, before and after the correction."""
    answer, mention = entry.answer, entry.question.mention
    if not answer.also or answer.span is None:
        return
    if any(len(span.parts) > 1 for span in (mention, answer.span, *answer.also)):
        raise AnswerError("a correction can be repeated only for spans without gaps")
    for other, corrected in zip((mention, *answer.also), entry.corrected, strict=True):
        before, after = _same(document, mention, other), _same(document, answer.span, corrected)
        if not before or not after:
            raise AnswerError(f"the correction does not fit {other}: its words differ")


def _same(document: Document, a: Span, b: Span) -> bool:
    return document.words(a).casefold() == document.words(b).casefold()

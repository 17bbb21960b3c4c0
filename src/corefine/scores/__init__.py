"""Scores of a response against a key: mention detection, MUC, B3, CEAF, BLANC, LEA and CoNLL F1.

`score` and `report` take documents. Each score is computed from the overlaps of the clusters (`overlap`, `metrics`,
`ceaf`) as a tally. Tallies add up over documents (`results`).
"""

from __future__ import annotations

from corefine.scores.corpus import DocumentCounts, Report, Singletons, report, report_corefud, score
from corefine.scores.metrics import Score, Tally
from corefine.scores.results import Counts, Scores

__all__ = [
    "Counts",
    "DocumentCounts",
    "Report",
    "Score",
    "Scores",
    "Singletons",
    "Tally",
    "report",
    "report_corefud",
    "score",
]

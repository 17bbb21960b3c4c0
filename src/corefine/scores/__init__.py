"""Scores of a response against a key: mention detection, MUC, B3, CEAF, BLANC, LEA and CoNLL F1.

`report` scores documents, and `corefine.score` also files. A score is a tally of the overlaps of clusters (`overlap`,
`metrics`, `ceaf`). Tallies add up over documents (`results`).
"""

from __future__ import annotations

from corefine.scores.corpus import DocumentCounts, Report, Singletons, report, report_corefud
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
]

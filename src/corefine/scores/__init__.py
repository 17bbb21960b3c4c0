"""Scores of a response against a key: mention detection, MUC, B3, CEAF, BLANC, LEA and CoNLL F1.

`score` and `report` take documents. Underneath, each score is a function of how the clusters overlap (`overlap`,
`metrics`, `ceaf`) that gives a tally; tallies add up over documents (`results`).
"""

from __future__ import annotations

from corefine.scores.corpus import DocumentCounts, Report, report, score
from corefine.scores.results import Counts, Scores
from corefine.scores.tally import Score, Tally
from corefine.scores.views import Singletons

__all__ = ["Counts", "DocumentCounts", "Report", "Score", "Scores", "Singletons", "Tally", "report", "score"]

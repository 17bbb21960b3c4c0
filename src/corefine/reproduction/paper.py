"""The paper's own numbers, on the CoNLL-2012 development set."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """One published run: questions a document, minutes a document, F1."""

    questions: int
    minutes: float
    f1: float


DISCRETE = (
    Published(0, 0.0, 51.5),
    Published(20, 9.0, 57.0),
    Published(80, 32.7, 60.0),
    Published(100, 39.9, 60.5),
    Published(200, 67.7, 60.7),
)
PAIRWISE = (
    Published(0, 0.0, 52.8),
    Published(20, 13.9, 54.4),
    Published(80, 50.9, 57.0),
    Published(100, 62.3, 57.5),
    Published(200, 106.7, 58.9),
)
ANNOTATED_DOCUMENTS = 2102

TOKENS_PER_DOCUMENT = 465
"""The mean of CoNLL-2012. A LitBank document is 4.5 times as long, so budgets are compared per 1,000 tokens."""

ABLATION = {"discrete": 57.08, "unclustered": 56.49, "per-document": 56.98, "pairwise": 54.27}
"""F1 at about 315 hours, entropy."""

CLOSURE_LINKS = 1_600
CLOSURE_MILLISECONDS = {"Algorithm 1": 2.93, "from scratch": 1630.0}

FULL_DISCRETE = (201, 6337.53)
"""Questions that label one document fully if all are answered no, and the seconds that they take."""
FULL_PAIRWISE = (15_050, 240_198.0)


def minutes_per_1000_tokens(run: Published) -> float:
    return 1000 * run.minutes / TOKENS_PER_DOCUMENT

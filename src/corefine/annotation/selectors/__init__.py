"""Which mention to ask about next.

A selector gives every row a score, from the revised prediction alone, and chooses one of the open rows. Most choose the
largest score; `lcc-mcu` first chooses between two kinds of rows. Ties go to the first in the document. Only rows that
an answer touched are scored again, so the score of a row must not depend on other rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from corefine import plugins
from corefine.annotation.selectors.base import Selector
from corefine.annotation.selectors.density import Density
from corefine.annotation.selectors.entropy import (
    Entropy,
    ExpectedChange,
    JointEntropy,
    LikelyEntropy,
    MentionEntropy,
    PairwiseEntropy,
    VoteEntropy,
)
from corefine.annotation.selectors.lcc_mcu import LccMcu
from corefine.annotation.selectors.random import Random
from corefine.annotation.selectors.sampled import Sampled
from corefine.errors import InputError

SELECTORS: dict[str, Callable[..., Selector]] = {
    selector.name: selector
    for selector in (
        Entropy,
        LikelyEntropy,
        VoteEntropy,
        LccMcu,
        Random,
        PairwiseEntropy,
        MentionEntropy,
        JointEntropy,
        ExpectedChange,
        Density,
    )
}

__all__ = [
    "SELECTORS",
    "Density",
    "Entropy",
    "ExpectedChange",
    "JointEntropy",
    "LccMcu",
    "LikelyEntropy",
    "MentionEntropy",
    "PairwiseEntropy",
    "Random",
    "Sampled",
    "Selector",
    "VoteEntropy",
    "is_selector",
    "make_selector",
]


def make_selector(name: str, *, sample: float = 0.0, **settings: Any) -> Selector:
    """The selector with this name. With `sample`, that share of the questions is about random mentions."""
    if sample and name != Random.name:
        return Sampled(make_selector(name, **settings), sample)
    if name in SELECTORS:
        return SELECTORS[name](**settings)
    if not plugins.known("selectors", name):
        raise InputError(f"there is no selector {name!r}; choose one of {', '.join(sorted(SELECTORS))}")
    selector: Selector = plugins.make("selectors", name)
    return selector


def is_selector(name: str) -> bool:
    """Whether a selector has this name. `module:attribute` is not looked up."""
    return name in SELECTORS or plugins.known("selectors", name)

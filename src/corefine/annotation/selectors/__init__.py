"""Which mention to ask about next.

A selector gives every row a score, from the prediction under the answers so far and nothing else; the session asks
about the open row with the largest, ties in document order. Scores are recomputed only for rows that an answer touched,
so a selector must not look beyond the rows it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from corefine.annotation.selectors.base import Progress, Selector
from corefine.annotation.selectors.committee import Committee
from corefine.annotation.selectors.entropy import Entropy, JointEntropy, MentionEntropy, PairwiseEntropy
from corefine.annotation.selectors.lcc_mcu import LccMcu
from corefine.annotation.selectors.random import Random
from corefine.errors import InputError

SELECTORS: dict[str, Callable[..., Selector]] = {
    selector.name: selector
    for selector in (Entropy, Committee, LccMcu, Random, PairwiseEntropy, MentionEntropy, JointEntropy)
}

__all__ = [
    "SELECTORS",
    "Committee",
    "Entropy",
    "JointEntropy",
    "LccMcu",
    "MentionEntropy",
    "PairwiseEntropy",
    "Progress",
    "Random",
    "Selector",
    "make_selector",
]


def make_selector(name: str, **settings: Any) -> Selector:
    """The selector of that name."""
    if name not in SELECTORS:
        raise InputError(f"there is no selector {name!r}; choose one of {', '.join(sorted(SELECTORS))}")
    return SELECTORS[name](**settings)

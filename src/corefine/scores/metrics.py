"""Mention detection, MUC, B3, LEA and the links of BLANC: sums over the overlaps, linear in the mentions.

Each function returns the `Tally` of one document: numerators and denominators, which add up over documents. CEAF, which
needs an assignment, is in `ceaf`.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum
from typing import NamedTuple

from corefine.scores.overlap import Overlap


class Score(NamedTuple):
    """Recall, precision and F1 in percent."""

    recall: float
    precision: float
    f1: float


NOTHING = Score(0.0, 0.0, 0.0)
PERFECT = Score(100.0, 100.0, 100.0)


class Tally(NamedTuple):
    """Recall is `recalled` / `key`, precision is `precise` / `response`."""

    recalled: float
    key: float
    precise: float
    response: float

    @property
    def score(self) -> Score:
        """In percent. 0 of 0 is 0, as in the official scorer."""
        recall = self.recalled / self.key if self.key else 0.0
        precision = self.precise / self.response if self.response else 0.0
        f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
        return Score(100 * recall, 100 * precision, 100 * f1)


def mentions(overlap: Overlap) -> Tally:
    """Mention detection: exact spans, whatever cluster they are in."""
    common = sum(overlap.shared)
    return Tally(common, sum(overlap.key_sizes), common, sum(overlap.response_sizes))


def muc(overlap: Overlap) -> Tally:
    """The fewest links that would join each cluster (Vilain et al. 1995). Clusters of one have none."""
    kept = sum(overlap.shared) - len(overlap.shared)
    key_links = sum(overlap.key_sizes) - len(overlap.key_sizes)
    return Tally(kept, key_links, kept, sum(overlap.response_sizes) - len(overlap.response_sizes))


def b3(overlap: Overlap) -> Tally:
    """For each mention, the share of its cluster that is with it on the other side (Bagga and Baldwin 1998)."""
    key, response = overlap.key_sizes, overlap.response_sizes
    return Tally(
        fsum([n * n / key[k] for k, n in zip(overlap.keys, overlap.shared, strict=True)]),
        sum(key),
        fsum([n * n / response[r] for r, n in zip(overlap.responses, overlap.shared, strict=True)]),
        sum(response),
    )


def lea(overlap: Overlap) -> Tally:
    """The share of each cluster's links that is found, weighted by its size (Moosavi and Strube 2016).

    A cluster of s mentions has s(s-1)/2 links, n(n-1)/2 of them in an overlap of n, and weight s: the s cancels.
    A cluster of one has a link to itself, which is found if it is a cluster of one on the other side too.
    """
    key, response = overlap.key_sizes, overlap.response_sizes
    recalled: list[float] = []
    precise: list[float] = []
    for k, r, n in zip(overlap.keys, overlap.responses, overlap.shared, strict=True):
        links = n * (n - 1)
        if links:
            recalled.append(links / (key[k] - 1))
            precise.append(links / (response[r] - 1))
        elif key[k] == response[r] == 1:
            recalled.append(1)
            precise.append(1)
    return Tally(fsum(recalled), sum(key), fsum(precise), sum(response))


def blanc_links(overlap: Overlap) -> tuple[Tally, Tally]:
    """The coreference links and the non-coreference links of BLANC (Luo et al. 2014), counted without listing them.

    Take all pairs of mentions that both sides have. The pairs linked on neither side are all pairs, minus those linked
    in the key, minus those linked in the response, plus those linked in both.
    """
    key_common = [0] * len(overlap.key_sizes)
    response_common = [0] * len(overlap.response_sizes)
    for k, r, n in zip(overlap.keys, overlap.responses, overlap.shared, strict=True):
        key_common[k] += n
        response_common[r] += n
    linked = _links(overlap.shared)
    apart = _links([sum(overlap.shared)]) - _links(key_common) - _links(response_common) + linked
    key_linked, response_linked = _links(overlap.key_sizes), _links(overlap.response_sizes)
    key_apart = _links([sum(overlap.key_sizes)]) - key_linked
    response_apart = _links([sum(overlap.response_sizes)]) - response_linked
    return (
        Tally(linked, key_linked, linked, response_linked),
        Tally(apart, key_apart, apart, response_apart),
    )


def _links(sizes: Iterable[int]) -> int:
    """The number of pairs of mentions within groups of these sizes."""
    return sum([size * (size - 1) for size in sizes]) // 2

"""Features of pairs of top spans, as small integers: how far apart two spans are, which words and speaker they share.

Each feature has a table of embeddings with a row for each of its values. Which features a model has is up to its
configuration. Spans are given by their places in the list of top spans; places broadcast as tensors do.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from corefine.models.network.inputs import TokenFeatures
from corefine.models.network.spans import TopSpans

DISTANCES = (1, 2, 3, 4, 5, 8, 16, 32, 64)
"""Bucket b holds distances from DISTANCES[b - 1] up to below DISTANCES[b], counted in top spans."""

DISTANCE_VALUES = len(DISTANCES) + 1
MATCH_VALUES = 3
SPEAKER_VALUES = 3


def distances(own: Tensor, others: Tensor) -> Tensor:
    """The bucket of the distance from one top span back to the other."""
    return torch.bucketize(own - others, torch.tensor(DISTANCES, device=others.device), right=True)


@dataclass(frozen=True, slots=True)
class SpanWords:
    """What top spans say, for comparisons.

    strings    [N] a number for each span; the same for spans with the same words, letter case aside
    last       [N] the last word
    """

    strings: Tensor
    last: Tensor

    @classmethod
    def of(cls, inputs: TokenFeatures, top: TopSpans) -> SpanWords:
        words = _inside(inputs.words, top)  # [N, R]
        return cls(
            strings=_numbered(words),
            last=inputs.words[top.ends],
        )

    def matches(self, own: Tensor, others: Tensor) -> Tensor:
        """2: the same words, 1: the same last word, 0: neither."""
        same = (self.strings[own] == self.strings[others]).long()
        return same + (self.last[own] == self.last[others]).long()


def speakers(inputs: TokenFeatures, top: TopSpans, own: Tensor, others: Tensor) -> Tensor:
    """2: the same speaker, 1: two speakers, 0: one of them is not known."""
    who = inputs.speakers[top.starts]
    known = (who[own] > 0) & (who[others] > 0)
    return torch.where(known, 1 + (who[own] == who[others]).long(), 0)


def _numbered(rows: Tensor) -> Tensor:
    """[N] the same number for equal rows. Much faster than `torch.unique` of rows."""
    numbers = rows[:, 0]
    for column in rows.t()[1:]:
        numbers = torch.unique(numbers * (rows.max() + 1) + column, return_inverse=True)[1]
    return numbers


def _inside(values: Tensor, top: TopSpans) -> Tensor:
    """[N, R] the values of the tokens of each top span, from its first; 0 is padding."""
    reach = int((top.ends - top.starts).max()) + 1 if len(top) else 1
    inside = top.starts[:, None] + torch.arange(reach, device=top.starts.device)
    return values[inside.clamp(max=max(len(values) - 1, 0))].masked_fill(inside > top.ends[:, None], 0)

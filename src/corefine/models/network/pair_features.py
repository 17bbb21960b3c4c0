"""Features of pairs of top spans, as small integers: how far apart two spans are, which words and quotation they share.

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
NAME_VALUES = 2
SPEAKER_VALUES = 3

NAME_WORDS = 3
"""How many names in a span are compared: the last ones."""

QUOTES_APART = 4
"""Quotations further apart than this many are not told apart."""

QUOTE_VALUES = 4 + QUOTES_APART


def distances(own: Tensor, others: Tensor) -> Tensor:
    """The bucket of the distance from one top span back to the other."""
    return torch.bucketize(own - others, torch.tensor(DISTANCES, device=others.device), right=True)


@dataclass(frozen=True, slots=True)
class SpanWords:
    """What top spans say, for comparisons.

    strings    [N] a number for each span; the same for spans with the same words, letter case aside
    last       [N] the last word
    names      [N, NAME_WORDS] the last words that look like names; 0 is padding
    """

    strings: Tensor
    last: Tensor
    names: Tensor

    @classmethod
    def of(cls, inputs: TokenFeatures, top: TopSpans) -> SpanWords:
        words = _inside(inputs.words, top)  # [N, R]
        return cls(
            strings=torch.unique(words, dim=0, return_inverse=True)[1] if len(top) else top.starts,
            last=inputs.words[top.ends],
            names=_last_names(inputs, top),
        )

    def matches(self, own: Tensor, others: Tensor) -> Tensor:
        """2: the same words, 1: the same last word, 0: neither."""
        same = (self.strings[own] == self.strings[others]).long()
        return same + (self.last[own] == self.last[others]).long()

    def share_name(self, own: Tensor, others: Tensor) -> Tensor:
        """1: they have a name in common, 0: they have none."""
        shared = torch.zeros_like(own + others, dtype=torch.bool)
        for mine in range(NAME_WORDS):
            name = self.names[own, mine]
            for theirs in range(NAME_WORDS):
                shared |= (name == self.names[others, theirs]) & (name > 0)
        return shared.long()


def speakers(inputs: TokenFeatures, top: TopSpans, own: Tensor, others: Tensor) -> Tensor:
    """2: the same speaker, 1: two speakers, 0: one of them is not known."""
    who = inputs.speakers[top.starts]
    known = (who[own] > 0) & (who[others] > 0)
    return torch.where(known, 1 + (who[own] == who[others]).long(), 0)


def quotations(inputs: TokenFeatures, top: TopSpans, own: Tensor, others: Tensor) -> Tensor:
    """0: neither is within quotation marks, 1: the later one is, 2: the earlier one is, 3: both are, in one quotation.

    More: both are, in different ones; the more, the more quotations begin between them. "I" in a quotation and "I" in
    the next one are often two people, and in the one after that the first again.
    """
    quoted = inputs.surfaces % 2
    number = torch.cumsum((quoted.diff(prepend=quoted[:1]) > 0).long(), 0)  # of the quotation, from the first token on
    mine, theirs = quoted[top.starts][own], quoted[top.starts][others]
    apart = (number[top.starts][own] - number[top.starts][others]).clamp(max=QUOTES_APART)
    return torch.where((mine > 0) & (theirs > 0), 3 + apart, mine + 2 * theirs)


def _inside(values: Tensor, top: TopSpans) -> Tensor:
    """[N, R] the values of the tokens of each top span, from its first; 0 is padding."""
    reach = int((top.ends - top.starts).max()) + 1 if len(top) else 1
    inside = top.starts[:, None] + torch.arange(reach, device=top.starts.device)
    return values[inside.clamp(max=max(len(values) - 1, 0))].masked_fill(inside > top.ends[:, None], 0)


def _last_names(inputs: TokenFeatures, top: TopSpans) -> Tensor:
    """[N, NAME_WORDS] the last names in each top span, the very last first."""
    names = _inside(inputs.names, top)  # [N, R]
    place = (names > 0).long().cumsum(1)  # which name of the span it is, from 1
    chosen = [(place == place[:, -1:] - back) & (names > 0) for back in range(NAME_WORDS)]
    return torch.stack([torch.where(each, names, 0).sum(1) for each in chosen], dim=1)

"""How the clusters of a key and a response overlap. All scores are computed from this.

A mention is in at most one cluster of each side, so there are never more overlapping pairs of clusters than mentions,
and a sum over these pairs takes time linear in the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two partitions, reduced to the sizes of their clusters and of their overlaps.

    key_sizes, response_sizes    how many mentions each cluster has
    keys, responses, shared      columns of overlaps: clusters `keys[i]` and `responses[i]` share `shared[i]` mentions

    Mentions of one side only are in the sizes and in no overlap.
    """

    key_sizes: list[int]
    response_sizes: list[int]
    keys: list[int]
    responses: list[int]
    shared: list[int]

    @classmethod
    def of(cls, key: Iterable[Collection[Hashable]], response: Iterable[Collection[Hashable]]) -> Overlap:
        key, response = list(key), list(response)
        owner = {mention: number for number, cluster in enumerate(response) for mention in cluster}.get
        width = len(response)
        # A pair of clusters as one number: unlike tuples, numbers are not tracked by the garbage collector.
        pairs = Counter(
            [
                number * width + other
                for number, cluster in enumerate(key)
                for mention in cluster
                if (other := owner(mention)) is not None
            ]
        )
        return cls(
            key_sizes=list(map(len, key)),
            response_sizes=list(map(len, response)),
            keys=[pair // width for pair in pairs],
            responses=[pair % width for pair in pairs],
            shared=list(pairs.values()),
        )

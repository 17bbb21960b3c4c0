"""How the clusters of a key and of a response overlap: all that any of the scores looks at.

A mention lies in at most one cluster of each side, so there are never more overlapping pairs of clusters than
mentions, and whatever is a sum over these pairs takes time linear in the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two partitions, reduced to the sizes of their clusters and of their overlaps.

    key_sizes, response_sizes    mentions of each cluster, by its number
    keys, responses, shared      the overlaps, in columns: clusters `keys[i]` and `responses[i]` share `shared[i]`
                                 mentions, at least one

    Twinless mentions (those of one side only) are in the sizes, and in no overlap.
    """

    key_sizes: list[int]
    response_sizes: list[int]
    keys: list[int]
    responses: list[int]
    shared: list[int]

    @classmethod
    def of(cls, key: Iterable[Collection[Hashable]], response: Iterable[Collection[Hashable]]) -> Overlap:
        """The overlap of two partitions, whatever their mentions are."""
        key, response = list(key), list(response)
        owner = {mention: number for number, cluster in enumerate(response) for mention in cluster}.get
        width = len(response)
        # a pair of clusters as one number: numbers, unlike tuples, are no work for the garbage collector
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

"""How the clusters of a key and of a response overlap: all that any of the scores looks at.

A mention lies in at most one cluster of each side, so there are never more overlapping pairs of clusters than
mentions, and whatever is a sum over these pairs takes time linear in the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass

Cell = tuple[int, int, int]
"""A key cluster, a response cluster, and how many mentions (at least one) they share."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two partitions, reduced to the sizes of their clusters and of the overlaps.

    Twinless mentions (those of one side only) are in the sizes, and in no cell.
    """

    key_sizes: tuple[int, ...]
    response_sizes: tuple[int, ...]
    cells: tuple[Cell, ...]

    @classmethod
    def of(cls, key: Iterable[Collection[Hashable]], response: Iterable[Collection[Hashable]]) -> Overlap:
        """The overlap of two partitions, whatever their mentions are."""
        key, response = tuple(key), tuple(response)
        owner = {mention: number for number, cluster in enumerate(response) for mention in cluster}.get
        shared = Counter(
            [
                (number, other)
                for number, cluster in enumerate(key)
                for mention in cluster
                if (other := owner(mention)) is not None
            ]
        )
        cells = tuple([(number, other, count) for (number, other), count in shared.items()])
        return cls(tuple(map(len, key)), tuple(map(len, response)), cells)

    @property
    def common(self) -> int:
        """How many mentions are on both sides."""
        return sum([shared for _, _, shared in self.cells])

"""CEAF (Luo 2005): the best one-to-one alignment of key clusters with response clusters.

Aligning clusters that share no mention is worth nothing. So two clusters that overlap only each other are aligned at
once. In a long document the others are aligned separately in each connected component of the overlaps.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import fsum

from corefine.scores.metrics import Tally
from corefine.scores.overlap import Overlap

FEW_OVERLAPS = 200
"""Up to this many overlaps are aligned together: finding their components would take longer."""

DENSE_CELLS = 250_000
"""Components with more matrix cells are aligned as sparse graphs, which is faster there and needs less memory."""


def ceaf(overlap: Overlap) -> tuple[Tally, Tally]:
    """CEAFm, where a pair is worth the mentions it shares, and CEAFe, where it is worth their Dice ratio."""
    key, response, shared = overlap.key_sizes, overlap.response_sizes, overlap.shared
    dice = [2 * n / (key[k] + response[r]) for k, r, n in zip(overlap.keys, overlap.responses, shared, strict=True)]
    alone, tangled = _peeled(overlap)
    mentions: list[float] = [shared[i] for i in alone]
    entities: list[float] = [dice[i] for i in alone]
    for part in [tangled] if len(tangled) <= FEW_OVERLAPS else components(overlap, tangled):
        best_shared, best_dice = best_alignments(overlap, part, shared, dice)
        mentions += best_shared
        entities += best_dice
    by_mention, by_entity = fsum(mentions), fsum(entities)
    return (
        Tally(by_mention, sum(key), by_mention, sum(response)),
        Tally(by_entity, len(key), by_entity, len(response)),
    )


def _peeled(overlap: Overlap) -> tuple[list[int], list[int]]:
    """The positions of overlaps of two clusters that overlap nothing else, and of all other overlaps."""
    of_key, of_response = Counter(overlap.keys), Counter(overlap.responses)
    alone: list[int] = []
    tangled: list[int] = []
    for position, (key, response) in enumerate(zip(overlap.keys, overlap.responses, strict=True)):
        (alone if of_key[key] == of_response[response] == 1 else tangled).append(position)
    return alone, tangled


def components(overlap: Overlap, positions: Iterable[int]) -> list[list[int]]:
    """The overlaps at these positions, grouped by connected component; overlaps are the edges of the graph."""
    of_key: defaultdict[int, list[int]] = defaultdict(list)
    of_response: defaultdict[int, list[int]] = defaultdict(list)
    for position in positions:
        of_key[overlap.keys[position]].append(position)
        of_response[overlap.responses[position]].append(position)
    found: list[list[int]] = []
    while of_key:
        _, component = of_key.popitem()
        for position in component:  # grows during the loop: a breadth-first search
            for other in of_response.pop(overlap.responses[position], ()):
                component += of_key.pop(overlap.keys[other], ())
        found.append(component)
    return found


def best_alignments(overlap: Overlap, part: Sequence[int], *worths: Sequence[float]) -> list[list[float]]:
    """For each measure of worth: the worths of the overlaps in a best alignment of `part`."""
    rows: dict[int, int] = {}
    columns: dict[int, int] = {}
    row = [rows.setdefault(overlap.keys[i], len(rows)) for i in part]
    column = [columns.setdefault(overlap.responses[i], len(columns)) for i in part]
    parts = [[worth[i] for i in part] for worth in worths]
    if len(rows) <= 1 or len(columns) <= 1:  # one cluster and all that it overlaps
        return [[max(worth, default=0)] for worth in parts]
    align = _dense if len(rows) * len(columns) <= DENSE_CELLS else _sparse
    return [align(row, column, worth) for worth in parts]


def _dense(row: Sequence[int], column: Sequence[int], worth: Sequence[float]) -> list[float]:
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    matrix = np.zeros((max(row) + 1, max(column) + 1))
    matrix[row, column] = worth
    chosen: list[float] = matrix[linear_sum_assignment(matrix, maximize=True)].tolist()
    return chosen


def _sparse(row: Sequence[int], column: Sequence[int], worth: Sequence[float]) -> list[float]:
    """The same on a sparse graph. Every row must be aligned there, so each gets a column of its own, worth nothing.

    All alignments then have as many edges as rows, so adding 1 to every worth favours none. It keeps the edges that
    are worth 0, which a sparse matrix would drop.
    """
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows, columns = max(row) + 1, max(column) + 1
    own = np.arange(rows)
    graph = csr_array(
        (
            np.concatenate([np.asarray(worth) + 1, np.ones(rows)]),
            (np.concatenate([row, own]), np.concatenate([column, columns + own])),
        ),
        shape=(rows, columns + rows),
    )
    pairs = zip(*min_weight_full_bipartite_matching(graph, maximize=True), strict=True)
    value = dict(zip(zip(row, column, strict=True), worth, strict=True))
    return [value.get((int(i), int(j)), 0.0) for i, j in pairs]

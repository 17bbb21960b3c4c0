"""CEAF (Luo 2005): the best one-to-one alignment of key clusters with response clusters.

Clusters that share no mention are worth nothing to each other, so in a long document the alignment is found
separately in each connected component of the overlap graph.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import fsum

from corefine.scores.overlap import Overlap
from corefine.scores.tally import Tally

SMALL = 20_000
"""Documents with a matrix of clusters up to this size are aligned whole: finding components would cost more."""

DENSE = 250_000
"""Components with a larger matrix are aligned as sparse graphs: quicker there, and memory stays small."""


def ceaf(overlap: Overlap) -> tuple[Tally, Tally]:
    """CEAFm, where a pair is worth the mentions it shares, and CEAFe, where it is worth their Dice ratio."""
    key, response = overlap.key_sizes, overlap.response_sizes
    mentions: list[float] = []
    entities: list[float] = []
    for keys, responses, shared in _parts(overlap):
        dice = [2 * n / (key[k] + response[r]) for k, r, n in zip(keys, responses, shared, strict=True)]
        best_shared, best_dice = best_alignments(keys, responses, shared, dice)
        mentions += best_shared
        entities += best_dice
    by_mention, by_entity = fsum(mentions), fsum(entities)
    return (
        Tally(by_mention, sum(key), by_mention, sum(response)),
        Tally(by_entity, len(key), by_entity, len(response)),
    )


def best_alignments(keys: Sequence[int], responses: Sequence[int], *worths: Sequence[float]) -> list[Sequence[float]]:
    """For each way of saying what the overlaps are worth: their worths in a best alignment."""
    if len(keys) <= 1:
        return list(worths)
    rows: dict[int, int] = {}
    columns: dict[int, int] = {}
    row = [rows.setdefault(k, len(rows)) for k in keys]
    column = [columns.setdefault(r, len(columns)) for r in responses]
    if len(rows) == 1 or len(columns) == 1:  # a star: one cluster, and all that it overlaps
        return [[max(worth)] for worth in worths]
    align = _dense if len(rows) * len(columns) <= DENSE else _sparse
    return [align(row, column, worth) for worth in worths]


Columns = tuple[Sequence[int], Sequence[int], Sequence[int]]


def _parts(overlap: Overlap) -> Iterator[Columns]:
    """The columns of overlaps that can be aligned separately."""
    if len(overlap.key_sizes) * len(overlap.response_sizes) <= SMALL:
        yield overlap.keys, overlap.responses, overlap.shared
        return
    for part in components(overlap.keys, overlap.responses):
        yield (
            [overlap.keys[i] for i in part],
            [overlap.responses[i] for i in part],
            [overlap.shared[i] for i in part],
        )


def components(keys: Sequence[int], responses: Sequence[int]) -> Iterator[list[int]]:
    """The edges `keys[i]`-`responses[i]`, by number, grouped by connected component."""
    of_key: defaultdict[int, list[int]] = defaultdict(list)
    of_response: defaultdict[int, list[int]] = defaultdict(list)
    for edge, (key, response) in enumerate(zip(keys, responses, strict=True)):
        of_key[key].append(edge)
        of_response[response].append(edge)
    while of_key:
        _, component = of_key.popitem()
        for edge in component:  # it grows as it is read: a search, widest first
            for other in of_response.pop(responses[edge], ()):
                component += of_key.pop(keys[other], ())
        yield component


def _dense(row: Sequence[int], column: Sequence[int], worth: Sequence[float]) -> list[float]:
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    matrix = np.zeros((max(row) + 1, max(column) + 1))
    matrix[row, column] = worth
    chosen: list[float] = matrix[linear_sum_assignment(matrix, maximize=True)].tolist()
    return chosen


def _sparse(row: Sequence[int], column: Sequence[int], worth: Sequence[float]) -> list[float]:
    """The same on a sparse graph. It wants every row aligned: each gets a column of its own, worth nothing.

    All alignments then have as many edges as rows, so that adding 1 to every worth favours none of them, and no
    edge is a zero, which a sparse matrix would drop.
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

"""The three ways of aligning clusters (whole, by component, as a sparse graph) are one."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from partitions import Partition, best_total, dice, partitions, shared

from corefine.scores import Tally, ceaf
from corefine.scores.overlap import Cell, Overlap

WAYS = {
    "whole, dense": {"SMALL": 10**9, "DENSE": 10**9},
    "whole, sparse": {"SMALL": 10**9, "DENSE": 0},
    "components, dense": {"SMALL": 0, "DENSE": 10**9},
    "components, sparse": {"SMALL": 0, "DENSE": 0},
}


def every_way(overlap: Overlap) -> list[tuple[Tally, Tally]]:
    results = []
    for limits in WAYS.values():
        with pytest.MonkeyPatch.context() as patch:
            for name, value in limits.items():
                patch.setattr(ceaf, name, value)
            results.append(ceaf.ceaf(overlap))
    return results


@given(partitions(), partitions())
def test_every_way_finds_the_best_alignment(key: Partition, response: Partition) -> None:
    for ceafm, ceafe in every_way(Overlap.of(key, response)):
        assert ceafm.recalled == ceafm.precise == pytest.approx(float(best_total(key, response, shared)))
        assert ceafe.recalled == ceafe.precise == pytest.approx(float(best_total(key, response, dice)))


def test_every_way_agrees_where_clusters_are_too_many_to_try() -> None:
    random = Random(5)
    key = [random.randrange(120) for _ in range(900)]
    response = [label if random.random() < 0.6 else random.randrange(150) for label in key]
    overlap = Overlap.of(by_label(key), by_label(response))
    assert len(list(ceaf.components(overlap.cells))) < len(overlap.cells)
    (ceafm, ceafe), *others = every_way(overlap)
    for other_ceafm, other_ceafe in others:
        assert other_ceafm == pytest.approx(ceafm)
        assert other_ceafe == pytest.approx(ceafe)


def by_label(labels: list[int]) -> list[set[int]]:
    clusters: dict[int, set[int]] = {}
    for mention, label in enumerate(labels):
        clusters.setdefault(label, set()).add(mention)
    return list(clusters.values())


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_components_are_the_connected_parts(edges: set[tuple[int, int]]) -> None:
    cells: list[Cell] = [(k, r, 1) for k, r in sorted(edges)]
    parts = list(ceaf.components(cells))
    assert sorted(cell for part in parts for cell in part) == cells
    for number, part in enumerate(parts):
        keys, responses = {k for k, _, _ in part}, {r for _, r, _ in part}
        for other in parts[number + 1 :]:
            assert not keys & {k for k, _, _ in other}
            assert not responses & {r for _, r, _ in other}
        assert reached(part) == set(part)


def reached(part: list[Cell]) -> set[Cell]:
    """What can be reached from the first cell over shared clusters."""
    found = {part[0]}
    while True:
        more = {c for c in part if any(c[0] == f[0] or c[1] == f[1] for f in found)}
        if more == found:
            return found
        found = more

"""The three ways of aligning clusters (whole, by component, as a sparse graph) are one."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefine.scores import Tally, ceaf
from corefine.scores.overlap import Overlap
from helpers.partitions import Partition, best_total, dice, partitions, shared

WAYS = {
    "whole, dense": {"FEW_OVERLAPS": 10**9, "DENSE_CELLS": 10**9},
    "whole, sparse": {"FEW_OVERLAPS": 10**9, "DENSE_CELLS": 0},
    "components, dense": {"FEW_OVERLAPS": 0, "DENSE_CELLS": 10**9},
    "components, sparse": {"FEW_OVERLAPS": 0, "DENSE_CELLS": 0},
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


@pytest.mark.parametrize(("right", "parts"), [(0.6, 1), (0.97, 10)])
def test_every_way_agrees_where_clusters_are_too_many_to_try(right: float, parts: int) -> None:
    random = Random(5)
    key = [random.randrange(120) for _ in range(900)]
    response = [label if random.random() < right else random.randrange(150) for label in key]
    overlap = Overlap.of(by_label(key), by_label(response))
    assert parts <= len(ceaf.components(overlap, range(len(overlap.shared)))) < len(overlap.shared)
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
    listed = sorted(edges)
    overlap = Overlap([], [], [k for k, _ in listed], [r for _, r in listed], [1] * len(listed))
    parts = [[listed[edge] for edge in part] for part in ceaf.components(overlap, range(len(listed)))]
    assert sorted(edge for part in parts for edge in part) == listed
    for part in parts:
        assert reached(part[0], listed) == set(part)


def reached(start: tuple[int, int], edges: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """What can be reached from an edge over shared clusters."""
    found = {start}
    while True:
        more = {edge for edge in edges if any(edge[0] == f[0] or edge[1] == f[1] for f in found)}
        if more == found:
            return found
        found = more

"""The `scorch` package as an independent reference, wherever it follows the same conventions."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from scorch import scores as scorch

from corefine import score
from helpers.partitions import Partition, document, owners, pairs, pairs_apart, partitions

REFERENCES = {
    "muc": scorch.muc,
    "b3": scorch.b_cubed,
    "ceafm": scorch.ceaf_m,
    "ceafe": scorch.ceaf_e,
    "blanc": scorch.blanc,
}


@pytest.mark.parametrize("metric", REFERENCES)
@given(partitions(min_mentions=1), partitions(min_mentions=1))
def test_agrees_with_scorch(metric: str, key: Partition, response: Partition) -> None:
    if metric == "blanc":
        assume(pairs(key) and pairs_apart(key))
    if metric.startswith("ceaf"):  # scorch fails in its harmonic mean where nothing overlaps
        assume(owners(key).keys() & owners(response).keys())
    ours = getattr(score(document(key), document(response)), metric)
    expected = tuple(100 * value for value in REFERENCES[metric](key, response))
    assert ours == pytest.approx(expected, abs=1e-9)

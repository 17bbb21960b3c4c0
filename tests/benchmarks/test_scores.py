"""The benchmark: that it measures the same work on both sides, and (marked) that the bars are met here."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from scores import described, growing, measure, mistaken


def test_both_sides_do_the_same_work_on_litbank(corpora: Path) -> None:
    times = measure(corpora=corpora, rounds=1, sizes=(50, 100, 200, 400))
    assert times.documents == 100
    assert times.mentions == 29_103
    assert times.largest_gap < 1e-9
    assert "100 documents" in described(times)


def test_mistakes_are_made_but_not_everywhere() -> None:
    document = growing(400)
    assert sum(map(len, document.clusters)) == 400
    other = mistaken(document, Random(1))
    assert other == mistaken(document, Random(1))
    common = set(document.mentions) & set(other.mentions)
    assert 200 < len(common) < 400
    assert set(other.mentions) - common


@pytest.mark.bench
def test_bars(corpora: Path) -> None:
    assert measure(corpora=corpora).failure is None

"""The bootstrap and the analysis of errors."""

from __future__ import annotations

from random import Random
from typing import Literal

import pytest

from corefine.document import Document
from corefine.scores import report
from corefine.scores.compare import compare
from corefine.scores.errors import errors, table

TOKENS = ("Ann", "saw", "her", "old", "dog", "and", "she", "fed", "it", ".")


def document(clusters: list[list[tuple[int, int]]], name: str = "d") -> Document:
    return Document(name, TOKENS, (0,)).with_clusters(clusters)


GOLD = [[(0, 0), (2, 2), (6, 6)], [(2, 4), (8, 8)]]


def test_a_response_that_is_better_in_every_document_is_surely_better() -> None:
    keys = [document(GOLD, f"d{number}") for number in range(20)]
    worse = [document([[(0, 0), (6, 6)]], key.name) for key in keys]
    found = compare(report(keys, worse), report(keys, keys))["conll_f1"]
    assert found.second == pytest.approx(100)
    assert found.difference == pytest.approx(found.second - found.first)
    assert found.low == pytest.approx(found.high)
    assert found.p == pytest.approx(2 / 2001)  # 2,000 draws cannot tell that it is less


@pytest.mark.parametrize("blanc", ["official", "luo"])
def test_the_scores_of_a_comparison_are_those_of_the_reports(blanc: Literal["official", "luo"]) -> None:
    keys = [document(GOLD, "a"), document([[(0, 0)]], "b"), document([[(0, 0), (2, 2)]], "c")]
    responses = [document([[(0, 0), (6, 6)]], "a"), document([[(0, 0), (2, 2)]], "b"), document([], "c")]
    first = report(keys, responses, blanc=blanc)
    found = compare(first, report(keys, keys, blanc=blanc))
    assert {name: each.first for name, each in found.items() if name != "conll_f1"} == {
        name: pytest.approx(getattr(first.scores, name).f1)
        for name in ("mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "lea")
    }


def test_the_comparison_has_blanc_where_no_mentions_can_be_linked() -> None:
    keys = [document([[(0, 0)]], "a")]
    assert compare(report(keys, keys, blanc="luo"), report(keys, keys))["blanc"].first == 100
    assert compare(report(keys, keys), report(keys, keys, blanc="luo"))["blanc"].first == 0


def test_an_interval_covers_a_difference_that_varies() -> None:
    rng = Random(1)
    keys = [document(GOLD, f"d{number}") for number in range(30)]
    mixed = [[key if rng.random() < 0.5 else document([[(0, 0), (6, 6)]], key.name) for key in keys] for _ in range(2)]
    found = compare(report(keys, mixed[0]), report(keys, mixed[1]))["conll_f1"]
    assert found.low < found.difference < found.high
    assert compare(report(keys, mixed[0]), report(keys, mixed[0]))["b3"].p == 1


def test_every_kind_of_error() -> None:
    response = document([[(0, 0), (8, 8)], [(4, 4), (9, 9)], [(6, 6)]])
    found = {(error.kind, error.span): error.mention_kind for error in errors(document(GOLD), response)}
    assert found == {
        ("missed mention", (2, 2)): "pronoun",
        ("span error", (2, 4)): "nominal",
        ("missed link", (6, 6)): "pronoun",
        ("wrong link", (8, 8)): "pronoun",
        ("extra mention", (9, 9)): "nominal",
    }
    assert table(errors(document(GOLD), response))["wrong link"] == {"pronoun": 1, "name": 0, "nominal": 0}
    assert errors(document(GOLD), document(GOLD)) == []

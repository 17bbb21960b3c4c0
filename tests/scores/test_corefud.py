"""CorefUD's conventions: equal to the official CorefUD scorer in every case that it can score."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from corefine.document import Document
from corefine.formats import read_all
from corefine.formats.conllu.nodes import NodeMention, node_clusters
from corefine.scores import report_corefud
from corefine.scores.corefud import corefud_counts

NAMES = {"muc": "muc", "bcub": "b3", "ceafe": "ceafe", "ceafm": "ceafm", "blanc": "blanc", "lea": "lea", "mor": "mor"}


@cache
def documents(path: Path) -> list[Document]:
    return read_all(path, "conllu", on_fault=lambda _: None)


def differing(folder: Path, case: dict[str, Any]) -> list[str]:
    """The settings and scores that differ from the official ones."""
    found = []
    key, response = documents(folder / case["key"]), documents(folder / case["response"])
    for setting in case["settings"]:
        if "error" in setting:
            continue
        options = {"match": setting["match"], "zeros": setting["zero_match"], "singletons": setting["singletons"]}
        scores = report_corefud(key, response, node_clusters, **options).scores
        for theirs, ours in NAMES.items():
            mine = getattr(scores, ours) or (0.0, 0.0, 0.0)
            expected = [100 * value for value in setting["scores"][theirs]]
            if mine != pytest.approx(expected, abs=1e-2):
                found.append(f"{case['id']} {options} {ours}: {mine}, not {expected}")
    return found


@pytest.mark.parametrize("larger", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_equal_to_the_official_corefud_scorer(scorer_cases: Path, larger: bool) -> None:
    """In all 107 cases and 12 settings, but for the 54 that it cannot score. One large case of zeros is always run."""
    cases = json.loads((scorer_cases / "corefud" / "expected.json").read_text())
    assert len(cases) == 107
    chosen = [each for each in cases if larger == each["key"].startswith("larger") or each["id"] == "es_ancora-spans"]
    assert [line for case in chosen for line in differing(scorer_cases / "corefud", case)] == []


def test_deleting_all_zeros_is_not_perfect(scorer_cases: Path) -> None:
    cases = json.loads((scorer_cases / "corefud" / "expected.json").read_text())
    case = next(each for each in cases if each["id"] == "es_ancora-zeros")
    folder = scorer_cases / "corefud"
    scores = report_corefud(documents(folder / case["key"]), documents(folder / case["response"]), node_clusters).scores
    assert scores.conll_f1 < 95


def test_zeros_that_depend_on_nothing_match_by_place() -> None:
    """The official scorer divides by zero there."""
    zero = NodeMention(((0, 1, 1),), (0, 1, 1), True, frozenset())
    word = NodeMention(((0, 1, 0),), (0, 1, 0), False, frozenset())
    moved = zero._replace(words=((0, 2, 1),), head=(0, 2, 1))
    assert corefud_counts([[zero, word]], [[zero, word]]).scores.conll_f1 == 100
    assert corefud_counts([[zero, word]], [[moved, word]]).scores.muc.f1 == 0

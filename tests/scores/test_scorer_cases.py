"""The official scorer's own cases, read and scored as a user would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corefine import score
from corefine.formats import read

CASES = [*(f"A{number}" for number in range(1, 14)), *(f"{letter}1" for letter in "BCDEFGHIJKL")]
NAMES = {"muc": "muc", "bcub": "b3", "ceafm": "ceafm", "ceafe": "ceafe", "blanc": "blanc"}


@pytest.fixture(scope="module")
def expected(scorer_cases: Path) -> dict[str, dict[str, object]]:
    return {case["id"]: case for case in json.loads((scorer_cases / "expected.json").read_text())}


def test_all_cases_are_here(expected: dict[str, dict[str, object]]) -> None:
    assert list(expected) == CASES


@pytest.mark.parametrize("case", CASES)
def test_scores_are_the_official_ones(scorer_cases: Path, expected: dict[str, dict[str, object]], case: str) -> None:
    files = scorer_cases / "files"
    key, response = str(expected[case]["key"]), str(expected[case]["response"])
    scores = score(read(files / key), read(files / response))
    official = expected[case]["expected"]
    assert isinstance(official, dict)
    assert official
    for name, values in official.items():
        fractions = [value / 100 for value in getattr(scores, NAMES[name])]
        assert fractions == pytest.approx(values, abs=1e-4), name

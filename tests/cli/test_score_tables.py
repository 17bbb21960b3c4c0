"""`corefine score`: conventions, comparison, tables and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corefine.cli import app
from corefine.document import Document
from corefine.formats import write

GOLD = Document.from_sentences(
    "d", [["Ann", "saw", "Bo", "."], ["She", "waved", "at", "him"]], [[(0, 0), (4, 4)], [(2, 2), (7, 7)]]
)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    key, response, other = (tmp_path / f"{name}.jsonl" for name in ("key", "response", "other"))
    write(GOLD, key)
    write(GOLD.with_clusters([[(0, 0), (4, 4)]]), response)
    write(GOLD.with_clusters([[(0, 0), (7, 7)]]), other)
    return [str(key), str(response), str(other)]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["score", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_corefud_conventions(files: list[str]) -> None:
    scores = json.loads(run(*files[:2], "--scheme", "corefud", "--match", "exact", "--json"))
    assert scores["mor"] == {"recall": 50.0, "precision": 100.0, "f1": pytest.approx(200 / 3)}
    assert scores["muc"]["recall"] == 50.0


def test_comparison_and_errors(files: list[str], tmp_path: Path) -> None:
    page = tmp_path / "errors.html"
    found = json.loads(run(*files[:2], "--compare", files[2], "--errors", "--errors-html", str(page), "--json"))
    assert found["compare"]["conll_f1"]["difference"] < 0
    assert found["errors"]["missed mention"] == {"pronoun": 1, "name": 1, "nominal": 0}
    assert 'class="missed-mention"' in page.read_text("utf-8")
    assert "95 % interval" in run(*files[:2], "--compare", files[2])
    assert "missed mention" in run(*files[:2], "--errors")


def test_tables_for_papers(files: list[str]) -> None:
    assert "| MUC | 50.00 | 100.00 | 66.67 |" in run(*files[:2], "--markdown")
    assert r"B\textsuperscript{3} & 50.00 & 100.00 & 66.67 \\" in run(*files[:2], "--latex")

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


def test_mor_is_there_without_any_mention(files: list[str], tmp_path: Path) -> None:
    single = tmp_path / "single.jsonl"
    write(GOLD.with_clusters([[(0, 0)]]), single)
    options = ["--scheme", "corefud", "--singletons", "drop", "--json"]
    assert json.loads(run(str(single), str(single), *options))["mor"] == {"recall": 0.0, "precision": 0.0, "f1": 0.0}
    assert "mor" in json.loads(run(*files[:2], "--scheme", "corefud", "--compare", files[2], "--json"))["compare"]


def test_errors_and_own_metrics_leave_out_singletons_too(files: list[str], tmp_path: Path) -> None:
    single = tmp_path / "single.jsonl"
    write(GOLD.with_clusters([*GOLD.clusters, [(1, 1)]]), single)
    metric = ["--metric", "helpers.metrics:mentions"]
    kept, dropped = (
        json.loads(run(files[0], str(single), "--errors", "--json", "--singletons", way, *metric))
        for way in ("keep", "drop")
    )
    assert sum(kept["errors"]["extra mention"].values()) == 1
    assert sum(dropped["errors"]["extra mention"].values()) == 0
    assert kept["helpers.metrics:mentions"]["precision"] == 80
    assert dropped["helpers.metrics:mentions"]["precision"] == 100


def test_errors_of_documents_that_one_side_lacks(files: list[str], tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_text("")
    found = json.loads(run(files[0], str(nothing), "--allow-missing", "--errors", "--json"))
    assert sum(found["errors"]["missed mention"].values()) == 4


@pytest.mark.parametrize(
    "options", [["--match", "exact"], ["--zeros", "linear"], *(["--scheme", "corefud", *more] for more in
    (["--pronouns"], ["--blanc", "luo"], ["--tagger", "x"]))]
)  # fmt: skip
def test_an_option_that_the_conventions_do_not_have_is_refused(files: list[str], options: list[str]) -> None:
    result = CliRunner().invoke(app, ["score", *files[:2], *options])
    assert result.exit_code == 2
    assert "has no meaning with" in result.output


def test_the_page_of_errors_tells_what_is_right(files: list[str], tmp_path: Path) -> None:
    page = tmp_path / "errors.html"
    crossing = tmp_path / "crossing.jsonl"
    write(GOLD.with_clusters([[(0, 1), (4, 4)], [(1, 2), (6, 7)]]), crossing)
    run(files[0], files[2], "--errors-html", str(page))
    assert "him</span><small" in page.read_text("utf-8")
    assert "[response: same as Ann; key: same as Bo]" in page.read_text("utf-8")
    run(files[0], str(crossing), "--errors-html", str(page))
    assert "[response: Ann saw]" in page.read_text("utf-8")
    assert page.read_text("utf-8").count("<span") == page.read_text("utf-8").count("</span>")


def test_markdown_tables_are_apart(files: list[str]) -> None:
    """A table ends at an empty line."""
    said = run(*files[:2], "--markdown", "--errors", "--compare", files[2])
    assert said.count("\n\n") == 3
    assert all(len({line.count("|") for line in table.splitlines()}) == 1 for table in said.strip().split("\n\n"))


def test_tables_for_papers(files: list[str]) -> None:
    assert "| MUC | 50.00 | 100.00 | 66.67 |" in run(*files[:2], "--markdown")
    assert r"B\textsuperscript{3} & 50.00 & 100.00 & 66.67 \\" in run(*files[:2], "--latex")

"""`corefine data`: what is listed, and what getting a corpus shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from corefine.cli import app
from corefine.corpora import load_corpus, names
from corefine.corpora.corpus import MIRROR
from corefine.errors import InputError
from corefine.files import HOME


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    monkeypatch.delenv(MIRROR, raising=False)


def data(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["data", *(str(argument) for argument in arguments)])


def test_the_list_names_every_corpus_and_its_licence() -> None:
    rows = json.loads(data("list", "--json").stdout)
    assert [row["name"] for row in rows] == list(names())
    assert all(row["licence"] and not row["here"] for row in rows)
    table = data("list")
    assert table.exit_code == 0
    assert all(name in table.stdout for name in ("litbank", "gap"))


def test_getting_shows_licence_and_citation(corpora: Path) -> None:
    result = data("get", "corefud_ru_rucor", "--mirror", corpora)
    assert result.exit_code == 0, result.output
    assert "CC BY-SA 4.0" in result.stdout
    assert "Toldova et al. (2014)" in result.stdout
    assert "18 dev" in result.stdout
    assert json.loads(data("list", "--json").stdout)[1]["here"]
    assert len(load_corpus("corefud_ru_rucor").dev) == 18


def test_getting_for_programs_by_the_environment(
    corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MIRROR, str(corpora))
    result = data("get", "openboek_nl", "--out", tmp_path / "here", "--json")
    facts = json.loads(result.stdout)
    assert facts["documents"] == {"test": 9}
    assert facts["folder"] == str(tmp_path / "here")
    assert len(load_corpus(tmp_path / "here").test) == 9


def test_hashes_taken_on_first_use_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    from corefine.corpora import fetch

    table = (
        "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"
        "x\tAnna met Eve. She left.\tShe\t14\tAnna\t0\tTRUE\tEve\t9\tFALSE\tu\n"
    )
    monkeypatch.setattr(fetch, "https", lambda _: table.encode())
    result = data("get", "gap")
    assert result.exit_code == 0, result.output
    assert "taken on first use" in result.stdout
    assert result.stdout.count("gap-") == 3


def test_an_unknown_name() -> None:
    result = data("get", "ontonotes")
    assert isinstance(result.exception, InputError)
    assert "litbank" in str(result.exception)

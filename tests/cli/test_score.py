"""`corefine score` on files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from corefine.cli import app
from corefine.errors import InputError, UnmatchedError

METRICS = ["mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "lea"]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["score", *map(str, arguments)])


def conll(*documents: tuple[str, int, str]) -> str:
    """Documents as name, part and words with their brackets, like `Ann:(0) left:-`."""
    lines = []
    for name, part, words in documents:
        lines.append(f"#begin document ({name}); part {part:03}")
        for number, word in enumerate(words.split()):
            token, _, cell = word.partition(":")
            lines.append(f"{name}\t{part}\t{number}\t{token}\t{cell or '-'}")
        lines += ["", "#end document"]
    return "\n".join(lines) + "\n"


GOLD = conll(
    ("nw/a", 0, "Ann:(0) saw Bob:(1) ; she:(0) ran"),
    ("bc/b", 1, "Eve:(0) and Kim:(1) met ; Kim:(1) left"),
)
GUESS = conll(
    ("bc/b", 1, "Eve:(0) and Kim:(1) met ; Kim:(1) left"),
    ("nw/a", 0, "Ann:(0) saw Bob:(1) ; she:(1) ran"),
)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key.conll"
    path.write_text(GOLD)
    return path


@pytest.fixture
def response(tmp_path: Path) -> Path:
    path = tmp_path / "response.conll"
    path.write_text(GUESS)
    return path


def scored(*arguments: object) -> dict[str, object]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    loaded: dict[str, object] = json.loads(result.stdout)
    return loaded


def test_json_has_every_score_uncut(key: Path, response: Path) -> None:
    scores = scored(key, response)
    assert list(scores) == [*METRICS, "conll_f1"]
    assert scores["mentions"] == {"recall": 100, "precision": 100, "f1": 100}
    assert scores["muc"] == {"recall": 50, "precision": 50, "f1": 50}
    assert scores["b3"] == pytest.approx({"recall": 250 / 3, "precision": 250 / 3, "f1": 250 / 3}, abs=1e-9)
    assert isinstance(scores["conll_f1"], float)


def test_a_case_of_the_official_scorer(scorer_cases: Path) -> None:
    files = scorer_cases / "files"
    scores = scored(files / "TC-A.key", files / "TC-A-4.response")
    assert scores["ceafe"] == pytest.approx({"recall": 73.333, "precision": 55, "f1": 62.857}, abs=1e-3)


def test_per_document(key: Path, response: Path) -> None:
    scores = scored(key, response, "--per", "document")
    assert [(each["name"], each["part"], each["muc"]["f1"]) for each in scores["documents"]] == [  # type: ignore[attr-defined]
        ("nw/a", 0, 0),
        ("bc/b", 1, 100),
    ]


def test_per_genre(key: Path, response: Path) -> None:
    genres = scored(key, response, "--per", "genre")["genres"]
    assert isinstance(genres, dict)
    assert {genre: each["muc"]["f1"] for genre, each in genres.items()} == {"nw": 0, "bc": 100}


def test_singletons_and_pronouns(key: Path, response: Path) -> None:
    assert scored(key, response, "--singletons", "drop")["mentions"] == pytest.approx(
        {"recall": 75, "precision": 75, "f1": 75}
    )
    # the key's cluster of Ann and she, the response's of Bob and she
    assert scored(key, response, "--pronouns")["mentions"] == {"recall": 50, "precision": 50, "f1": 50}


def test_a_table_for_people(key: Path, response: Path) -> None:
    result = run(key, response)
    assert result.exit_code == 0
    for label in ("recall", "precision", "F1", "mentions", "MUC", "B³", "CEAFm", "CEAFe", "BLANC", "LEA"):
        assert label in result.stdout
    assert "CoNLL F1" in result.stdout
    assert "2 documents" in result.stdout


@pytest.mark.parametrize(("per", "rows"), [("document", ["nw/a", "bc/b part 1"]), ("genre", ["nw", "bc"])])
def test_a_table_of_each(key: Path, response: Path, per: str, rows: list[str]) -> None:
    result = run(key, response, "--per", per)
    assert result.exit_code == 0
    for row in rows:
        assert row in result.stdout


def test_formats_may_differ_and_be_packed(key: Path, tmp_path: Path) -> None:
    packed = tmp_path / "same.conll.gz"
    packed.write_bytes(gzip.compress(key.read_bytes()))
    lines = tmp_path / "same.jsonl"
    lines.write_text(
        json.dumps(
            {
                "doc_key": "nw/a",
                "sentences": [["Ann", "saw", "Bob", ";", "she", "ran"]],
                "clusters": [[[0, 0], [4, 4]], [[2, 2]]],
            }
        )
        + "\n"
    )
    assert scored(key, packed)["conll_f1"] == 100
    assert scored(key, lines, "--allow-missing")["muc"] == {
        "recall": 50,
        "precision": 100,
        "f1": pytest.approx(200 / 3),
    }


def test_the_format_can_be_named(tmp_path: Path) -> None:
    named = tmp_path / "gold.key"
    named.write_text(GOLD)
    assert scored(named, named, "--format", "conll")["conll_f1"] == 100


def test_a_folder_is_all_its_files_of_known_formats(key: Path, tmp_path: Path) -> None:
    folder = tmp_path / "parts" / "more"
    folder.mkdir(parents=True)
    first, second = GUESS.split("#end document\n")[:2]
    (folder / "b.conll").write_text(first + "#end document\n")
    (folder.parent / "a.conll").write_text(second + "#end document\n")
    (folder / "README.md").write_text("not a document")
    assert scored(key, folder.parent)["muc"] == {"recall": 50, "precision": 50, "f1": 50}


def test_a_folder_without_documents_is_an_error_that_names_it(key: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = run(key, tmp_path / "empty")
    assert isinstance(result.exception, InputError)
    assert str(tmp_path / "empty") in str(result.exception)


def test_standard_input(key: Path) -> None:
    result = CliRunner().invoke(app, ["score", str(key), "-", "--format", "conll", "--json"], input=GUESS)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["muc"]["f1"] == 50


def test_a_missing_document_is_an_error_that_names_it(key: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.conll"
    part.write_text(conll(("nw/a", 0, "Ann:(0) saw Bob:(1) ; she:(0) ran")))
    for arguments, has, lacks in (((key, part), key, part), ((part, key), key, part)):
        result = run(*arguments)
        assert isinstance(result.exception, UnmatchedError)
        message = str(result.exception)
        assert f"{has} has a document that {lacks} lacks: bc/b part 1" in message
        assert "--allow-missing" in message
    assert scored(key, part, "--allow-missing")["muc"] == pytest.approx({"recall": 50, "precision": 100, "f1": 200 / 3})


def test_a_file_that_is_not_there_is_an_error_that_names_it(key: Path, tmp_path: Path) -> None:
    result = run(key, tmp_path / "nowhere.conll")
    assert isinstance(result.exception, InputError)
    assert "nowhere.conll" in str(result.exception)


def test_bad_brackets_are_an_error_that_names_file_and_line(key: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.conll"
    broken.write_text(GOLD.replace("(1)", "1)", 1))
    result = run(key, broken)
    assert isinstance(result.exception, InputError)
    assert "broken.conll:4" in str(result.exception)


def test_unknown_options_are_refused(key: Path) -> None:
    assert run(key, key, "--singletons", "some").exit_code == 2
    assert run(key, key, "--per", "sentence").exit_code == 2

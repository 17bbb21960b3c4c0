"""`corefine convert`: files, folders, globs and streams."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from corefine import Document, SplitSpan, read_all, write
from corefine.cli import app, main
from corefine.errors import LossError

ANN = Document.from_sentences("nw/ann", [["Ann", "ran", "."], ["She", "fell", "."]], [[(0, 0), (3, 3)]], genre="nw")
BO = Document.from_sentences("bo", [["Bo", "sat", "."]], [[(0, 0)]], part=1)


def run(*arguments: object, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["convert", *map(str, arguments)], input=stdin)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    write([ANN], folder / "one.conll")
    write([BO], folder / "deep" / "two.jsonl.gz")
    (folder / "notes.md").write_text("no corpus")
    (folder / ".hidden.jsonl").write_text("no corpus")
    return folder


def test_a_file(corpus: Path, tmp_path: Path) -> None:
    result = run(corpus / "one.conll", tmp_path / "out.jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "1 documents, 2 mentions" in result.stderr
    assert read_all(tmp_path / "out.jsonl") == [ANN]
    assert run(tmp_path / "out.jsonl", tmp_path / "out.conllu").exit_code == 0
    assert run(tmp_path / "out.conllu", tmp_path / "back.conll").exit_code == 0
    assert read_all(tmp_path / "back.conll") == [ANN]


def test_a_folder_into_one_file_and_into_another_folder(corpus: Path, tmp_path: Path) -> None:
    assert run(corpus, tmp_path / "all.jsonl").exit_code == 0
    assert read_all(tmp_path / "all.jsonl") == [BO, ANN]
    assert run(corpus, tmp_path / "out", "--to", "conll").exit_code == 0
    written = sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*"))
    assert written == ["deep/two.conll.gz", "one.conll"]
    assert read_all(tmp_path / "out" / "deep" / "two.conll.gz") == [BO]


def test_one_file_a_document(corpus: Path, tmp_path: Path) -> None:
    result = run(corpus, tmp_path / "brat", "--to", "brat", "--lossy")
    assert result.exit_code == 0
    assert "lost: genre: 1" in result.stderr
    written = sorted(str(path.relative_to(tmp_path)) for path in (tmp_path / "brat").rglob("*.*"))
    assert written == ["brat/deep/bo.part1.ann", "brat/deep/bo.part1.txt", "brat/nw%2Fann.ann", "brat/nw%2Fann.txt"]
    assert run(tmp_path / "brat", tmp_path / "back.jsonl").exit_code == 0
    assert [(d.key, d.clusters) for d in read_all(tmp_path / "back.jsonl")] == [
        (BO.key, BO.clusters),
        (ANN.key, ANN.clusters),
    ]


def test_a_glob(corpus: Path, tmp_path: Path) -> None:
    assert run(corpus / "**" / "*.jsonl.gz", tmp_path / "out.jsonl").exit_code == 0
    assert read_all(tmp_path / "out.jsonl") == [BO]
    assert run(corpus / "*", tmp_path / "mirror", "--to", "jsonl", "--from", "conll").exit_code != 0


def test_streams(corpus: Path) -> None:
    packed = (corpus / "deep" / "two.jsonl.gz").read_bytes()
    result = run("-", "-", "--from", "jsonl", "--to", "conll", "--json", stdin=packed)
    assert result.exit_code == 0
    assert result.stdout.startswith("#begin document (bo); part 001\n")
    assert json.loads(result.stderr)["documents"] == 1
    for missing in (["-", "x.jsonl"], [str(corpus / "one.conll"), "-"]):
        result = run(*missing, stdin=b"")
        assert "name one of conll" in str(result.exception)


def test_what_would_be_lost_is_refused_by_name(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.conll"
    split = Document.from_sentences("bo", ANN.sentences, [[SplitSpan([(0, 0), (2, 2)]), (3, 3)]])
    write([ANN, split], source)
    result = run(source, target)
    assert isinstance(result.exception, LossError)
    assert "conll cannot express: discontinuous mentions (1)" in str(result.exception)
    assert not target.exists()
    result = run(source, target, "--lossy", "--json")
    assert json.loads(result.stdout) == {
        "files": 1,
        "documents": 2,
        "mentions": 4,
        "lost": {"discontinuous mentions": 1},
        "repaired": 0,
        "left_out": 0,
    }
    assert [len(d.mentions) for d in read_all(target)] == [2, 2]


BROKEN = b"#begin document (bad); part 000\nd 0 0 w (1\n#end document\n"
SOUND = b"#begin document (good); part 000\nd 0 0 w (1)\n#end document\n"


def test_a_document_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "in.conll").write_bytes(BROKEN + SOUND + SOUND)
    target = tmp_path / "out.jsonl"
    result = run(tmp_path / "in.conll", target)
    assert result.exit_code != 0
    assert not target.exists()
    assert "unreadable: " in result.stderr
    assert "in.conll:2, document bad, token 0: entity 1 is opened here but not closed" in result.stderr
    assert "repaired: " in result.stderr
    result = run(tmp_path / "in.conll", target, "--skip-faulty", "--json")
    assert json.loads(result.stdout)["left_out"] == 1
    assert [d.name for d in read_all(target)] == ["good", "good"]


def test_text_and_its_language(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ana corre. Ella cae.")
    assert run(tmp_path / "a.txt", tmp_path / "a.jsonl", "--language", "es").exit_code == 0
    (document,) = read_all(tmp_path / "a.jsonl")
    assert (document.name, document.language, document.text) == ("a", "es", "Ana corre. Ella cae.")
    assert document.offsets is not None


def test_no_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["corefine", "convert", str(tmp_path / "none.conll"), str(tmp_path / "x.jsonl")])
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err == f"corefine: {tmp_path}/none.conll: there is no such file or folder\n"


def test_two_documents_of_one_name_do_not_go_into_one_file(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write([ANN], tmp_path / "in" / folder / "x.conll")
    refused = run(tmp_path / "in", tmp_path / "all.jsonl")
    assert refused.exit_code != 0
    assert "both hold a document called nw/ann" in str(refused.exception)
    assert not (tmp_path / "all.jsonl").exists()
    assert run(tmp_path / "in", tmp_path / "out", "--to", "jsonl").exit_code == 0

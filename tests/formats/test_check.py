"""`corefine check`: every fault of every file, and an exit code that says whether there was any."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from corefine.cli import app
from corefine.errors import InputError

GOOD = "#begin document (good); part 000\nd 0 0 w (1)\n#end document\n"
BAD = "#begin document (bad); part 000\nd 0 0 a (1\nd 0 1 b 2)\n\nd 0 0 c (3)(4)\n#end document\n"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["check", *map(str, arguments)])


def test_no_faults(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text(GOOD)
    result = run(tmp_path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "no faults in 1 files, 1 documents read\n"


def test_every_fault_is_listed_and_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_bytes(b"\xef\xbb\xbf" + (BAD + GOOD + GOOD).replace("\n", "\r\n").encode())
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.jsonl").write_bytes(b'{"tokens": ["\xff"]}\n{"doc_key": "e", "sentences": []}\n{\n')
    (tmp_path / "c.txt").write_text("Ann ran.")
    (tmp_path / "c.ann").write_text("T1\tPerson 0 99\tAnn\n")
    (tmp_path / "empty.conllu").write_text("")
    result = run(tmp_path)
    assert result.exit_code == 1
    expected = [
        "a.conll:1: a byte order mark at the start",
        "a.conll:1: lines end in CRLF",
        "a.conll:3, document bad, token 1: entity 2 is closed here but not open",
        "a.conll:2, document bad, token 0: entity 1 is opened here but not closed",
        "a.conll:5, document bad, token 2: span 2-2 is in two clusters, kept in entity 3 and left out of 4",
        "a.conll:10, document good: another document of this file has the same name and part",
        "c.ann:1, document c: offsets 0 99 of T1 are outside the text of 8 characters",
        "deep/b.jsonl:1: bad UTF-8: byte 0xff at byte 14 of the line (invalid start byte)",
        "deep/b.jsonl:2, document e: the document has no tokens",
        "deep/b.jsonl:3: this is not JSON with one object a line: "
        "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        "empty.conllu: the file holds no document",
    ]
    assert result.stdout.splitlines() == [f"{tmp_path}/{line}" for line in expected]
    assert result.stderr == "11 faults in 4 files, 3 documents read\n"


def test_json(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text(BAD)
    result = run(tmp_path / "a.conll", "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert (report["files"], report["documents"]) == (1, 0)
    assert report["faults"][0] == {
        "what": "entity 2 is closed here but not open",
        "path": str(tmp_path / "a.conll"),
        "line": 3,
        "document": "bad",
        "token": 1,
        "fatal": True,
    }


def test_what_cannot_be_checked(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text(GOOD)
    for arguments in (
        [tmp_path / "none"],
        ["n" * 5000],
        ["a\0b"],
        [tmp_path],
        [tmp_path / "a.xyz", "--format", "nonsense"],
    ):
        assert isinstance(run(*arguments).exception, InputError)
    assert run(tmp_path / "a.xyz", "--format", "conll").exit_code == 0
    assert run().exit_code == 2


def test_standard_input() -> None:
    result = CliRunner().invoke(app, ["check", "-"], input=GOOD.encode())
    assert (result.exit_code, result.stderr) == (0, "no faults in 1 files, 1 documents read\n")
    result = CliRunner().invoke(app, ["check", "-", "--format", "conll"], input=BAD.encode())
    assert result.exit_code == 1
    assert "<stdin>:3, document bad" in result.stdout

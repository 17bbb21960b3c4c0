"""`corefine predict`: files, folders and streams, from any format into any other."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from corefine.cli import app, output
from corefine.errors import CorefineError, InputError, LossError
from corefine.formats import read_all
from corefine.models.network.config import EncoderConfig, HeadConfig, ModelConfig
from corefine.models.network.model import Model
from corefine.models.storage.checkpoint import save_model

TEXT = "Anna slept. She sang. Tom left."
CONLL = (
    "#begin document (d); part 000\n"
    + "".join(f"d 0 {number} {word} - - - - - - * -\n" for number, word in enumerate(["Anna", "saw", "Anna", "."]))
    + "\n#end document\n"
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model that links something: every span to the one before it."""
    import torch

    folder = tmp_path_factory.mktemp("model")
    config = ModelConfig(
        EncoderConfig(kind="bilstm", word_width=8, char_width=4, char_filters=4, hidden=8, vocabulary=50),
        HeadConfig(max_span_width=1, candidates=10, hidden=8, pair_width=8, feature_width=4, spans_per_word=1.0),
    )
    made = Model.create(config)
    with torch.no_grad():
        made.ranker.pair.score.bias.fill_(50.0)
    save_model(folder, made)
    return folder


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def predict(model: Path, *arguments: object, stdin: bytes | None = None) -> Result:
    command = ["predict", *(str(argument) for argument in arguments), "--model", str(model), "--device", "cpu"]
    return CliRunner().invoke(app, command, input=stdin)


def done(result: Result) -> Result:
    assert result.exit_code == 0, (result.output, result.exception)
    return result


def test_a_text_becomes_json_lines_with_entities(model: Path) -> None:
    Path("a.txt").write_text(TEXT)
    done(predict(model, "a.txt", "b.jsonl"))
    (document,) = read_all("b.jsonl")
    assert document.text == TEXT
    assert document.clusters


def test_conll_keeps_its_format_and_gets_new_entities(model: Path) -> None:
    Path("a.conll").write_text(CONLL.replace("* -\n", "* (7)\n", 1))
    done(predict(model, "a.conll", "b.conll"))
    (document,) = read_all("b.conll")
    assert document.tokens == ("Anna", "saw", "Anna", ".")
    assert len(document.clusters) == 1
    assert len(document.clusters[0]) == 4


def test_a_folder_gives_a_folder(model: Path) -> None:
    Path("in/sub").mkdir(parents=True)
    Path("in/a.txt").write_text(TEXT)
    Path("in/sub/b.conll.gz").write_bytes(gzip.compress(CONLL.encode()))
    Path("in/notes.md").write_text("not a document")
    done(predict(model, "in", "out"))
    found = sorted(path.relative_to("out").as_posix() for path in Path("out").rglob("*") if path.is_file())
    assert found == ["a.jsonl", "sub/b.conll.gz"]
    assert read_all("out/sub/b.conll.gz")[0].clusters


def test_a_folder_into_one_file_or_a_stream(model: Path) -> None:
    Path("in").mkdir()
    for name in ("a", "b"):
        Path(f"in/{name}.txt").write_text(TEXT)
    done(predict(model, "in", "out.jsonl"))
    assert [document.name for document in read_all("out.jsonl")] == ["a", "b"]
    assert len(done(predict(model, "in", "-")).stdout.splitlines()) == 2


def test_a_folder_in_a_named_format(model: Path) -> None:
    Path("in").mkdir()
    Path("in/b.conll").write_text(CONLL)
    done(predict(model, "in", "out", "--to", "jsonl"))
    assert [path.name for path in Path("out").iterdir()] == ["b.jsonl"]


def test_a_file_into_a_folder_that_is_there(model: Path) -> None:
    Path("a.txt").write_text(TEXT)
    Path("out").mkdir()
    done(predict(model, "a.txt", "out"))
    assert Path("out/a.jsonl").is_file()


def test_streams(model: Path) -> None:
    result = done(predict(model, "-", "-", "--from", "text", "--to", "jsonl", stdin=TEXT.encode()))
    assert json.loads(result.stdout)["clusters"]


def test_a_summary_for_programs(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is all that stderr has: no progress, however long it takes."""
    monkeypatch.setattr(output, "QUIET_SECONDS", 0.0)
    Path("a.txt").write_text(TEXT)
    result = done(predict(model, "a.txt", "b.jsonl", "--json"))
    summary = json.loads(result.stderr)
    assert summary["documents"] == 1
    assert summary["tokens"] == 9
    assert summary["entities"] == 1


@pytest.mark.parametrize("text", ["", "\n", "x"])
def test_next_to_nothing(model: Path, text: str) -> None:
    Path("a.txt").write_text(text)
    done(predict(model, "a.txt", "b.jsonl"))
    assert [document.clusters for document in read_all("b.jsonl")] == [()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.txt", "b.jsonl"], "no such file"),
        (["a.xyz", "b.jsonl"], "tells its format"),
        (["empty", "out"], "no file of a known format"),
        (["full", "a.xyz"], "must be one too"),
        (["full", "out"], "would both be written to out/a.jsonl"),
        (["-", "b.jsonl"], "format"),
    ],
)
def test_what_cannot_be_is_refused(model: Path, arguments: list[str], message: str) -> None:
    Path("a.xyz").write_text(TEXT)
    Path("empty").mkdir()
    Path("full").mkdir()
    Path("full/a.txt").write_text(TEXT)
    Path("full/a.jsonl").write_text("")
    result = predict(model, *arguments)
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)


def test_what_the_format_cannot_hold_is_refused_unless_allowed(model: Path) -> None:
    """Plain text has no entities; nothing is written before that is said."""
    Path("a.txt").write_text(TEXT)
    result = predict(model, "a.txt", "b.txt")
    assert isinstance(result.exception, LossError)
    assert not Path("b.txt").exists()
    done(predict(model, "a.txt", "b.txt", "--lossy"))
    assert Path("b.txt").read_text() == TEXT


def test_a_fault_in_the_input_is_named_and_leaves_no_half_written_file(model: Path) -> None:
    Path("a.conll").write_text(CONLL + CONLL.replace("* -\n", "* (1\n").replace("(d)", "(e)"))
    result = predict(model, "a.conll", "b.conll")
    assert isinstance(result.exception, CorefineError)
    assert "a.conll" in str(result.exception)
    assert not Path("b.conll").exists()


def test_the_model_must_be_there(tmp_path: Path) -> None:
    result = predict(tmp_path / "none", "a", "b")
    assert "holds no model" in str(result.exception)
    assert "torch" in sys.modules


def test_corefud_gets_new_entities_in_place_of_the_old(model: Path) -> None:
    """What the file said of its own entities (types, heads, empty nodes) does not cling to those that were found."""
    rows = [
        "1\tAnna\tAnna\tPROPN\t_\t_\t2\tnsubj\t_\tEntity=(e1-person-1)",
        "2\tsaw\tsee\tVERB\t_\t_\t0\troot\t_\t_",
        "3\therself\therself\tPRON\t_\t_\t2\tobj\t_\tEntity=(e1-person-1)",
    ]
    head = "# global.Entity = eid-etype-head\n# newdoc id = d\n# sent_id = 1\n# text = Anna saw herself\n"
    Path("a.conllu").write_text(head + "\n".join(rows) + "\n\n")
    done(predict(model, "a.conllu", "b.conllu"))
    (document,) = read_all("b.conllu")
    assert document.tokens == ("Anna", "saw", "herself")
    assert [len(cluster) for cluster in document.clusters] == [3]
    assert document.layers["upos"] == ("PROPN", "VERB", "PRON")


def test_what_cannot_be_read_or_written_is_told_before_anything_is_predicted(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("in").mkdir()
    Path("in/a.txt").write_text(TEXT, "utf-8")
    monkeypatch.setattr(Model, "predict", lambda *_: pytest.fail("it was predicted"))
    refused = predict(model, "in", "all.conll")
    assert isinstance(refused.exception, LossError)
    assert "source text" in str(refused.exception)
    Path("in/b.txt").write_bytes("né".encode("latin-1"))
    unreadable = predict(model, "in", "out/")
    assert isinstance(unreadable.exception, InputError)
    assert "b.txt" in str(unreadable.exception)
    assert not Path("out").exists()


def test_documents_of_one_name_do_not_go_into_one_file(model: Path) -> None:
    for folder in ("in/a", "in/b"):
        Path(folder).mkdir(parents=True)
        Path(folder, "x.txt").write_text(TEXT, "utf-8")
    refused = predict(model, "in", "all.jsonl")
    assert isinstance(refused.exception, InputError)
    assert "both hold a document called x" in str(refused.exception)
    done(predict(model, "in", "out/"))
    assert sorted(str(path) for path in Path("out").rglob("*.jsonl")) == ["out/a/x.jsonl", "out/b/x.jsonl"]


def test_documents_that_cannot_be_read_are_left_out(model: Path) -> None:
    Path("in").mkdir()
    Path("in/a.txt").write_text(TEXT, "utf-8")
    Path("in/b.txt").write_bytes("né".encode("latin-1"))
    told = done(predict(model, "in", "all.jsonl", "--skip-faulty")).stderr
    assert told.count("b.txt") == 1
    assert [document.name for document in read_all("all.jsonl")] == ["a"]


def test_a_language_that_the_model_does_not_know_is_told() -> None:
    german = "Die Frau ging mit dem Hund in den Wald. Sie war müde, und er war es auch. Dann kamen sie nach Hause."
    arguments = ["predict", "-", "-", "--from", "text", "--to", "jsonl", "--model", "rules"]
    told = done(CliRunner().invoke(app, arguments, input=german.encode())).stderr
    assert "1 document is in German, and the model rules knows only English" in told
    told = done(CliRunner().invoke(app, [*arguments, "--json"], input=german.encode())).stderr
    assert json.loads(told.splitlines()[-1])["foreign"] == {"German": 1}
    told = done(CliRunner().invoke(app, arguments, input=TEXT.encode())).stderr
    assert "knows only" not in told

"""`corefine train`: what it writes, resumes, shows and refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import corefine
from corefine.cli import app
from corefine.cli.train import _say_what_is_english
from corefine.document import Document
from corefine.errors import ConfigError, InputError
from corefine.formats import write
from corefine.models.committee import committee_members
from corefine.models.training.recipe import Recipe, TrainingConfig, load_recipe, recipe_names

TINY = """
[model.encoder]
kind = "bilstm"
fine_tune = true
word_width = 8
char_width = 4
char_filters = 4
hidden = 8
vocabulary = 50

[model.head]
max_span_width = 3
candidates = 10
hidden = 16
pair_width = 8
feature_width = 4

[training]
epochs = 2
patience = 0
"""


def corefine_(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus of a few documents with all splits."""
    made = {
        split: [
            Document.from_sentences(
                f"{split}-{number}", [["Anna", "slept", "."], ["She", "sang", "."]] * 3, [[(0, 0), (3, 3), (6, 6)]]
            )
            for number in range(count)
        ]
        for split, count in (("train", 4), ("dev", 2), ("test", 1))
    }
    for split, documents in made.items():
        write(documents, tmp_path / "corpus" / f"{split}.jsonl")
    return tmp_path / "corpus"


def events(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, (result.output, result.exception)
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_model_is_trained_scored_and_loads(folder: Path, recipe: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    found = events(corefine_("train", folder, "--out", out, "--config", recipe, "--score-test", "--json"))
    assert [event["event"] for event in found if event["event"] != "NewBest"][-2:] == ["Stopped", "Tested"]
    assert found[-1]["corpus"] == "corpus"
    assert corefine.load(out, device="cpu").predict("Anna slept.").document
    trained = json.loads((out / "model.json").read_text())["trained"]
    assert trained["data"][0]["name"] == "corpus"
    assert trained["documents"] == 4


def test_plain_lines_where_there_is_no_terminal(folder: Path, recipe: Path, tmp_path: Path) -> None:
    result = corefine_("train", folder, "--out", tmp_path / "model", "--config", recipe)
    assert result.exit_code == 0, result.output
    assert "4 documents" in result.stderr
    assert "epoch 2 of 2: loss" in result.stderr
    assert "stopped: all 2 epochs are done" in result.stderr


def test_resuming_a_finished_run_changes_nothing(folder: Path, recipe: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    arguments = ("train", folder, "--out", out, "--config", recipe, "--json")
    events(corefine_(*arguments))
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    again = events(corefine_(*arguments, "--resume"))
    assert [event["event"] for event in again] == ["Started", "Stopped"]
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_warm_start_takes_the_other_models_settings(folder: Path, recipe: Path, tmp_path: Path) -> None:
    events(corefine_("train", folder, "--out", tmp_path / "a", "--config", recipe, "--json"))
    warm = corefine_(
        "train", folder, "--out", tmp_path / "b", "--warm", tmp_path / "a", "--set", "training.epochs=1", "--json"
    )
    assert [event["event"] for event in events(warm)].count("EpochStart") == 1
    assert json.loads((tmp_path / "b" / "model.json").read_text())["config"]["encoder"]["kind"] == "bilstm"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_committee(folder: Path, recipe: Path, tmp_path: Path, workers: int) -> None:
    """Members differ, are the same whether they train one after another or side by side, and load as one."""
    out = tmp_path / "committee"
    found = events(
        corefine_(
            *("train", folder, "--out", out, "--config", recipe, "--members", 2, "--workers", workers),
            *("--threads", 1, "--json"),
        )
    )
    assert {event["member"] for event in found} == {0, 1}
    alone = tmp_path / "alone"
    events(
        corefine_(
            *("train", folder, "--out", alone, "--config", recipe, "--set", "training.seed=2"),
            *("--threads", 1, "--json"),
        )
    )
    assert weights(out / "member-1") == weights(alone) != weights(out / "member-0")
    members = corefine.load(out, device="cpu").predict("Anna slept.").prediction.members
    assert members is not None
    assert len(members) == 2
    further = tmp_path / "further"
    corefine_("train", folder, "--out", further, "--config", recipe, "--warm", out, "--threads", 1, "--json")
    assert len(committee_members(further)) == 2  # a committee is trained further as one


def weights(folder: Path) -> bytes:
    (path,) = folder.glob("model-*.safetensors")
    return path.read_bytes()


@pytest.mark.parametrize(
    ("language", "changes", "said"),
    [
        ("es", (), "there are documents in es: letter case is a feature"),
        ("es", ("model.head.surface=false",), None),
        ("en", (), None),
    ],
)
def test_what_a_recipe_takes_from_english_is_said(
    recipe: Path, tmp_path: Path, language: str, changes: tuple[str, ...], said: str | None
) -> None:
    story = Document.from_sentences("cuento", [["Ana", "vino", "."], ["Ella", "ve", "."]] * 2, [[(0, 0), (3, 3)]])
    write([replace(story, language=language)], tmp_path / "corpus.jsonl")
    options = [part for change in ("training.epochs=1", *changes) for part in ("--set", change)]
    found = corefine_("train", tmp_path / "corpus.jsonl", "--out", tmp_path / "m", "--config", recipe, *options)
    assert found.exit_code == 0, found.output
    told = [line for line in found.stderr.splitlines() if line.startswith("there are documents")]
    assert len(told) == (said is not None)
    assert said is None or told[0].startswith(said)


@pytest.mark.parametrize("path", ["minilm", "roberta-base", "xlm-roberta-base"])
def test_an_english_encoder_for_another_language_is_named(capsys: pytest.CaptureFixture[str], path: str) -> None:
    chosen = Recipe().with_settings(["model.encoder.kind=transformer", f"model.encoder.path={path}"])
    _say_what_is_english(chosen, [Document.from_sentences("cuento", [["Ana"]], language="es")])
    assert (f"the encoder {path} was pretrained on English" in capsys.readouterr().err) == (path != "xlm-roberta-base")


def test_a_tenth_is_held_out_where_there_is_no_dev(folder: Path, recipe: Path, tmp_path: Path) -> None:
    result = corefine_("train", folder / "train.jsonl", "--out", tmp_path / "model", "--config", recipe)
    assert "the last 1 of 4 are held out" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--out", "x"], "neither a file, a folder, nor a corpus"),
        (["--out", "x"], "at least one corpus"),
        (["{folder}", "--out", "x", "--config", "nowhere.toml"], "cannot be read"),
        (["{folder}", "--out", "x", "--set", "training.epoch=5"], "no such setting"),
        (["{folder}", "--out", "x", "--set", "training.epochs=0"], "at least 1"),
        (["{folder}", "--out", "x", "--config", "{recipe}", "--device", "abacus"], "no device"),
        (["{folder}", "--out", "x", "--config", "{recipe}", "--members", "0"], "at least one member"),
        (["{folder}", "--out", "x", "--warm", "{folder}"], "holds no model"),
    ],
)
def test_what_cannot_be_is_refused(
    folder: Path, recipe: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    result = corefine_("train", *(argument.format(folder=folder, recipe=recipe) for argument in arguments))
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)


def test_the_settings_it_shows_are_a_recipe(tmp_path: Path) -> None:
    result = corefine_("train", "--show-config")
    path = tmp_path / "shown.toml"
    path.write_text(result.stdout)
    assert load_recipe(path) == load_recipe("default")
    assert "# Maximum number of epochs.\nepochs = 15\n" in result.stdout


@pytest.mark.parametrize("name", recipe_names())
def test_recipes_that_ship_can_be_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "again.toml"
    path.write_text(load_recipe(name).to_toml())
    assert load_recipe(path) == load_recipe(name)


@pytest.mark.parametrize("text", ["[training]\nepoch = 3", "[trainin]", "[model.head]\nheight = 2", "= 3", "\x00"])
def test_a_recipe_with_something_unknown_names_the_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"bad\.toml"):
        load_recipe(path)


def test_an_empty_recipe_is_the_default_model(tmp_path: Path) -> None:
    path = tmp_path / "empty.toml"
    path.write_text("")
    assert load_recipe(path) == Recipe()
    assert load_recipe(path).training == TrainingConfig()

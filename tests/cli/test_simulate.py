"""`corefine simulate`, `corefine reproduce` and `corefine plot` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import corefine
from corefine.cli import app
from corefine.cli.options import with_ray_value
from corefine.errors import ConfigError, CorefineError, InputError
from corefine.simulation.config import SimulationConfig
from helpers.small import stories

RULES = ("--corpus", "stories", "--learner", "rules")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def done(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def test_a_run_says_what_each_round_brought(tmp_path: Path) -> None:
    output = done("simulate", *RULES, "--out", tmp_path / "run", "--documents", 4, "--questions", 30)
    lines = output.splitlines()
    assert "trained on everything" in lines[3]
    assert "questions" in lines[0]
    assert lines[-1].startswith("selection and closure: ")


def test_flags_go_before_the_file_and_the_file_before_defaults(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('corpus = "stories"\nlearner = "rules"\nquestions = 10\nseed = 4\n')
    printed = tmp_path / "printed.toml"
    printed.write_text(done("simulate", "--config", path, "--seed", 7, "--print-config"))
    settings = SimulationConfig.from_toml(printed)
    assert (settings.seed, settings.questions, settings.initial) == (7, 10, 0.25)
    printed.write_text(done("simulate", "--config", path, "--seconds", 90, "--print-config"))
    assert SimulationConfig.from_toml(printed).seconds == 90


def test_single_settings_of_the_recipe_can_be_changed(tmp_path: Path) -> None:
    printed = tmp_path / "printed.toml"
    printed.write_text(done("simulate", "--set", "training.epochs=3", "--set", "rounds.epochs=1", "--print-config"))
    assert SimulationConfig.from_toml(printed).set == ("training.epochs=3", "rounds.epochs=1")
    result = run("simulate", "--corpus", "stories", "--set", "training.epocs=3", "--out", tmp_path / "run")
    assert "--set training.epocs=3: there is no such setting" in str(result.exception)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("option", ["--set=x=1", "--set=training.epochs=3", "--vectors=no.txt"])
def test_a_learner_without_a_recipe_refuses_changes_of_one(tmp_path: Path, option: str) -> None:
    result = run("simulate", *RULES, option, "--out", tmp_path / "run")
    assert isinstance(result.exception, ConfigError)
    assert "the learner 'rules' trains none" in str(result.exception)
    assert not (tmp_path / "run").exists()


def test_resuming_needs_no_flags_but_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    done("simulate", *RULES, "--out", folder, "--documents", 4, "--questions", 20, "--protocol", "discrete-only")
    rows = (folder / "rounds.jsonl").read_bytes()
    (folder / "rounds.jsonl").write_bytes(rows.splitlines(keepends=True)[0])
    done("simulate", "--out", folder, "--resume")
    assert (folder / "rounds.jsonl").read_bytes() == rows
    assert json.loads((folder / "config.json").read_bytes())["simulation"]["protocol"] == "follow-up"


def test_resuming_where_there_is_no_run_is_refused(tmp_path: Path) -> None:
    result = run("simulate", *RULES, "--out", tmp_path / "tpyo", "--resume")
    assert isinstance(result.exception, InputError)
    assert "holds no run" in str(result.exception)


def test_ray_may_be_given_without_an_address() -> None:
    assert list(with_ray_value(["--ray"])) == ["--ray", "local"]
    assert list(with_ray_value(["--ray", "--out", "x"])) == ["--ray", "local", "--out", "x"]
    assert list(with_ray_value(["--ray", "head:6379", "--out", "x"])) == ["--ray", "head:6379", "--out", "x"]


def test_what_the_grid_varies_is_not_set_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text('learner = "rules"\ncorpus = "stories"\nseed = 3\n')
    result = run("reproduce", "--config", tmp_path / "c.toml", "--out", tmp_path / "out", "--dry-run")
    assert "'seed', which the grid varies: see --seeds" in str(result.exception)


def test_resuming_with_other_settings_is_refused(tmp_path: Path) -> None:
    done("simulate", *RULES, "--out", tmp_path / "run", "--documents", 4, "--questions", 5)
    result = run("simulate", "--out", tmp_path / "run", "--resume", "--questions", 6)
    assert isinstance(result.exception, ConfigError)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--selector", "best"], "selector must be one of"),
        (["--corpus", "nowhere"], "nowhere is neither a file"),
        (["--protocol", "pairwise", "--selector", "committee"], "does not fit"),
        (["--documents", 1], "leave none to annotate"),
        (["--ray", "127.0.0.1:1"], "no Ray cluster answers"),
    ],
)
def test_bad_input_is_one_message(tmp_path: Path, arguments: list[object], message: str) -> None:
    result = run("simulate", *RULES, "--out", tmp_path / "run", *arguments)
    assert isinstance(result.exception, CorefineError)
    assert message in str(result.exception)


def test_no_folder_is_a_usage_error() -> None:
    assert run("simulate", *RULES).exit_code == 2


def test_explaining_ten_questions() -> None:
    output = done("simulate", *RULES, "--explain", "--questions", 100)
    assert output.count("  answer     ") == 10
    for word in ("asked", "score", "settled", "a new entity"):
        assert word in output
    assert "the largest of" in output


def test_explaining_when_the_budget_is_spent() -> None:
    assert "the budget is spent" in done("simulate", *RULES, "--explain", "--questions", 2, "--per", "document")


def test_a_grid_and_its_report(tmp_path: Path) -> None:
    base = tmp_path / "base.toml"
    base.write_text('learner = "rules"\ndocuments = 4\n')
    arguments = ["--corpus", "stories", "--config", base, "--budgets", "0,40", "--seeds", 1, "--groups", "main"]
    names = done("reproduce", "--out", tmp_path / "out", *arguments, "--dry-run").split()
    kinds = ("discrete-q40", "full-q40", "gold", "none-q0", "pairwise-q40", "random-q40")
    assert sorted(names) == [f"{kind}-s0" for kind in kinds]
    output = done("reproduce", "--out", tmp_path / "out", *arguments, "--workers", 1, "--no-report")
    assert "discrete-q40-s0: F1 dev" in output
    again = done("reproduce", "--out", tmp_path / "out", *arguments, "--workers", 1, "--no-report")
    assert again.count("(done before)") == 6
    drawn = done("plot", tmp_path / "out", "--out", tmp_path / "figures", "--no-closure-times")
    assert Path(drawn.strip()).is_file()
    assert (tmp_path / "figures" / "f1.pdf").is_file()


def test_the_papers_grid_runs_from_one_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the stories, with vectors of two numbers and a model as small; every kind of the preset once."""
    monkeypatch.setenv("COREFINE_HOME", str(tmp_path / "home"))
    vectors, base = tmp_path / "glove.txt", tmp_path / "base.toml"
    vectors.write_text("the 1 0\nhe 0 1\nshe 1 1\nit 0.5 0\n", encoding="utf-8")
    sizes = ["model.encoder.char_filters=2", "model.encoder.hidden=4", "model.head.hidden=4"]
    sizes += ["training.epochs=1", "rounds.epochs=1"]
    base.write_text(f"documents = 4\nrounds = 1\nset = {json.dumps(sizes)}\n", encoding="utf-8")
    output = done(
        *("reproduce", "--preset", "paper", "--corpus", "stories", "--vectors", vectors, "--config", base),
        *("--budgets", "2", "--seeds", 1, "--other-seeds", 1, "--workers", 1, "--device", "cpu"),
        *("--out", tmp_path / "out", "--no-report"),
    )
    kinds = ["discrete", "pairwise", "random", "committee", "lcc-mcu", "full", "unclustered", "per-document"]
    for name in (*(f"{kind}-q2-s0" for kind in kinds), "gold-s0"):
        assert f"{name}: F1 dev" in output
    done("plot", tmp_path / "out", "--out", tmp_path / "report", "--no-closure-times")
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "where these runs depart from the paper" in page
    assert "gold labels of all documents" in page
    assert (tmp_path / "report" / "paper.pdf").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--vectors", "glove.txt"), "word vectors are for the encoder bilstm, and this recipe has minilm"),
        (("--preset", "paper", "--vectors", "no.txt"), "cannot read the word vectors no.txt"),
        (("--preset", "paper", "--vectors", "two.txt", "--device", "abacus"), "there is no device 'abacus'"),
        (("--preset", "paper", "--set", "training.epoch=1"), "there is no such setting"),
        (("--preset", "paper"), "the preset paper needs word vectors"),
        (
            ("--preset", "paper", "--vectors", "two.txt", "--set", "model.encoder.word_width=50"),
            "the vectors in two.txt have 2 numbers, and the model's words have 50",
        ),
    ],
)
def test_what_a_grid_lacks_is_said_before_anything_runs(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COREFINE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    Path("two.txt").write_text("the 1 0\nhe 0 1\n", encoding="utf-8")
    result = run("reproduce", "--corpus", "stories", *arguments, "--out", tmp_path / "out", "--no-report")
    assert isinstance(result.exception, CorefineError)
    assert message in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_a_corpus_too_small_for_a_preset_is_refused(tmp_path: Path) -> None:
    corefine.write(stories().train[:6], tmp_path / "few.jsonl")
    (tmp_path / "rules.toml").write_text('learner = "rules"\n')
    where = ("--corpus", tmp_path / "few.jsonl", "--config", tmp_path / "rules.toml", "--out", tmp_path / "out")
    result = run("reproduce", "--preset", "paper", *where)
    assert "few.jsonl has 5 training documents, and this grid needs at least 8" in str(result.exception)


def test_cells_are_chosen_by_several_patterns(tmp_path: Path) -> None:
    chosen = ("--only", "ours-q20-s?", "--only", "full-*-s0")
    result = run("reproduce", "--preset", "new-field", "--out", tmp_path, *chosen, "--dry-run")
    wanted = {"ours-q20-s0", "ours-q20-s1", "ours-q20-s2", "full-q20-s0", "full-q40-s0", "full-q80-s0"}
    assert set(result.output.split()) == wanted


def test_grids_that_cannot_be_are_refused_before_anything_runs(tmp_path: Path) -> None:
    assert run("reproduce", "--out", tmp_path, "--budgets", "forty").exit_code == 2
    assert run("reproduce", "--out", tmp_path, "--only", "nothing-*").exit_code == 2
    result = run("plot", tmp_path)
    assert isinstance(result.exception, InputError)

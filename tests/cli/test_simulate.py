"""`corefine simulate`, `corefine reproduce` and `corefine plot` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from corefine.cli import app
from corefine.cli.options import with_ray_value
from corefine.errors import ConfigError, CorefineError, InputError
from corefine.simulation.config import SimulationConfig

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
    assert "trained anew on everything" in lines[1]
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
    assert sorted(names) == ["discrete-q40-s0", "none-q0-s0", "pairwise-q40-s0", "random-q40-s0"]
    output = done("reproduce", "--out", tmp_path / "out", *arguments, "--workers", 1, "--no-report")
    assert "discrete-q40-s0: F1 dev" in output
    again = done("reproduce", "--out", tmp_path / "out", *arguments, "--workers", 1, "--no-report")
    assert again.count("(done before)") == 4
    drawn = done("plot", tmp_path / "out", "--out", tmp_path / "figures", "--no-closure-times")
    assert Path(drawn.strip()).is_file()
    assert (tmp_path / "figures" / "f1.pdf").is_file()


def test_grids_that_cannot_be_are_refused_before_anything_runs(tmp_path: Path) -> None:
    assert run("reproduce", "--out", tmp_path, "--budgets", "forty").exit_code == 2
    assert run("reproduce", "--out", tmp_path, "--only", "nothing-*").exit_code == 2
    result = run("plot", tmp_path)
    assert isinstance(result.exception, InputError)

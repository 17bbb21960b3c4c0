from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from corefine.annotation.cost import CostModel
from corefine.errors import ConfigError
from corefine.simulation.config import SimulationConfig, as_toml, load_settings


def test_what_as_toml_writes_reads_back_the_same(tmp_path: Path) -> None:
    config = SimulationConfig.from_dict({"corpus": 'my "own"', "seconds": 90.5, "clustered": False, "seed": 3})
    path = tmp_path / "run.toml"
    path.write_text(as_toml(config))
    assert SimulationConfig.from_dict(load_settings(path)) == config


def test_every_setting_is_commented() -> None:
    lines = as_toml(SimulationConfig()).splitlines()
    assert all(comment.startswith("# ") for comment in lines[::2])
    assert len(tomllib.loads("\n".join(lines))) == len(lines) // 2 - 2  # seconds and starter are None


def test_an_unknown_key_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text("question = 40\n")
    with pytest.raises(ConfigError, match=r"run.toml sets 'question', which does not exist; there are .*questions"):
        load_settings(path)


def test_what_is_not_toml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text("questions 40")
    with pytest.raises(ConfigError, match="is not TOML"):
        load_settings(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"selector": "best"}, "selector must be one of committee, entropy"),
        ({"protocol": "ternary"}, "protocol must be one of discrete, pairwise, follow-up, full"),
        ({"closure": "sometimes"}, "closure must be one of incremental, per-document, off"),
        ({"labels": "gold"}, "labels must be one of"),
        ({"initial": 1.0}, "initial must be at least 0 and below 1"),
        ({"initial": 0.0}, "initial = 0 leaves nothing to learn from: name a starter"),
        ({"error_rate": 1.5}, "error_rate must be from 0 to 1"),
        ({"questions": -1}, "questions must be at least 0"),
        ({"questions": None}, "in questions or in seconds"),
        ({"questions": 4, "seconds": 60}, "in questions or in seconds"),
        ({"protocol": "pairwise", "selector": "lcc-mcu"}, "does not fit the protocol 'pairwise'"),
        ({"selector": "pairwise-entropy"}, "does not fit the protocol 'discrete'"),
        ({"selector": "committee", "committee": 1}, "a committee of 2 or more"),
        ({"selector": "committee", "learner": "rules"}, "the rules have no committee"),
        ({"round_epochs": 0}, "round_epochs must be at least 1"),
    ],
)
def test_values_that_cannot_be_are_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SimulationConfig.from_dict(values)


def test_what_is_left_out_follows_from_what_is_given() -> None:
    assert SimulationConfig.from_dict({"protocol": "pairwise"}).selector == "pairwise-entropy"
    assert SimulationConfig.from_dict({"protocol": "discrete-only"}).protocol == "follow-up"
    assert SimulationConfig.from_dict({"seconds": 60}).questions is None
    assert SimulationConfig.from_dict({"selector": "committee"}).members == 3
    assert SimulationConfig().members == 1
    assert SimulationConfig().cost == CostModel()


def test_every_setting_is_documented_with_its_default() -> None:
    page = (Path(__file__).parents[2] / "docs" / "simulation.md").read_text(encoding="utf-8")
    for each in fields(SimulationConfig):
        value = each.default
        shown = "-" if value is None else f"`{str(value).lower() if isinstance(value, bool) else value}`"
        assert f"| `{each.name}` | {shown} | {each.metadata['help']} |" in page

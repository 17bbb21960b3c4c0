"""One declaration of a setting gives its checks, its JSON and TOML, its documentation and its option."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
import typer
from typer.testing import CliRunner

from corefine.cli.options import with_settings
from corefine.config import Config, NonNegativeFloat, PositiveInt, Share, setting
from corefine.errors import ConfigError
from corefine.models.network.config import EncoderConfig, HeadConfig
from corefine.models.training.recipe import Recipe, RoundTrainingConfig, TrainingConfig
from corefine.project.store.settings import ProjectConfig
from corefine.simulation.config import SimulationConfig

DOCS = Path(__file__).parents[1] / "docs"


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


@dataclass(frozen=True, slots=True)
class Inner(Config):
    """The inner part."""

    depth: PositiveInt = setting(2, "How deep.")


@dataclass(frozen=True, slots=True)
class Example(Config):
    """An example."""

    renamed: ClassVar[Mapping[str, str]] = {"hue": "colour"}
    retired: ClassVar[frozenset[str]] = frozenset({"smell"})
    panels: ClassVar[Mapping[str, str]] = {"count": "Numbers"}

    name: str | None = setting(None, "A name.")
    colour: Colour = setting(Colour.RED, "red or green.")
    kind: Literal["big", "small"] = setting("big", "big or small.")
    bright: bool = setting(True, "Whether it shines.", flag="--bright/--dark")
    count: PositiveInt = setting(3, "How many.")
    rate: Share = setting(0.5, "How much of it.")
    limit: NonNegativeFloat | None = setting(None, "At most this.")
    size: PositiveInt | Literal["full"] = setting("full", "A number, or full.")
    layers: tuple[PositiveInt, ...] = setting((1, 2), "Which layers.")
    inner: Inner = field(default_factory=Inner)

    def _check(self) -> None:
        if self.kind == "small" and self.count > 10:
            raise ConfigError("a small one has a count of 10 at most")


OTHER = Example('ä "b"', Colour.GREEN, "small", False, 4, 1, 0.5, 7, (5,), Inner(9))


@pytest.mark.parametrize("config", [Example(), OTHER])
def test_settings_survive_json_and_toml(config: Example, tmp_path: Path) -> None:
    assert Example.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    path = tmp_path / "example.toml"
    path.write_text(config.to_toml(), encoding="utf-8")
    assert Example.from_toml(path) == config


def test_toml_says_what_each_setting_means() -> None:
    text = OTHER.to_toml()
    assert "# How many.\ncount = 4\n" in text
    assert "\n# The inner part.\n[inner]\n# How deep.\ndepth = 9\n" in text
    assert "# A name.\n# name =\n" in Example().to_toml()


def test_what_is_left_out_takes_its_default() -> None:
    assert Example.from_dict({"inner": {"depth": 5}}) == Example(inner=Inner(5))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"nme": "x"}, r"Example has no setting 'nme'; it has bright, colour, .*If a newer corefine"),
        ({"inner": {"dept": 1}}, r"Inner has no setting 'dept'; it has depth\."),
        ({"inner": 3}, "Example: inner must be a table of settings, not 3"),
        ({"name": 3}, "name must be a string or left out, not 3"),
        ({"colour": "blue"}, "colour must be one of red, green, not 'blue'"),
        ({"colour": []}, "colour must be one of red, green"),
        ({"kind": "huge"}, "kind must be one of big, small"),
        ({"bright": 1}, "bright must be true or false, not 1"),
        ({"count": True}, "count must be a whole number, not True"),
        ({"count": 2.0}, "count must be a whole number, not 2.0"),
        ({"count": 0}, "count must be at least 1, not 0"),
        ({"count": None}, "count must be a whole number, not None"),
        ({"rate": "half"}, "rate must be a number, not 'half'"),
        ({"rate": float("nan")}, "rate must be from 0 to 1"),
        ({"limit": -1}, "limit must be at least 0 or left out, not -1"),
        ({"size": "half"}, "size must be a whole number or 'full', not 'half'"),
        ({"layers": 1}, "layers must be a list, not 1"),
        ({"layers": [1, 0]}, "layers must be at least 1"),
        ({"kind": "small", "count": 11}, "a small one has a count of 10 at most"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_by_name(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Example.from_dict(values)


def test_values_are_checked_however_a_config_is_made() -> None:
    with pytest.raises(ConfigError, match="count must be at least 1"):
        Example(count=0)
    with pytest.raises(ConfigError, match="count must be at least 1"):
        replace(Example(), count=0)


def test_older_names_are_read() -> None:
    assert Example.from_dict({"hue": "green", "smell": None}) == Example(colour=Colour.GREEN)
    with pytest.raises(ConfigError, match="'smell'"):
        Example.from_dict({"smell": "sweet"})
    with pytest.raises(ConfigError, match="'hue'"):
        Example.from_dict({"hue": "green", "colour": "red"})


@pytest.mark.parametrize("text", ["count = 0", "cont = 1", "count", "= 3", "\x00", "[inner]\ndepth = 0"])
def test_errors_in_a_file_name_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"bad\.toml"):
        Example.from_toml(path)
    with pytest.raises(ConfigError, match=r"none\.toml cannot be read"):
        Example.read_toml(tmp_path / "none.toml")


def given(*arguments: str) -> dict[str, Any]:
    """What a command gets that has an option for each simple setting of the example."""
    found: dict[str, Any] = {}
    simple = [each.name for each in fields(Example) if each.name not in ("layers", "inner")]
    app = typer.Typer()

    @app.command()
    @with_settings(Example, *simple)
    def command(given: dict[str, Any], other: int = 1) -> None:
        found.update(given, other=other)

    result = CliRunner().invoke(app, [*arguments])
    assert result.exit_code == 0, result.output
    return found or {"output": result.output}


def test_each_setting_has_an_option() -> None:
    assert given() == {"other": 1}
    arguments = ("--other=2", "--colour=green", "--dark", "--count=5", "--limit=1.5", "--name=x", "--rate=1")
    values = given(*arguments)
    assert values.pop("other") == 2
    assert values == {"colour": "green", "bright": False, "count": 5, "limit": 1.5, "name": "x", "rate": 1.0}
    assert Example.from_dict(values).limit == 1.5
    shown = given("--help")["output"]
    assert all(word in shown for word in ("How many.", "Numbers", "--bright", "--dark"))


@pytest.mark.parametrize(
    ("config", "page"),
    [
        (SimulationConfig, "simulation.md"),
        (EncoderConfig, "model.md"),
        (HeadConfig, "model.md"),
        (TrainingConfig, "model.md"),
        (RoundTrainingConfig, "model.md"),
        (ProjectConfig, "annotate.md"),
    ],
)
def test_the_documentation_lists_every_setting(config: type[Config], page: str) -> None:
    assert config.to_markdown() in (DOCS / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("config", [Recipe, SimulationConfig, ProjectConfig])
def test_every_setting_is_explained(config: type[Config]) -> None:
    text = config().to_toml()
    assert tomllib.loads(text) == _without_none(config().to_dict())
    assert "# \n" not in text


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _without_none(value) if isinstance(value, dict) else value
        for name, value in values.items()
        if value is not None
    }


def test_a_project_of_an_older_version_keeps_its_protocol() -> None:
    assert ProjectConfig.from_dict({"mode": "pairwise", "overlap": 0.5}).protocol == "pairwise"

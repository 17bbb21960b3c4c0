"""Settings: how a config class declares them, and what is made from the declaration.

A config is a frozen dataclass derived from `Config`, with one field for each setting:

    @dataclass(frozen=True, slots=True)
    class TrainingConfig(Config):
        epochs: PositiveInt = setting(20, "Maximum number of epochs.")

The type says which values are allowed. JSON, TOML, the tables in docs/ and the options of commands
(`corefine.cli.options`) are made from the fields.
"""

from __future__ import annotations

import json
import tomllib
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

from corefine.errors import ConfigError

T = TypeVar("T")


class Limit(NamedTuple):
    """What a value must be besides its type: in words, and as a test."""

    rule: str
    holds: Callable[[Any], bool]


def at_least(least: float) -> Limit:
    return Limit(f"at least {least}", lambda value: value >= least)


PositiveInt = Annotated[int, at_least(1)]
NonNegativeInt = Annotated[int, at_least(0)]
PositiveFloat = Annotated[float, Limit("above 0", lambda value: value > 0)]
NonNegativeFloat = Annotated[float, at_least(0)]
Share = Annotated[float, Limit("from 0 to 1", lambda value: 0 <= value <= 1)]
ShareBelow1 = Annotated[float, Limit("at least 0 and below 1", lambda value: 0 <= value < 1)]


def setting(default: T, help: str, *, flag: str | None = None) -> T:
    """A field of a config: its default, what it means, and the name of its option if that differs."""
    return field(default=default, metadata={"help": help, "flag": flag})


@dataclass(frozen=True, slots=True)
class Config:
    """The base of all configs: checks its values, and reads and writes them."""

    renamed: ClassVar[Mapping[str, str]] = {}
    """Old names of settings, which are still read, and their new ones."""
    retired: ClassVar[frozenset[str]] = frozenset()
    """Settings that were removed. Files of older versions in which they are null can still be read."""
    panels: ClassVar[Mapping[str, str]] = {}
    """Headings in the help of a command: the first setting under each, and the heading."""

    def __post_init__(self) -> None:
        for name, kind in self.setting_types().items():
            value = getattr(self, name)
            try:
                object.__setattr__(self, name, _converted(value, kind))
            except ValueError as error:
                raise ConfigError(f"{type(self).__name__}: {name} must be {error}, not {value!r}") from None
        self._check()

    def _check(self) -> None:
        """Raise ConfigError unless the settings fit one another."""

    @classmethod
    def _completed(cls, values: dict[str, Any]) -> dict[str, Any]:
        """The values that `from_dict` was given, with those that follow from them."""
        return values

    @classmethod
    def setting_types(cls) -> dict[str, Any]:
        """The type of each setting, by name."""
        return _types(cls)  # type: ignore[arg-type]  # mypy takes types of frozen dataclasses for unhashable

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The config with these values, as JSON or TOML gives them; what is left out takes its default."""
        given = {name: value for name, value in values.items() if name not in cls.retired or value is not None}
        for old, new in cls.renamed.items():
            if old in given and new not in given:
                given[new] = given.pop(old)
        cls._check_names(given)
        return cls(**cls._completed(given))

    @classmethod
    def _check_names(cls, values: Mapping[str, Any]) -> None:
        known = cls.setting_types().keys()
        for name in values:
            if name not in known:
                raise ConfigError(
                    f"{cls.__name__} has no setting {name!r}; it has {', '.join(sorted(known))}. "
                    "If a newer corefine wrote it, upgrade."
                )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as `from_dict` takes them."""
        return {name: _plain(getattr(self, name)) for name in self.setting_types()}

    @classmethod
    def read_toml(cls, path: Path) -> dict[str, Any]:
        """The settings that a TOML file gives; only their names are checked."""
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
            cls._check_names(values)
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error}") from error
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigError(f"{path} is not TOML: {error}") from error
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from error
        return values

    @classmethod
    def from_toml(cls, path: Path) -> Self:
        """The config in a TOML file. Every error names the file."""
        values = cls.read_toml(path)
        try:
            return cls.from_dict(values)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from error

    def to_toml(self, section: str = "") -> str:
        """All settings as TOML, each under its meaning; those that are None are commented out."""
        text, tables = "", ""
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Config):
                name = f"{section}{each.name}"
                tables += f"\n# {value.__doc__}\n[{name}]\n{value.to_toml(f'{name}.')}"
            else:
                shown = (
                    f"# {each.name} ="
                    if value is None
                    else f"{each.name} = {json.dumps(_plain(value), ensure_ascii=False)}"
                )
                text += f"# {each.metadata['help']}\n{shown}\n"
        return text + tables

    @classmethod
    def to_markdown(cls) -> str:
        """The table of settings for docs/, without those that are tables themselves."""
        rows = ["| setting | default | |", "|---|---|---|"]
        for each in (each for each in fields(cls) if each.metadata):
            value = _plain(each.default)
            shown = "-" if value is None else f"`{value if isinstance(value, str) else json.dumps(value)}`"
            rows.append(f"| `{each.name}` | {shown} | {each.metadata['help']} |")
        return "\n".join(rows)


@cache
def _types(config: type[Config]) -> dict[str, Any]:
    hints = typing.get_type_hints(config, include_extras=True)
    return {each.name: hints[each.name] for each in fields(config)}


_IN_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a string", NoneType: "left out"}


def _converted(value: Any, kind: Any) -> Any:
    """The value as this type has it (JSON has neither tuples nor enums); ValueError says what it must be."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        value = _converted(value, arguments[0])
        _require(arguments[1].holds(value), arguments[1].rule)
    elif origin in (typing.Union, UnionType):
        return _converted_to_any(value, arguments)
    elif origin is Literal:
        _require(value in arguments, f"one of {', '.join(arguments)}" if len(arguments) > 1 else repr(arguments[0]))
    elif origin is tuple:
        _require(isinstance(value, list | tuple), "a list")
        return tuple(_converted(each, arguments[0]) for each in value)
    elif issubclass(kind, Enum):
        allowed = [each.value for each in kind]
        _require(value in allowed, f"one of {', '.join(allowed)}")
        return kind(value)
    elif issubclass(kind, Config):
        if isinstance(value, Mapping):
            return kind.from_dict(value)
        _require(isinstance(value, kind), "a table of settings")
    else:
        accepted = (int, float) if kind is float else kind
        _require(isinstance(value, accepted) and isinstance(value, bool) == (kind is bool), _IN_WORDS[kind])
    return value


def _converted_to_any(value: Any, kinds: tuple[Any, ...]) -> Any:
    rules = []
    for kind in kinds:
        try:
            return _converted(value, kind)
        except ValueError as error:
            rules.append(str(error))
    raise ValueError(" or ".join(rules))


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(rule)


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Config):
        return value.to_dict()
    if isinstance(value, tuple):
        return list(value)
    return value.value if isinstance(value, Enum) else value

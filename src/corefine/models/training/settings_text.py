"""All settings as a commented TOML text, made from the configuration classes themselves, so that it is never stale."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from corefine.models.network.config import Config
from corefine.models.training.recipe import Recipe

_COMMENT = re.compile(r"^    (\w+): [^#\n]*#\s*(.+)$", re.MULTILINE)


def commented(recipe: Recipe) -> str:
    """The recipe as TOML: every setting, its value, and what it means."""
    sections = (
        ("model.encoder", recipe.model.encoder),
        ("model.head", recipe.model.head),
        ("training", recipe.training),
    )
    return "\n".join(line for name, config in sections for line in _section(name, config))


def _section(name: str, config: Config) -> Iterator[str]:
    yield f"# {(type(config).__doc__ or '').splitlines()[0]}"
    yield f"[{name}]"
    comments = dict(_COMMENT.findall(inspect.getsource(type(config))))
    values = config.to_dict()
    for field in fields(config):  # type: ignore[arg-type]
        comment = f"  # {comments[field.name]}" if field.name in comments else ""
        value = values[field.name]
        yield f'# {field.name} = ""{comment}' if value is None else f"{field.name} = {_toml(value)}{comment}"
    yield ""


def _toml(value: Any) -> str:
    """A value as TOML writes it; what settings hold is the same in JSON, but for a float without a point."""
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)

"""Parts from outside: by the name of an entry point, or as `module:attribute`.

A package offers parts under entry points of the groups `corefine.formats`, `corefine.selectors`, `corefine.annotators`,
`corefine.models`, `corefine.encoders`, `corefine.label_policies` and `corefine.metrics`. A module that lies beside the
user's files needs no package: its parts are named `module:attribute`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from corefine.errors import InputError

T = TypeVar("T")


@cache
def installed(group: str) -> dict[str, EntryPoint]:
    """The parts of this group that installed packages offer, by name."""
    return {point.name: point for point in entry_points(group=f"corefine.{group}")}


def names_code(name: str) -> bool:
    """Whether the name is that of Python code, `module:attribute`."""
    module, _, attribute = name.partition(":")
    return attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))


def known(group: str, name: str) -> bool:
    """Whether the name is that of a part from outside. `module:attribute` is not looked up."""
    return names_code(name) or name in installed(group)


def find(group: str, name: str) -> Any:
    """The object of this name. Raises `InputError` if there is none, or if importing it fails."""
    try:
        if name in installed(group):
            return installed(group)[name].load()
        module, _, attribute = name.partition(":")
        if "" not in sys.path:
            sys.path.insert(0, "")  # a module beside the user's files
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"there is no {name}: {error}") from error
    except Exception as error:  # it is somebody else's code
        raise InputError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error


def named(group: str, name: str, own: Mapping[str, T], kind: type[T]) -> T:
    """The part of this name: one of corefine's own, or one from outside, which must be of the type `kind`."""
    if name in own:
        return own[name]
    if not known(group, name):
        raise InputError(f"{name!r} is none of the {group.replace('_', ' ')}; there are {', '.join(own)}")
    found = find(group, name)
    if not isinstance(found, kind):
        raise InputError(f"{name} is a {type(found).__name__}, not a {kind.__name__}")
    return found


def make(group: str, name: str, **settings: Any) -> Any:
    """What the object of this name makes when it is called."""
    found = find(group, name)
    if not callable(found):
        raise InputError(f"{name} cannot be called, to make one of {group}")
    try:
        return found(**settings)
    except Exception as error:  # as above
        raise InputError(f"{name}() failed: {type(error).__name__}: {error}") from error

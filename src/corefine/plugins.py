"""Finds parts that other packages or the user's own modules provide.

An installed package offers parts as entry points of the groups `corefine.formats`, `corefine.selectors`,
`corefine.annotators`, `corefine.models`, `corefine.encoders`, `corefine.label_policies` and `corefine.metrics`. A part
of any other module, installed or in the current folder, is named `module:attribute`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from corefine.errors import InputError

T = TypeVar("T")

TRUSTED = "COREFINE_CODE"
"""Environment variable: code (`module:attribute`, divided by commas) that a model's files may name."""


@cache
def installed(group: str) -> dict[str, EntryPoint]:
    """The entry points of this group, by name."""
    return {point.name: point for point in entry_points(group=f"corefine.{group}")}


def names_code(name: str) -> bool:
    """Whether the name has the form `module:attribute`."""
    module, _, attribute = name.partition(":")
    return attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))


def is_trusted(name: str) -> bool:
    """Whether this code may run although only a file names it: the user named it, or the environment does."""
    return name in os.environ.get(TRUSTED, "").split(",")


def trust(name: str) -> None:
    """Note that the user named this code, for this process and those that it starts."""
    if not is_trusted(name):
        os.environ[TRUSTED] = ",".join(filter(None, (os.environ.get(TRUSTED), name)))


def known(group: str, name: str) -> bool:
    """Whether the name is that of an installed part, or has the form `module:attribute`, which is not looked up."""
    return names_code(name) or name in installed(group)


def find(group: str, name: str) -> Any:
    """The object of this name. Raises `InputError` if there is none, or if importing it fails."""
    try:
        if name in installed(group):
            return installed(group)[name].load()
        module, _, attribute = name.partition(":")
        if "" not in sys.path:
            sys.path.insert(0, "")  # for modules in the current folder
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"there is no {name}: {error}") from error
    except Exception as error:  # code of others may raise anything
        raise InputError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error


def named(group: str, name: str, own: Mapping[str, T], kind: type[T]) -> T:
    """The part with this name: one of corefine's own, or one from outside, which must be a `kind`."""
    if name in own:
        return own[name]
    if not known(group, name):
        raise InputError(f"{name!r} is none of the {group.replace('_', ' ')}; there are {', '.join(own)}")
    found = find(group, name)
    if not isinstance(found, kind):
        raise InputError(f"{name} is a {type(found).__name__}, not a {kind.__name__}")
    return found


def make(group: str, name: str, **settings: Any) -> Any:
    """The result of calling the object with this name."""
    found = find(group, name)
    if not callable(found):
        raise InputError(f"{name} cannot be called, to make one of {group}")
    try:
        return found(**settings)
    except Exception as error:  # as above
        raise InputError(f"{name}() failed: {type(error).__name__}: {error}") from error

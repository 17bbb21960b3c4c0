"""Checked access to untrusted JSON: the objects of a file, and their fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, TypeVar

from corefine.formats.source import Line, Source

T = TypeVar("T")


class WrongError(Exception):
    """A field has the wrong type or value."""


def json_object(source: Source, line: Line) -> dict[str, Any] | None:
    """The object of a line, or None after reporting a fault."""
    what = line.damage
    record: Any = None
    try:
        if what is None:
            record = json_value(line.text)
    except ValueError as error:
        what = str(error)
    if what is None and isinstance(record, dict):
        return record
    source.fault(what or f"a {kind_of(record)} where an object is needed", line=line.number, document=None)
    return None


def json_value(text: str) -> Any:
    """The JSON value of a text. Raises `ValueError` with a message for people."""
    try:
        value = json.loads(text)
        if "\\u" in text:  # an escape may be half of a character
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("a \\u escape is half of a character") from error
    except RecursionError as error:
        raise ValueError("brackets are nested too deeply") from error
    except ValueError as error:
        raise ValueError(f"this is not JSON with one object a line: {error}") from error
    return value


def json_records(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with their lines: one object per line, or one JSON text, which may be a list."""
    lines: Iterator[Line] = (line for line in source.lines() if line.text.strip())
    first = next(lines, None)
    if first is None:
        return
    if not _is_object(first):
        whole = [first, *lines]
        value, fault = _value(whole)
        if fault is None or not any(map(_is_object, whole)):
            yield from _objects(source, value, fault, first.number)
            return
        lines = iter(whole[1:])  # one object per line, of which the first is broken
    for line in chain([first], lines):
        record = json_object(source, line)
        if record is not None:
            yield line.number, record


def _value(lines: list[Line]) -> tuple[Any, tuple[str, int] | None]:
    """The value of lines that are one JSON text; or what is wrong with it, and in which line."""
    for line in lines:
        if line.damage:
            return None, (line.damage, line.number)
    try:
        return json_value("\n".join(line.text for line in lines)), None
    except ValueError as error:
        return None, (str(error).replace(" with one object a line", ""), lines[0].number)


def _objects(
    source: Source, value: Any, fault: tuple[str, int] | None, line: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    if fault is not None:
        source.fault(fault[0], line=fault[1], document=None)
        return
    for record in value if isinstance(value, list) else [value]:
        if isinstance(record, dict):
            yield line, record
        else:
            source.fault(f"a {kind_of(record)} where an object is needed", line=line, document=None)


def _is_object(line: Line) -> bool:
    """Whether the line is a whole JSON object."""
    text = line.text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def name_and_part(record: dict[str, Any], otherwise: str) -> tuple[str, int]:
    """The name that `doc_key` gives, and the part; `otherwise` is the name of a document without one."""
    key = record.get("doc_key", otherwise)
    if not isinstance(key, str):
        key = json.dumps(key)
    name, part = record.get("name"), record.get("part")
    if isinstance(name, str) and type(part) is int and key == f"{name}_{part}":
        del record["name"], record["part"]
        return name, part
    return key, 0


def get_field(record: dict[str, Any], field: str, kind: type[T], default: Any) -> Any:
    """A field of this kind, or the default if it is missing or null."""
    value = record.get(field)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise WrongError(f"{field} is a {kind_of(value)}")
    return value


def as_list(value: object, field: str) -> list[Any]:
    if not isinstance(value, list):
        raise WrongError(f"{field} holds a {kind_of(value)} where a list is needed")
    return value


def as_pair(value: object, field: str) -> tuple[int, int]:
    if not (isinstance(value, list) and len(value) == 2 and type(value[0]) is int and type(value[1]) is int):
        raise WrongError(f"{field} holds {str(value)[:50]} where [start, end] is needed")
    return value[0], value[1]


def as_pairs(values: list[Any], field: str) -> list[tuple[int, int]]:
    """Many values as `as_pair` returns them. They are checked together first, which is faster than one by one."""
    are_pairs = set(map(type, values)) == {list} and set(map(len, values)) == {2}
    if are_pairs and set(map(type, chain.from_iterable(values))) == {int}:
        return [(start, end) for start, end in values]
    return [as_pair(value, field) for value in values]


def pairs_of(clusters: list[Any], field: str, bad: Callable[[str], None]) -> list[list[tuple[int, int]]]:
    """The pairs of each cluster. One that is not a pair is handed to `bad`, and left out."""
    found: list[list[tuple[int, int]]] = []
    for cluster in clusters:
        values = as_list(cluster, field)
        try:
            found.append(as_pairs(values, field))
        except WrongError:
            found.append([])
            for value in values:
                try:
                    found[-1].append(as_pair(value, field))
                except WrongError as wrong:
                    bad(str(wrong))
    return found


def flat(value: object, field: str, size: int, kind: type | tuple[type, ...]) -> list[Any]:
    """One entry for each token, from one list, or from one list for each sentence."""
    cells = as_list(value, field)
    if cells and isinstance(cells[0], list):
        cells = list(chain.from_iterable(as_list(inner, field) for inner in cells))
    if len(cells) != size:
        raise WrongError(f"{field} has {len(cells)} entries for {size} tokens")
    if not all(issubclass(found, kind) for found in set(map(type, cells))):
        raise WrongError(f"{field} has an entry that is not a string")
    return cells


def kind_of(value: object) -> str:
    names = {dict: "object", list: "list", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")

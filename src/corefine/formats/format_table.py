"""The table of formats: what each can express, for `corefine formats` and docs/formats.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from corefine.formats.expresses import ANY
from corefine.formats.registry import FORMATS, Format

COLUMNS: dict[str, Callable[[Format], str]] = {
    "format": lambda each: each.title,
    "name": lambda each: f"`{each.name}`",
    "endings": lambda each: " ".join(f"`{ending}`" for ending in each.endings),
    "documents a file": lambda each: "many" if each.many else "one",
    "entities": lambda each: _mark(each.expresses.entities),
    "crossing": lambda each: _mark(each.expresses.crossing),
    "gaps": lambda each: _mark(each.expresses.discontinuous),
    "tokens": lambda each: "yes" if each.expresses.tokens else "split again",
    "text": lambda each: _mark(each.expresses.text),
    "speakers": lambda each: each.expresses.speakers or "no",
    "genre": lambda each: _mark(each.expresses.genre),
    "language": lambda each: _mark(each.expresses.language),
    "part": lambda each: _mark(each.expresses.part),
    "layers": lambda each: _layers(each.expresses.layers),
    "also kept": lambda each: each.expresses.attributes or "nothing",
}
"""Column -> what it says of a format."""

BEGIN, END = "<!-- formats: made by tools/make_format_table.py -->", "<!-- end of formats -->"
"""The lines around the table in docs/formats.md."""


def _mark(value: bool) -> str:
    return "yes" if value else "no"


def _layers(layers: tuple[str, ...] | str) -> str:
    if layers == ANY:
        return "any"
    return " ".join(f"`{name}`" for name in layers) or "no"


def rows(formats: Iterable[Format] = tuple(FORMATS.values())) -> list[list[str]]:
    """A row for each format."""
    told = 4  # formats that are only read have no further columns
    return [
        [cell(each) if each.files or number < told else "" for number, cell in enumerate(COLUMNS.values())]
        for each in formats
    ]


def markdown() -> str:
    """The table as it stands in docs/formats.md."""
    lines = [" | ".join(COLUMNS), "|".join("---" for _ in COLUMNS), *(" | ".join(row) for row in rows())]
    return "".join(f"| {line} |\n" if "---" not in line else f"|{line}|\n" for line in lines)


def as_dict(formats: Iterable[Format] = tuple(FORMATS.values())) -> list[dict[str, Any]]:
    """The table as JSON."""
    return [
        {
            "name": each.name,
            "title": each.title,
            "endings": list(each.endings),
            "many": each.many,
            "written": bool(each.files),
            **{field: getattr(each.expresses, field) for field in each.expresses.__dataclass_fields__},
        }
        for each in formats
    ]

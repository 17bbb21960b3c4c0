"""Finds the format of a file by name, ending or content."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from corefine import plugins
from corefine.errors import InputError
from corefine.formats import jsonl
from corefine.formats.detect import Head, head_of
from corefine.formats.registry import FORMATS, Format

GENERIC = frozenset((".json", ".xml", ".tsv", ".zip"))
"""Endings that other files often have too. Such a file has a known format only if its content looks like it."""


def format_for(path: str | PathLike[str] | None, name: str | None = None) -> Format:
    """The format of a file to be written: the one with this name, or else that of the path's ending."""
    if name is not None:
        return plugins.named("formats", name, FORMATS, Format)
    if path is None:
        raise InputError(f"a stream or folder has no ending to tell its format: name one of {', '.join(FORMATS)}")
    found = [format_ for format_ in with_ending(ending_of(Path(path))) if format_.files]
    if len(found) > 1 and ending_of(Path(path)) in GENERIC:
        raise InputError(f"{path}: several formats have this ending; name one of {_names(found)}")
    if not found:
        raise InputError(f"{path}: the ending tells no format; name one of {', '.join(FORMATS)}")
    return found[0]


def known_formats() -> dict[str, Format]:
    """The formats of corefine and of installed packages, by name."""
    return {name: plugins.named("formats", name, FORMATS, Format) for name in (*FORMATS, *plugins.installed("formats"))}


def format_of(path: str | PathLike[str], name: str | None = None) -> Format:
    """The format of a file to be read: the one named, that of its ending, or that of its content."""
    if name is not None:
        return format_for(None, name)
    ending = ending_of(Path(path))
    likely = with_ending(ending)
    if len(likely) == 1 and ending not in GENERIC:
        return likely[0]
    found = _looking_like(head_of(path), likely or list(known_formats().values()), generic=ending in GENERIC)
    if found is not None:
        return found
    if likely and ending not in GENERIC:
        return likely[0]
    if likely:
        raise InputError(f"{path}: it does not look like {_names(likely)}; if it is one of them, name it")
    raise InputError(f"{path}: neither ending nor content tells its format; name one of {', '.join(FORMATS)}")


def format_of_stream(head: Head) -> Format:
    """The format that the first bytes of a stream look like."""
    found = _looking_like(head, list(known_formats().values()))
    if found is None:
        raise InputError(f"the content of the stream tells no format: name one of {', '.join(FORMATS)}")
    return found


def _looking_like(head: Head, formats: Iterable[Format], *, generic: bool = False) -> Format | None:
    """The first format that the head looks like. JSON lines comes last, because others share its field names.

    In a file with a `generic` ending, a text alone does not make JSON a document.
    """
    ordered = sorted(formats, key=lambda format_: format_.name == jsonl.NAME)
    found = next((format_ for format_ in ordered if format_.looks is not None and format_.looks(head)), None)
    is_text = found is not None and found.name == jsonl.NAME and not jsonl.SURE.intersection(head.keys)
    return None if generic and is_text else found


def _names(formats: Iterable[Format]) -> str:
    return ", ".join(format_.name for format_ in formats)


def with_ending(ending: str) -> list[Format]:
    """The formats whose files have this ending."""
    return [format_ for format_ in known_formats().values() if ending in format_.endings]


def ending_of(path: Path) -> str:
    """The ending that determines the format: `.conll` of `a.conll.gz`."""
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def knows(path: Path) -> bool:
    """Whether the path's ending belongs to a format. If other files share the ending, the content must fit too."""
    ending = ending_of(path)
    likely = with_ending(ending)
    if ending in GENERIC and path.is_file():
        return _looking_like(head_of(path), likely, generic=True) is not None
    return bool(likely)


def renamed(path: Path, format_: Format) -> Path:
    """The path with an ending of the format. An ending of the format is kept, and so is .gz."""
    packed = ".gz" if path.suffix == ".gz" else ""
    if ending_of(path) in format_.endings:
        return path
    name = path.name.removesuffix(packed)
    if with_ending(ending_of(path)):
        name = name.removesuffix(ending_of(path))
    return path.with_name(f"{name}{format_.endings[0]}{packed}")

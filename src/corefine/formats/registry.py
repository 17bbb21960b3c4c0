"""The formats, and which of them a file is in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from corefine.document import Document
from corefine.errors import InputError
from corefine.formats import brat, conll, jsonl, text
from corefine.formats.conllu import extra, reader, writer
from corefine.formats.source import Source


@dataclass(frozen=True, slots=True)
class Format:
    """How files of one format are read and written.

    endings     the endings of its files, without .gz; the first is the one for new files
    read        yields the documents of a source
    files       ending -> function that renders a document; the first is the main file, others go beside it
    losses      counts by name what the format cannot express of a document
    many        whether a file can hold several documents
    """

    name: str
    endings: tuple[str, ...]
    read: Callable[[Source], Iterator[Document]]
    files: Mapping[str, Callable[[Document], str]]
    losses: Callable[[Document], Counter[str]]
    many: bool = True


_ALL = (
    Format(
        conll.NAME,
        (".conll", ".v4_gold_conll", ".v4_auto_conll", ".key", ".response"),
        conll.read,
        {".conll": conll.render},
        conll.losses,
    ),
    Format(extra.NAME, (".conllu",), reader.read, {".conllu": writer.render}, writer.losses),
    Format(jsonl.NAME, (".jsonl", ".jsonlines"), jsonl.read, {".jsonl": jsonl.render}, jsonl.losses),
    Format(brat.NAME, (".ann",), brat.read, {".ann": brat.render, ".txt": text.render}, brat.losses, many=False),
    Format(text.NAME, (".txt",), text.read, {".txt": text.render}, text.losses, many=False),
)

FORMATS = {format_.name: format_ for format_ in _ALL}
_BY_ENDING = {ending: format_ for format_ in _ALL for ending in format_.endings}


def format_for(path: str | PathLike[str] | None, name: str | None = None) -> Format:
    """The format of this name, or else the one that the ending of the path tells."""
    if name is not None:
        if name not in FORMATS:
            raise InputError(f"there is no format {name!r}; there are {', '.join(FORMATS)}")
        return FORMATS[name]
    if path is None:
        raise InputError(f"a stream or folder has no ending to tell its format: name one of {', '.join(FORMATS)}")
    found = _BY_ENDING.get(ending_of(Path(path)))
    if found is None:
        raise InputError(f"{path}: the ending tells no format; name one of {', '.join(FORMATS)}")
    return found


def ending_of(path: Path) -> str:
    """The ending that tells the format: `.conll` of `a.conll.gz`."""
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def knows(path: Path) -> bool:
    """Whether the path's ending tells a format."""
    return ending_of(path) in _BY_ENDING


def renamed(path: Path, format_: Format) -> Path:
    """The path with an ending of the format. An ending that is one already stays, and so does .gz."""
    packed = ".gz" if path.suffix == ".gz" else ""
    if ending_of(path) in format_.endings:
        return path
    name = path.name.removesuffix(packed)
    if knows(path):
        name = name.removesuffix(ending_of(path))
    return path.with_name(f"{name}{format_.endings[0]}{packed}")

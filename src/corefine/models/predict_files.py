"""Predicting whole files and folders: documents stream from one format into another, one in memory at a time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from corefine.corpora.corpus import readable_files
from corefine.document import Document
from corefine.errors import InputError
from corefine.formats import format_for, read, write, write_stream
from corefine.formats.registry import Format, ending_of
from corefine.models.resolver import Resolver, Result

STREAM = "-"
"""Stands for standard input and output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How files are read and written: names of formats where endings do not tell, the language of plain text."""

    read_as: str | None = None
    write_as: str | None = None
    language: str | None = None
    lossy: bool = False


def predict_files(
    resolver: Resolver,
    source: str,
    target: str,
    options: Options | None = None,
    *,
    on_result: Callable[[Result], None] = lambda _: None,
) -> int:
    """Predict every document of a file or folder, and write each with the entities found. Returns how many.

    A folder gives a folder, with a file for each that could be read.
    """
    options = options or Options()
    count = 0

    def predicted(documents: Iterator[Document]) -> Iterator[Document]:
        nonlocal count
        for result in resolver.stream(documents):
            count += 1
            on_result(result)
            yield result.labelled

    for place, goal, format_ in _plan(source, target, options):
        where = sys.stdin.buffer if place is None else place
        documents = predicted(read(where, options.read_as, language=options.language))
        if goal is None:
            write_stream(documents, sys.stdout.buffer, format_.name, lossy=options.lossy)
        else:
            write(documents, goal, format_.name, lossy=options.lossy)
    return count


def _plan(source: str, target: str, options: Options) -> Iterator[tuple[Path | None, Path | None, Format]]:
    """What is read, where it goes, and as what."""
    goal = None if target == STREAM else Path(target)
    if source == STREAM:
        yield None, goal, _format(goal, None, options)
        return
    place = Path(source)
    if not place.exists():
        raise InputError(f"{source} is not there")
    if place.is_file():
        if goal is not None and goal.is_dir():
            format_ = _format(None, place, options)
            goal = goal / _renamed(Path(place.name), format_)
        else:
            format_ = _format(goal, place, options)
        yield place, goal, format_
        return
    if goal is None or goal.is_file():
        raise InputError(f"{source} is a folder, so the result must be one too")
    files = list(readable_files(place))
    if not files:
        raise InputError(f"{source} holds no file whose ending tells a format")
    for file in files:
        format_ = _format(None, file, options)
        yield file, goal / _renamed(file.relative_to(place), format_), format_


def _format(goal: Path | None, place: Path | None, options: Options) -> Format:
    """What to write: the format that is named, or that the goal's ending tells, or that of the input.

    Plain text cannot hold entities, so it becomes JSON lines.
    """
    if options.write_as is not None or (goal is not None and ending_of(goal)):
        return format_for(goal, options.write_as)
    found = format_for(place, options.read_as)
    return found if found.name != "text" else format_for(None, "jsonl")


def _renamed(path: Path, format_: Format) -> Path:
    """The path with the format's ending; one that is packed stays so."""
    packed = ".gz" if path.suffix == ".gz" else ""
    base = path.with_suffix("") if packed else path
    ending = base.suffix if base.suffix in format_.endings else format_.endings[0]
    return base.with_name(base.stem + ending + packed)

"""Reads and writes files. There is one module per format; it is chosen by a file's ending and content, or by name.

    for document in corefine.read("corpus.conll.gz"): ...
    corefine.write(documents, "corpus.jsonl")

docs/formats.md says what each format can express. Besides the formats there are

    registry, expresses, format_table   the list of formats, and what each can express
    find, lookup, detect                which files a path means, and which format a file has
    source, fields, tokens              for readers: lines and faults, checked JSON, words in running text
    writing, losses                     for writers: files that appear whole, and what a format cannot express
    brackets, standoff, tasks,          what several formats have in common
    token_json, uima_types
    convert, check, languages           what `corefine convert`, `check` and `annotate` do with files
"""

from __future__ import annotations

from collections.abc import Iterator
from glob import has_magic
from itertools import chain
from os import PathLike
from pathlib import Path

from corefine.document import Document
from corefine.files import is_folder
from corefine.formats.find import FoundFile, find_files
from corefine.formats.lookup import format_for, format_of, format_of_stream, knows
from corefine.formats.registry import FORMATS, Format
from corefine.formats.source import OnFault, Source, Where
from corefine.formats.writing import write, write_stream

__all__ = [
    "FORMATS",
    "Format",
    "FoundFile",
    "OnFault",
    "find_files",
    "format_for",
    "format_of",
    "knows",
    "read",
    "read_all",
    "write",
    "write_stream",
]


def read(
    where: Where,
    format: str | None = None,
    *,
    on_fault: OnFault | None = None,
    language: str | None = None,
    repair: bool = False,
) -> Iterator[Document]:
    """The documents of a file, folder, glob pattern or binary stream, one by one. gzip is decompressed.

    Without `on_fault`, the first document that cannot be read raises `FormatError`, and repaired faults are not
    reported. With it, `on_fault` gets every `Fault`, and the other documents are still read. With `repair`, a bad
    bracket or link is left out and its document kept. `language` is the language code of documents that do not name
    theirs; it also chooses the rules for splitting running text.
    """
    if not isinstance(where, str | PathLike):
        return _documents(Source(where, on_fault=on_fault, language=language, repair=repair), format)
    path = Path(where)
    paths = [path] if path.is_file() or not (is_folder(path) or has_magic(str(path))) else None
    sources = (
        Source(each, on_fault=on_fault, language=language, repair=repair)
        for each in paths or [found.path for found in find_files([path], format)]
    )
    return chain.from_iterable(_documents(source, format) for source in sources)


def _documents(source: Source, format: str | None) -> Iterator[Document]:
    if format is not None:
        found = format_for(None, format)
    else:
        found = format_of_stream(source.head()) if source.path is None else format_of(source.path)
    return found.read(source)


def read_all(
    where: Where,
    format: str | None = None,
    *,
    on_fault: OnFault | None = None,
    language: str | None = None,
    repair: bool = False,
) -> list[Document]:
    """All documents, as `read`."""
    return list(read(where, format, on_fault=on_fault, language=language, repair=repair))

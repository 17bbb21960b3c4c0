"""Foreign files into documents and back: one module a format, chosen by a file's ending or by name.

    for document in corefine.read("corpus.conll.gz"): ...
    corefine.write(documents, "corpus.jsonl")

docs/formats.md says what each format can express.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike

from corefine.document import Document
from corefine.formats.find import FoundFile, find_files
from corefine.formats.registry import FORMATS, Format, format_for, knows
from corefine.formats.source import OnFault, Source, Where
from corefine.formats.writing import write, write_stream

__all__ = [
    "FORMATS",
    "Format",
    "FoundFile",
    "OnFault",
    "find_files",
    "format_for",
    "knows",
    "read",
    "read_all",
    "write",
    "write_stream",
]


def read(
    where: Where, format: str | None = None, *, on_fault: OnFault | None = None, language: str | None = None
) -> Iterator[Document]:
    """The documents of a file (or binary stream), one by one as they are complete; gzip is unpacked.

    Without `on_fault` the first document that cannot be read raises `FormatError`, and what could be repaired is not
    reported. With it, every `Fault` is handed over and the other documents still come. `language` is the code of
    the language of documents that do not name theirs; it also chooses the rules by which running text is split.
    """
    found = format_for(where if isinstance(where, str | PathLike) else None, format)
    return found.read(Source(where, on_fault=on_fault, language=language))


def read_all(
    where: Where, format: str | None = None, *, on_fault: OnFault | None = None, language: str | None = None
) -> list[Document]:
    """All documents of a file, as `read`."""
    return list(read(where, format, on_fault=on_fault, language=language))

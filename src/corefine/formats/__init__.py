"""Foreign files into documents and back: one module a format, chosen by a file's ending or by name.

    for document in corefine.read("corpus.conll.gz"): ...
    corefine.write(documents, "corpus.jsonl")

docs/formats.md says what each format can express.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import IO

from corefine.document import Document
from corefine.formats.files import Staged, is_folder
from corefine.formats.registry import FORMATS, Format, format_for, knows
from corefine.formats.source import OnFault, Source, Where
from corefine.formats.writing import put, put_on_stream, refuse

__all__ = ["FORMATS", "Format", "OnFault", "format_for", "knows", "read", "read_all", "write", "write_stream"]


def read(
    where: Where, format: str | None = None, *, on_fault: OnFault | None = None, language: str | None = None
) -> Iterator[Document]:
    """The documents of a file (or binary stream), one by one as they are complete; gzip is unpacked.

    Without `on_fault` the first document that cannot be read raises `FormatError`, and what could be repaired passes
    in silence. With it, every `Fault` is handed over and the other documents still come. `language` is the code of
    the language of documents that do not name theirs; it also chooses the rules by which running text is split.
    """
    found = format_for(where if isinstance(where, str | PathLike) else None, format)
    return found.read(Source(where, on_fault=on_fault, language=language))


def read_all(
    where: Where, format: str | None = None, *, on_fault: OnFault | None = None, language: str | None = None
) -> list[Document]:
    """All documents of a file, as `read`."""
    return list(read(where, format, on_fault=on_fault, language=language))


def write(
    documents: Iterable[Document] | Document,
    path: str | PathLike[str],
    format: str | None = None,
    *,
    lossy: bool = False,
) -> dict[str, int]:
    """Write documents to a file, packed if its name ends in .gz; all of it or, on any error, nothing.

    Formats that hold one document a file (brat, text) take a folder, or a file name for a single document. What the
    format cannot express raises `LossError`; with `lossy` it is left out, and returned as counts by name.
    """
    path = Path(path)
    found = format_for(None if is_folder(path) else path, format)
    with Staged() as files:
        lost = put(_listed(documents), found, path, files)
        if not lossy:
            refuse(lost, found)
    return dict(lost)


def write_stream(
    documents: Iterable[Document] | Document, stream: IO[bytes], format: str, *, lossy: bool = False
) -> dict[str, int]:
    """Write documents to a binary stream, up to the first that would lose something."""
    return dict(put_on_stream(_listed(documents), format_for(None, format), stream, lossy=lossy))


def _listed(documents: Iterable[Document] | Document) -> Iterable[Document]:
    return [documents] if isinstance(documents, Document) else documents

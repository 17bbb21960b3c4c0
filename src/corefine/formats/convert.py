"""Converts files from one format to another, as `corefine convert` does."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from corefine.document import Document
from corefine.errors import Fault, InputError
from corefine.files import is_folder
from corefine.formats import read
from corefine.formats.find import FoundFile, find_files
from corefine.formats.lookup import format_for, knows, renamed
from corefine.formats.registry import Format
from corefine.formats.source import OnFault
from corefine.formats.writing import output_files, refuse_losses, write_files, write_stream

STREAM = "-"
"""Stands for standard input and output."""

Tracked = Callable[[Iterable[Document]], Iterable[Document]]


@dataclass(slots=True)
class Summary:
    """Files read, documents and mentions written, losses by name, faults repaired, and documents left out."""

    files: int = 0
    documents: int = 0
    mentions: int = 0
    lost: dict[str, int] = field(default_factory=dict)
    repaired: int = 0
    left_out: int = 0


def convert(
    source: str,
    target: str,
    *,
    from_: str | None = None,
    to: str | None = None,
    lossy: bool = False,
    skip_faulty: bool = False,
    language: str | None = None,
    repair: bool = False,
    on_fault: OnFault = lambda _: None,
    tracked: Tracked = lambda documents: documents,
) -> Summary:
    """Convert a file, a folder, what a glob matches, or standard input (`-`).

    The target is a file for all documents, a folder that gets the same files as the source (or a file for each
    document, if the format needs that), or standard output (`-`). On an error nothing is written. A document that
    cannot be read is an error unless `skip_faulty`, and so is a loss unless `lossy`. With `repair`, a bad bracket
    or link is left out and its document kept.
    """
    summary = Summary()
    inputs: list[FoundFile | None] = [None] if source == STREAM else [*find_files([source], from_)]
    summary.files = len(inputs)
    several = len(inputs) > 1 or (source != STREAM and is_folder(Path(source)))
    format_ = format_for(None if target == STREAM or is_folder(Path(target)) else target, to)

    def note(fault: Fault) -> None:
        summary.left_out += fault.fatal
        summary.repaired += not fault.fatal
        on_fault(fault)

    def documents(found: FoundFile | None) -> Iterator[Document]:
        where = sys.stdin.buffer if found is None else found.path
        for document in tracked(read(where, from_, on_fault=note, language=language, repair=repair)):
            summary.documents += 1
            summary.mentions += sum(map(len, document.clusters))
            yield document

    names = Names()
    every = chain.from_iterable(names.checked(documents(found), found) for found in inputs)
    lost: Counter[str] = Counter()
    with output_files() as files:
        if target == STREAM:
            lost.update(write_stream(every, sys.stdout.buffer, format_.name, lossy=lossy))
        elif not _is_folder(target, format_, several):
            lost = write_files(every, format_, Path(target), files)
        else:
            for found in inputs:
                relative = found.relative if found else Path("stdin")
                place = Path(target) / (renamed(relative, format_) if format_.many else relative.parent)
                lost += write_files(documents(found), format_, place, files, folder=True)
        if summary.left_out and not skip_faulty:
            raise InputError(
                f"{summary.left_out} faults leave documents unreadable; nothing was written (see corefine check)"
            )
        if not lossy:
            refuse_losses(lost, format_)
    summary.lost = dict(lost)
    return summary


class Names:
    """The names of the documents that go from several files into one, where no two may have the same."""

    def __init__(self) -> None:
        self._files: dict[str, Path] = {}

    def checked(self, documents: Iterable[Document], found: FoundFile | None) -> Iterator[Document]:
        """The documents of a file, or of standard input. Raises if another file had one with the same name and part."""
        file = Path("stdin") if found is None else found.path
        for document in documents:
            other = self._files.setdefault(document.key, file)
            if other != file:
                raise InputError(
                    f"{other} and {file} both hold a document called {document.key}: write into a folder, or rename one"
                )
            yield document


def _is_folder(target: str, format_: Format, several: bool) -> bool:
    path = Path(target)
    if is_folder(path) or target.endswith(os.sep):
        return True
    if knows(path):
        return False
    return not path.exists() and (several or not format_.many)

"""Lists every fault of some files, as `corefine check` does."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from corefine.errors import Fault, InputError
from corefine.formats.convert import STREAM
from corefine.formats.find import find_files
from corefine.formats.lookup import format_for, format_of, format_of_stream
from corefine.formats.source import OnFault, Source


@dataclass(slots=True)
class Checked:
    """How many files and documents were read, and the faults in the order in which they were found."""

    files: int = 0
    documents: int = 0
    faults: list[Fault] = field(default_factory=list)


def check(
    wheres: Iterable[str],
    format: str | None = None,
    *,
    language: str | None = None,
    on_fault: OnFault = lambda _: None,
) -> Checked:
    """Read all files that these paths, folders and globs mean to their ends; `-` is standard input."""
    checked = Checked()
    if format is not None:
        format_for(None, format)  # an unknown name is not a fault of a file

    def note(fault: Fault) -> None:
        checked.faults.append(fault)
        on_fault(fault)

    named = list(wheres)
    paths = [found.path for found in find_files([each for each in named if each != STREAM], format)]
    for where in (*paths, *([sys.stdin.buffer] if STREAM in named else [])):
        checked.files += 1
        before = checked.documents, len(checked.faults)
        source = Source(where, on_fault=note, language=language)
        try:
            if isinstance(where, Path):
                reader = format_of(where, format)
            else:
                reader = format_for(None, format) if format else format_of_stream(source.head())
            for _ in reader.read(source):
                checked.documents += 1
        except InputError as error:
            note(Fault(str(error), source.label))
        if (checked.documents, len(checked.faults)) == before:
            note(Fault("the file holds no document", source.label, fatal=False))
    return checked

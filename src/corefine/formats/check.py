"""Lists every fault of some files, as `corefine check` does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from corefine.errors import Fault, InputError
from corefine.formats.find import find_files
from corefine.formats.lookup import format_for, format_of
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
    """Read all files that these paths, folders and globs mean to their ends."""
    checked = Checked()
    if format is not None:
        format_for(None, format)  # an unknown name is not a fault of a file

    def note(fault: Fault) -> None:
        checked.faults.append(fault)
        on_fault(fault)

    for found in find_files(wheres, format):
        checked.files += 1
        before = checked.documents, len(checked.faults)
        try:
            reader = format_of(found.path, format)
            for _ in reader.read(Source(found.path, on_fault=note, language=language)):
                checked.documents += 1
        except InputError as error:
            note(Fault(str(error), str(found.path)))
        if (checked.documents, len(checked.faults)) == before:
            note(Fault("the file holds no document", str(found.path), fatal=False))
    return checked

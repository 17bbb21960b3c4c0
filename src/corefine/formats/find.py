"""Which files a path, a folder or a glob pattern means. Every command and the annotation app ask here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from glob import glob, has_magic
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from corefine.errors import InputError
from corefine.files import is_folder, is_hidden
from corefine.formats.lookup import GENERIC, ending_of, format_for, knows


class FoundFile(NamedTuple):
    """A file, and its path from the folder where the search began."""

    path: Path
    relative: Path


def find_files(
    wheres: Iterable[str | PathLike[str]],
    format: str | None = None,
    *,
    on_skip: Callable[[Path, str], None] | None = None,
) -> list[FoundFile]:
    """The files that paths, folders and glob patterns mean, each once and in order.

    A folder means the files in it and below that are of a known format, or of the one that is named; hidden files
    and folders are passed over. A file that is named itself is taken, whatever its name. Two files that say the same
    count as one: a text beside its brat annotation (`.ann`) is left out, and CoNLL-2012's automatic annotation
    (`_auto_conll`) beside the gold one.

    Raises `InputError` for a path that does not exist, or means no file. With `on_skip` such a path is handed over
    with the reason instead, and so is each file of a folder that is of no known format, if none is named.
    """
    found: dict[Path, FoundFile] = {}
    for where in wheres:
        try:
            found |= {file.path: file for file in _meant_by(Path(where), format, on_skip)}
        except InputError as error:
            if on_skip is None:
                raise
            on_skip(Path(where), str(error))
    unpacked = {_unpacked(path) for path in found}
    return [file for path, file in found.items() if _preferred_to(path) not in unpacked]


def _meant_by(where: Path, format: str | None, on_skip: Callable[[Path, str], None] | None) -> Iterable[FoundFile]:
    root, named = _named(where)
    found = []
    for path in named:
        if not is_folder(path):
            found.append(path)
            continue
        visible = [file for file in sorted(path.rglob("*")) if file.is_file() and not is_hidden(file.relative_to(path))]
        found += _of_format(visible, format)
        if on_skip is not None and format is None:
            for file in visible:
                if not knows(file):
                    what = "content" if ending_of(file) in GENERIC else "ending"
                    on_skip(file, f"its {what} is that of no known format")
    if not found:
        raise InputError(f"{where}: no file of {f'the format {format}' if format else 'a known format'} there")
    return [FoundFile(path, path.relative_to(root)) for path in found]


def _named(where: Path) -> tuple[Path, list[Path]]:
    """What the path or pattern names, and the folder that relative paths begin in."""
    if is_folder(where):
        return where, [where]
    try:
        there = where.exists()
    except OSError:  # a name that is too long, for example
        there = False
    if there:
        return where.parent, [where]
    if not has_magic(str(where)):
        raise InputError(f"{where}: there is no such file or folder")
    root = where.parent
    while has_magic(str(root)):
        root = root.parent
    matches = glob(str(where), recursive=True)  # noqa: PTH207  # unlike pathlib's, it passes over hidden files
    return root, [Path(match) for match in sorted(matches)]


def _of_format(files: list[Path], format: str | None) -> list[Path]:
    """The files with an ending of the format. If there are none: those whose ending is of no known format."""
    if format is None:
        return [file for file in files if knows(file)]
    endings = format_for(None, format).endings
    return [file for file in files if ending_of(file) in endings] or [file for file in files if not knows(file)]


def _unpacked(path: Path) -> Path:
    return path.with_suffix("") if path.suffix == ".gz" else path


_MAIN = {".txt": ".ann", ".tokens": ".entities"}
"""Endings of files that are read together with another of the same name."""


def _preferred_to(path: Path) -> Path | None:
    """The unpacked path of a file that is read instead of this one, if it is among those found."""
    path = _unpacked(path)
    if path.suffix in _MAIN:
        return path.with_suffix(_MAIN[path.suffix])
    better = path.name.replace("_auto_conll", "_gold_conll")
    return path.with_name(better) if better != path.name else None

"""A zip file of files in other formats, such as the export of an INCEpTION project. It can only be read.

An INCEpTION export has each document once per annotator, and perhaps once curated; these are called
`document/annotator`. Other archives are read like folders.
"""

from __future__ import annotations

import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

from corefine.document import Document
from corefine.errors import Fault, InputError
from corefine.formats.source import OnFault, Source

NAME = "zip"
LARGEST = 1 << 30
"""The largest total size of the unpacked files, in bytes."""

MOST = 20_000
"""The largest number of files in an archive."""

BLOCK = 1 << 16
DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, RuntimeError, NotImplementedError,
    ValueError, OverflowError, IndexError,
)  # fmt: skip
"""The errors that unpacking a damaged archive can raise."""


def reason(error: Exception) -> str:
    """What an error of unpacking says, without the path of a temporary file."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


_EXPORT = re.compile(r"exportedproject[^/]*\.json")

_ANNOTATED = ("annotation", "curation")


def read(source: Source) -> Iterator[Document]:
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        try:
            with source.open() as stream:
                _unpack(stream, folder, _Room(LARGEST, MOST), depth=2)
        except DAMAGE as error:
            source.fault(f"the archive cannot be unpacked: {error}", document=None)
            return
        yield from _documents(source, folder)


def is_export(where: Path | IO[bytes]) -> bool:
    """Whether a zip file is the export of an INCEpTION project."""
    try:
        with zipfile.ZipFile(where) as archive:
            return any(_EXPORT.fullmatch(name) for name in archive.namelist())
    except DAMAGE:
        return False
    finally:
        if not isinstance(where, Path):
            where.seek(0)


@dataclass(slots=True)
class _Room:
    """How many bytes and files may still be unpacked, including those in nested archives."""

    bytes: int
    files: int

    def take(self, bytes: int = 0, files: int = 0) -> None:
        self.bytes -= bytes
        self.files -= files
        if self.bytes < 0 or self.files < 0:
            raise ValueError(f"it has more than {MOST} files or {LARGEST >> 20} MB")


def _unpack(stream: IO[bytes] | Path, folder: Path, room: _Room, depth: int) -> None:
    """Unpack the files, and archives among them into folders of their names."""
    with zipfile.ZipFile(stream) as archive:
        members = [each for each in archive.infolist() if not each.is_dir()]
        room.take(files=len(members))
        for member in members:
            path = PurePosixPath(member.filename)
            if path.is_absolute() or ".." in path.parts:
                raise ValueError(f"{member.filename!r} would be outside")
            if path.parts[0] == "__MACOSX":
                continue
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as packed, target.open("wb") as out:
                while block := packed.read(BLOCK):
                    room.take(bytes=len(block))
                    out.write(block)
            if path.suffix == ".zip" and depth:
                _unpack(target, target.with_suffix(".unpacked"), room, depth - 1)
                target.unlink()


def _documents(source: Source, folder: Path) -> Iterator[Document]:
    from corefine.formats.find import find_files  # they know all formats, this one too
    from corefine.formats.lookup import format_of

    export = any(folder.glob("exportedproject*.json"))
    roots = [folder / name for name in _ANNOTATED if (folder / name).is_dir()] if export else [folder]
    found = 0
    for root in roots:
        try:
            files = find_files([root])
        except InputError:
            continue
        for path, relative in files:
            found += 1
            inner = source.beside(path)
            if source.on_fault is not None:
                inner.on_fault = _renaming(source, folder)
            for document in format_of(path).read(inner):
                yield replace(document, name=_name(relative)) if export else document
    if not found:
        what = "no file of a known format is in the archive"
        if export:
            what += "; export the project with a format such as WebAnno TSV or UIMA CAS XMI"
        source.fault(what, document=None)


def _renaming(source: Source, folder: Path) -> OnFault:
    """Report faults with the names of the archive and of the file in it."""

    def on_fault(fault: Fault) -> None:
        path = fault.path
        if path is not None and path.startswith(str(folder)):
            path = f"{source.label}/{path[len(str(folder)) + 1 :]}"
        if source.on_fault is not None:
            source.on_fault(replace(fault, path=path))

    return on_fault


def _name(relative: Path) -> str:
    """`document/annotator` of `document/annotator.tsv` and of `document/annotator.unpacked/annotator.xmi`."""
    parts = relative.parts
    return f"{parts[0]}/{Path(parts[1]).stem}" if len(parts) > 1 else relative.stem

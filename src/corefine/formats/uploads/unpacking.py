"""Unpacks an uploaded file, or the files of a zip archive, into a folder, with safe names and bounded sizes.

A file that cannot be a document is refused early: by its name, or at the first bytes that are not text.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

from corefine import formats
from corefine.errors import InputError
from corefine.files import is_hidden
from corefine.formats import archive

BLOCK = 1 << 16
BINARY = frozenset((".spacy", ".zip"))
"""Endings of formats that are not text."""
_CONTROL = bytes(byte for byte in range(32) if byte not in b"\t\n\v\f\r\x1b")


@dataclass(frozen=True, slots=True)
class Limits:
    """unpacked    bytes of all files together, unpacked
    files       files in one archive
    text        bytes of a text; a longer one becomes several parts
    tokens      tokens of a document
    memory      bytes that reading may use
    """

    unpacked: int = 200_000_000
    files: int = 2_000
    text: int = 2_000_000
    tokens: int = 1_000_000
    memory: int = 700_000_000

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True)
class Unpacked:
    """The unpacked files with their names, and the reasons why others were refused."""

    files: dict[Path, str] = field(default_factory=dict)
    refused: list[tuple[str, str]] = field(default_factory=list)


class RefusedError(Exception):
    """This file is not a document; others may be."""


def unpack(sent: Path, name: str, folder: Path, limits: Limits) -> Unpacked:
    """Unpack an uploaded file. Raises `InputError` if nothing in it can be used."""
    found = Unpacked()
    room = limits.unpacked
    try:
        for member, shown, open_member in _members(sent, name, limits):
            try:
                with open_member() as file:
                    path = _write(folder, member, file, room, limits)
                found.files[path] = shown
                room -= path.stat().st_size
            except RefusedError as error:
                found.refused.append((shown, str(error)))
            except archive.DAMAGE as error:
                found.refused.append((shown, f"it cannot be unpacked: {archive.reason(error)}"))
    except archive.DAMAGE as error:
        raise InputError(f"{name} cannot be unpacked: {archive.reason(error)}") from error
    return found


def _members(sent: Path, name: str, limits: Limits) -> Iterator[tuple[str, str, Any]]:
    """For each file its name, a name to show, and a function that opens it."""
    is_zip = name.lower().endswith(".zip") and zipfile.is_zipfile(sent)  # a .docx is a zip file, too
    if not is_zip or archive.is_export(sent):  # an export of INCEpTION is a format of its own
        yield name, name, lambda: sent.open("rb")
        return
    with zipfile.ZipFile(sent) as packed:
        members = [member for member in packed.infolist() if not member.is_dir()]
        if len(members) > limits.files:
            raise InputError(f"{name} holds {len(members)} files; at most {limits.files} can be sent at once")
        for member in members:
            if not is_hidden(PurePosixPath(member.filename.replace("\\", "/"))):
                shown = member.filename.encode("utf-8", "replace").decode()
                yield member.filename, shown, lambda member=member: packed.open(member)


def _write(folder: Path, name: str, file: IO[bytes], room: int, limits: Limits) -> Path:
    """Copy a file, decompressed if it is gzip, to a safe path.

    Files of one folder stay together, because some formats consist of two files.
    """
    parent, _, last = name.replace("\\", "/").rpartition("/")
    path = folder / hashlib.sha256(parent.encode("utf-8", "surrogatepass")).hexdigest()[:16] / _safe(last)
    if not formats.knows(path):
        raise RefusedError("its ending is that of no known format")
    if path.suffix == ".zip" and not archive.is_export(file):
        raise RefusedError("it is a damaged archive, or an archive in an archive: unpack it first")
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".gz":
        path = path.with_suffix("")
        file = gzip.GzipFile(fileobj=file)  # type: ignore[assignment]  # reads like one
    if path.exists():
        raise RefusedError("two files would have this name")
    try:
        _copy(file, path, room, name, limits)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _copy(file: IO[bytes], path: Path, room: int, name: str, limits: Limits) -> None:
    """Copy text block by block. Raises at the first block that is not text or exceeds the limits."""
    with path.open("wb") as out:
        first = True
        while block := file.read(BLOCK):
            if first and block.startswith(b"\x1f\x8b"):
                raise RefusedError("it is packed more than once")
            if path.suffix in BINARY:
                pass
            elif b"\0" in block:
                raise RefusedError("it is not text in UTF-8: it holds NUL bytes")
            elif len(block.translate(None, _CONTROL)) < 0.9 * len(block):
                raise RefusedError("it is not text: most of it are control characters")
            room -= len(block)
            if room < 0:
                raise InputError(f"{name} unpacks to more than {limits.unpacked // 1_000_000} MB and was refused")
            out.write(block)
            first = False


def _safe(name: str) -> str:
    """The name without characters that mean something to a file system."""
    return re.sub(r"[^\w.\- ]", "_", name).lstrip(".")[-150:] or "document"


# Long texts


def cut_text(path: Path, limit: int) -> list[Path]:
    """Divide a text longer than `limit` bytes into several files, at paragraph boundaries."""
    if path.stat().st_size <= limit:
        return [path]
    parts: list[Path] = []
    with path.open("rb") as file:
        rest = b""
        while block := rest + file.read(limit - len(rest)):
            end = len(block) if len(block) < limit else _good_end(block)
            parts.append(path.with_name(f"{path.stem}.part{len(parts) + 1}{path.suffix}"))
            parts[-1].write_bytes(block[:end])
            rest = block[end:]
    path.unlink()
    return parts


def _good_end(block: bytes) -> int:
    """Where to end a part: after the last paragraph, line, sentence or word, or at least after a whole character."""
    for mark in (b"\n\n", b"\n", b". ", b" "):
        at = block.rfind(mark, len(block) // 2)
        if at >= 0:
            return at + len(mark)
    end = len(block)
    while end > len(block) - 4 and block[end - 1] & 0xC0 == 0x80:  # in the middle of a UTF-8 character
        end -= 1
    return end - 1 if block[end - 1] >= 0xC0 else len(block)

"""Files that an owner sends: read in a folder of their own, under names we make, with every size bounded."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

from sqlalchemy import Connection

from corefine.errors import InputError
from corefine.files import is_hidden
from corefine.project.project import Project
from corefine.project.store import documents
from corefine.project.store.documents import Imported

UPLOAD_BYTES = 50_000_000
UNPACKED_BYTES = 200_000_000
MOST_FILES = 2_000
CHUNK = 65_536


def import_upload(project: Project, name: str, content: bytes) -> Imported:
    """Add the documents of a file, or of the files in a zip archive."""
    with TemporaryDirectory(prefix="corefine-upload-") as folder:
        shown = _unpack(Path(folder), name, content)

        def job(connection: Connection) -> Imported:
            return documents.import_paths(connection, shown, source_name=lambda path: _source(path, shown[path]))

        found = project.writer.write(job)
    by_path = {str(path): original for path, original in shown.items()}
    found.skipped = [(by_path.get(file, file), _without(folder, reason)) for file, reason in found.skipped]
    found.skipped += [(by_path.get(file, file), "it is in the project already") for file in found.known]
    return found


def _source(path: Path, name: str) -> str:
    """By what a file is known: another file of the same name is another."""
    return f"upload:{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}:{name}"


def _unpack(folder: Path, name: str, content: bytes) -> dict[Path, str]:
    """The files, written into the folder, and what each was called."""
    budget = [UNPACKED_BYTES]
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return dict([_write(folder, name, io.BytesIO(content), budget)])
    found: dict[Path, str] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) > MOST_FILES:
                raise InputError(f"{name} holds {len(members)} files; at most {MOST_FILES} can be sent at once")
            for member in members:
                if not is_hidden(PurePosixPath(member.filename.replace("\\", "/"))):
                    with archive.open(member) as file:
                        path, original = _write(folder, member.filename, file, budget)
                        found[path] = original
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, UnicodeError) as error:
        raise InputError(f"{name} cannot be unpacked: {error}") from error
    return found


def _write(folder: Path, name: str, file: IO[bytes], budget: list[int]) -> tuple[Path, str]:
    """Copy a file, unpacked if it is gzip, to a place of our choosing; stop when there is too much of it.

    Files that were in one folder stay in one, since some formats are two files side by side.
    """
    parent, _, last = name.replace("\\", "/").rpartition("/")
    path = folder / hashlib.sha256(parent.encode("utf-8", "surrogatepass")).hexdigest()[:16] / _safe(last)
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".gz":
        path = path.with_suffix("")
        file = gzip.GzipFile(fileobj=file)  # type: ignore[assignment]  # reads like one
    try:
        with path.open("xb") as out:
            for chunk in _chunks(file, name, budget):
                out.write(chunk)
    except FileExistsError as error:
        raise InputError(f"{name}: two files would have this name") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{name} cannot be unpacked: {error}") from error
    with path.open("rb") as written:
        if written.read(2) == b"\x1f\x8b":
            raise InputError(f"{name} is packed more than once")
    return path, name


def _chunks(file: IO[bytes], name: str, budget: list[int]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        budget[0] -= len(chunk)
        if budget[0] < 0:
            raise InputError(f"{name} unpacks to more than {UNPACKED_BYTES // 1_000_000} MB and was refused")
        yield chunk


def _safe(name: str) -> str:
    """A file name without anything that a file system might take for more than a name."""
    return re.sub(r"[^\w.\- ]", "_", name).lstrip(".")[-150:] or "document"


def _without(folder: str, reason: str) -> str:
    """Messages do not tell where the server keeps things."""
    return re.sub(re.escape(folder) + r"/[0-9a-f]+/", "", reason)

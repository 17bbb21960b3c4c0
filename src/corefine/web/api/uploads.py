"""Files that the owner uploads. They are read in a temporary folder, under safe names, with every size bounded."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import zipfile
import zlib
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
    """The name under which a file is known: files with different contents have different names."""
    return f"upload:{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}:{name}"


def _unpack(folder: Path, name: str, content: bytes) -> dict[Path, str]:
    """Write the files into the folder; returns what each was called."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return {_write(folder, name, io.BytesIO(content), UNPACKED_BYTES): name}
    found: dict[Path, str] = {}
    room = UNPACKED_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) > MOST_FILES:
                raise InputError(f"{name} holds {len(members)} files; at most {MOST_FILES} can be sent at once")
            for member in members:
                if not is_hidden(PurePosixPath(member.filename.replace("\\", "/"))):
                    with archive.open(member) as file:
                        path = _write(folder, member.filename, file, room)
                    found[path] = member.filename
                    room -= path.stat().st_size
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, UnicodeError) as error:
        raise InputError(f"{name} cannot be unpacked: {error}") from error
    return found


def _write(folder: Path, name: str, file: IO[bytes], room: int) -> Path:
    """Copy a file of at most `room` bytes, unpacked if it is gzip, to a path that we choose.

    Files of the same folder stay in the same folder: some formats are two files side by side.
    """
    parent, _, last = name.replace("\\", "/").rpartition("/")
    path = folder / hashlib.sha256(parent.encode("utf-8", "surrogatepass")).hexdigest()[:16] / _safe(last)
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".gz":
        path = path.with_suffix("")
        file = gzip.GzipFile(fileobj=file)  # type: ignore[assignment]  # reads like one
    if path.exists():
        raise InputError(f"{name}: two files would have this name")
    try:
        content = file.read(room + 1)
        path.write_bytes(content)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{name} cannot be unpacked: {error}") from error
    if len(content) > room:
        raise InputError(f"{name} unpacks to more than {UNPACKED_BYTES // 1_000_000} MB and was refused")
    if content.startswith(b"\x1f\x8b"):
        raise InputError(f"{name} is packed more than once")
    return path


def _safe(name: str) -> str:
    """The name without characters that mean something to a file system."""
    return re.sub(r"[^\w.\- ]", "_", name).lstrip(".")[-150:] or "document"


def _without(folder: str, reason: str) -> str:
    """The reason without the paths of the server."""
    return re.sub(re.escape(folder) + r"/[0-9a-f]+/", "", reason)

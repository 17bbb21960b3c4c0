"""Files: atomic writes, hashes, locks, hidden names, and the folder where corefine keeps what it downloads."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from types import TracebackType
from typing import IO, Self

from corefine.errors import InputError

HOME = "COREFINE_HOME"
"""Environment variable: the folder to use instead of the system's place for caches."""

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
"""File modes for data that only its owner may read."""

LOCK = ".lock"
"""The file that `exclusive` locks in a folder."""


def home_folder() -> Path:
    """The folder for corpora, cached encoder states and the like. It may not exist yet."""
    if named := os.environ.get(HOME):
        return Path(named).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "corefine"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "corefine"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "corefine"


def is_folder(path: Path) -> bool:
    """Whether the path is a folder. A path that the system does not allow, such as a very long one, is not."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_hidden(path: PurePath) -> bool:
    """Whether a relative path is hidden: its name, or the name of a folder in it, begins with a dot."""
    return any(part.startswith(".") and part != ".." for part in path.parts)


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Writing


class AtomicFiles:
    """Files that appear together, each of them complete.

    They are written under temporary names, forced to disk, and renamed when the `with` block ends. If it ends with an
    error they are removed, with the folders that were made for them, and the files that were there before stay as they
    were.

        with AtomicFiles() as files:
            with files.open(path) as stream: ...

    `private` files can be read only by their owner.
    """

    def __init__(self, *, private: bool = False) -> None:
        self._temporary: dict[Path, Path] = {}
        self._made: list[Path] = []  # folders, the outermost first
        self._mode = PRIVATE_FILE if private else 0o666

    def __enter__(self) -> Self:
        return self

    @contextmanager
    def open(self, path: Path) -> Iterator[IO[bytes]]:
        """A stream to what will be the file at `path`. Folders are made; a link is followed.

        Raises `InputError` if the path is a folder or was opened before, and `OSError` with `path` as its file name.
        """
        target = Path(os.path.realpath(path))
        if target in self._temporary:
            raise InputError(f"{path} would be written twice: two documents or files lead to it")
        try:
            if target.is_dir():
                raise InputError(f"{path} is a folder, and a file is to be written there")
            if target.exists() and not target.is_file():  # a device or a pipe cannot be replaced
                with target.open("wb") as stream:
                    yield stream
                return
            for folder in [each for each in reversed(target.parents) if not each.exists()]:
                folder.mkdir(exist_ok=True)
                self._made.append(folder)
            temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
            self._temporary[target] = temporary
            with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, self._mode)) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            if error.errno is not None:
                error.filename = str(path)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                for target, temporary in self._temporary.items():
                    temporary.replace(target)
                for folder in {target.parent for target in self._temporary}:
                    _sync_folder(folder)
        finally:
            for temporary in self._temporary.values():
                with suppress(OSError):
                    temporary.unlink(missing_ok=True)
            for folder in reversed(self._made if kind is not None else []):
                with suppress(OSError):  # somebody else uses it
                    folder.rmdir()


def write_atomically(path: Path, content: bytes, *, private: bool = False) -> None:
    """Put `content` at `path`. A crash, a full disk or a kill leaves the old content or the new, never a part."""
    with AtomicFiles(private=private) as files, files.open(path) as stream:
        stream.write(content)


@contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """A new folder to fill, which is moved to `place` when the block ends; if the block raises, it is removed.

    If another process was faster, its folder stays: both must give the same.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f"{place.name}.", dir=place.parent))
    try:
        yield made
        try:
            made.rename(place)
        except OSError:
            if not place.is_dir():
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def keep_details(error: Exception, said: str | None = None) -> str:
    """The message about a bug. The traceback goes into a file, because users should not have to read it."""
    said = said or f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}"
    path = home_folder() / "errors" / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    try:
        write_atomically(path, "".join(traceback.format_exception(error)).encode("utf-8", "replace"), private=True)
    except OSError:
        return said
    return f"{said}. This should not happen. Details, to report it with, are in {path}"


def _sync_folder(folder: Path) -> None:
    """Force a folder's names to disk, so that a rename survives a power cut. Not every system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def make_folder(folder: Path) -> None:
    """Make a folder for output if it does not exist. Raises `InputError` if it cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".{secrets.token_hex(8)}.part"
        probe.touch()
        probe.unlink()
    except OSError as error:
        reason = "it is a file" if folder.is_file() else error.strerror
        raise InputError(f"{folder} cannot be used as a folder for output: {reason}") from error


def make_private(path: Path) -> None:
    """Make a file readable by its owner only, if it exists."""
    with suppress(OSError):  # another user's file, or a file system without modes
        if path.stat().st_mode & 0o077:
            path.chmod(PRIVATE_FILE)


# Locks


def lock_file(path: Path, busy: str) -> IO[bytes]:
    """Lock a file for this process, until the returned file is closed or the process ends, however it ends.

    Raises `InputError` with the message `busy`, and the id of the other process, if another one holds the lock.
    """
    try:
        file = path.open("a+b")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error
    try:
        _lock(file.fileno())
    except OSError as error:
        file.seek(0)
        holder = file.read().decode(errors="replace").strip() or "unknown"
        file.close()
        raise InputError(f"{busy} (process {holder})") from error
    file.truncate(0)
    file.write(str(os.getpid()).encode())
    file.flush()
    return file


@contextmanager
def exclusive(folder: Path, what: str) -> Iterator[None]:
    """Keep a folder for this process: `what` says what it does there, as in "training into"."""
    make_folder(folder)
    busy = f"another process is {what} {folder}; wait for it to end, or use another folder"
    with lock_file(folder / LOCK, busy):
        yield


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, 1 << 20, os.SEEK_SET)  # a locked byte cannot be read: lock one behind the process id
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

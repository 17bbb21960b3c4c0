"""Writing files so that a crash, a full disk or a kill leaves the old content or the new, never a part."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corefine.errors import InputError

LOCK = ".lock"


def write_atomically(path: Path, content: bytes) -> None:
    """Put `content` at `path` in one step: written beside it, forced to disk, renamed over it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


@contextmanager
def exclusive(folder: Path, what: str) -> Iterator[None]:
    """Within this, no other process is in its own `exclusive` of the folder. The system ends it with the process."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("ab") as file:
        try:
            _lock(file.fileno())
        except OSError as error:
            raise InputError(
                f"another process is {what} {folder}; wait for it to end, or use another folder"
            ) from error
        yield


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def sync_folder(folder: Path) -> None:
    """Force a folder's names to disk, so that a rename survives a power cut; skipped where the system cannot."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)

"""Files that appear whole or not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast
from uuid import uuid4

from corefine.errors import InputError


class Staged:
    """Files written aside and put in their places together, when all has gone well.

    with Staged() as files:
        with files.open(path) as stream: ...
    """

    def __init__(self) -> None:
        self._aside: dict[Path, Path] = {}

    def __enter__(self) -> Self:
        return self

    @contextmanager
    def open(self, path: Path) -> Iterator[IO[bytes]]:
        """A stream to what will be the file at `path`, packed if its name ends in .gz."""
        place = Path(os.path.realpath(path))
        if place in self._aside:
            raise InputError(f"{path} would be written twice: two documents or files lead to it")
        try:
            if place.is_dir():
                raise InputError(f"{path} is a folder, and a file is to be written there")
            aside = place
            if not place.exists() or place.is_file():  # a device or pipe is written to as it is
                aside = place.with_name(f".{place.name[:100]}.{uuid4().hex}")
                self._aside[place] = aside
            place.parent.mkdir(parents=True, exist_ok=True)
            with ExitStack() as stack:
                stream: IO[bytes] = stack.enter_context(aside.open("wb"))
                if path.suffix == ".gz":
                    # no time stamp and no name, so that equal content gives equal files
                    packed = gzip.GzipFile(fileobj=stream, mode="wb", filename="", mtime=0)
                    stream = cast(IO[bytes], stack.enter_context(packed))
                yield stream
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}") from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for place, aside in self._aside.items() if kind is None else ():
                aside.replace(place)
        except OSError as failed:
            raise InputError(f"{place} cannot be written: {failed.strerror or failed}") from failed
        finally:
            for aside in self._aside.values():
                with suppress(OSError):
                    aside.unlink(missing_ok=True)


def is_folder(path: Path) -> bool:
    """Whether there is a folder; not an error where the path is one that nothing can have."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False

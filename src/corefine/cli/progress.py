"""Progress for long work: a bar on a terminal, plain lines elsewhere, always on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

QUIET_SECONDS = 5.0
"""Plain lines come at most this often."""


def tracked(
    items: Iterable[T],
    what: str,
    *,
    total: int | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[T]:
    """Yield the items, showing how far along the work is."""
    if not sys.stderr.isatty():
        yield from _lines(items, what, total, clock)
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, description=what, total=total, console=Console(stderr=True), transient=True)


def _lines(items: Iterable[T], what: str, total: int | None, clock: Callable[[], float]) -> Iterator[T]:
    last = clock()
    for count, item in enumerate(items, start=1):
        yield item
        if clock() - last >= QUIET_SECONDS:
            of = f" of {total}" if total is not None else ""
            sys.stderr.write(f"{what}: {count}{of}\n")
            last = clock()

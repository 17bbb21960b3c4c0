"""What commands print: JSON, tables, and progress on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import typer

if TYPE_CHECKING:
    from corefine.errors import Fault

T = TypeVar("T")

QUIET_SECONDS = 5.0
"""Without a terminal, at most one line of progress is printed in this time."""


def show_json(value: Any, *, err: bool = False) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False), err=err)


def show_fault(fault: Fault) -> None:
    """Tell a fault of an input file on stderr."""
    typer.echo(f"corefine: {'unreadable' if fault.fatal else 'repaired'}: {fault}", err=True)


def show_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Collection[str] = (), title: str | None = None
) -> None:
    """Print a table; the columns named in `numbers` are aligned to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", padding=(0, 0, 0, 1))
    for column in columns:
        if column in numbers:
            table.add_column(column, justify="right", no_wrap=True)
        else:
            table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console()
    if not console.is_terminal:
        console.width = 1000  # lines in a file are not cut
    console.print(table)


def tracked(items: Iterable[T], what: str, *, total: int | None = None) -> Iterator[T]:
    """Yield the items, and show how many are done."""
    with progress(what, total=total) as advance:
        for item in items:
            yield item
            advance()


@contextmanager
def progress(what: str, *, total: int | None = None, quiet: bool = False) -> Iterator[Callable[[], None]]:
    """Show how far the work is: a bar on a terminal, else plain lines. Call what it yields after each step."""
    if quiet:
        yield lambda: None
        return
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda: bar.advance(task)
        return
    count, last = 0, time.monotonic()

    def advance() -> None:
        nonlocal count, last
        count += 1
        if time.monotonic() - last >= QUIET_SECONDS:
            of = f" of {total}" if total is not None else ""
            typer.echo(f"{what}: {count}{of}", err=True)
            last = time.monotonic()

    yield advance

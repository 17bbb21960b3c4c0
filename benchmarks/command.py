"""What every benchmark shares: `python benchmarks/NAME.py [--json]`.

To add a benchmark, write `benchmarks/NAME.py` with

- a `measure` that returns a frozen dataclass; a property `failure` that is not None says which bar was missed;
- a `described` that puts that result in words;
- a `main` whose parameters are the options, which calls `report`, and `run(main)` at the end of the file.

Then add NAME to `bench` in the Makefile.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from corefine.errors import CorefineError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Result = TypeVar("Result", bound=DataclassInstance)

Json = Annotated[bool, typer.Option("--json", help="Write one JSON object.")]
Corpora = Annotated[Path | None, typer.Option(help="Folder with the corpora, as `data get --mirror` has it.")]
LitBank = Annotated[Path | None, typer.Option(help="Folder with LitBank, as `data get --mirror` has it.")]
Rounds = Annotated[int, typer.Option(min=1, help="Rounds of each measurement that count.")]
Seed = Annotated[int, typer.Option(help="Seed of everything that is random.")]


def report(result: Result, described: Callable[[Result], str], *, as_json: bool) -> None:
    """Write a result for a program or for a person. Exit with 1 if a bar was missed."""
    typer.echo(json.dumps(asdict(result)) if as_json else described(result))
    failure: str | None = getattr(result, "failure", None)
    if failure is not None:
        typer.echo(f"corefine: bar missed: {failure}", err=True)
        raise typer.Exit(1)


def run(main: Callable[..., None]) -> None:
    """Run a benchmark's `main` as a command. Bad input is one message on stderr and exit code 2."""
    try:
        typer.run(main)
    except CorefineError as error:
        typer.echo(f"corefine: {error}", err=True)
        sys.exit(2)

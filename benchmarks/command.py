"""What every benchmark shares: `python benchmarks/NAME.py [--json]`.

To add a benchmark, write `benchmarks/NAME.py` with

- a `measure` that returns a frozen dataclass with a property `failure`, which says which bars were missed, or None;
- a `described` that puts that result in words;
- a `main` whose parameters are the options, which calls `report`, and `run(main)` at the end of the file.

Then add NAME to `bench` in the Makefile.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, TypeVar

import typer

from corefine.errors import CorefineError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Result = TypeVar("Result", bound=DataclassInstance)

Json = Annotated[bool, typer.Option("--json", help="Write one JSON object.")]
Corpora = Annotated[Path | None, typer.Option(help="Folder with corpora, as `corefine data get --mirror` takes it.")]
Rounds = Annotated[int, typer.Option(min=1, help="Rounds of each measurement that count.")]
Seed = Annotated[int, typer.Option(help="Seed of everything that is random.")]


def corpora_folder(given: Path | None) -> Path | None:
    """The folder with the corpora: the given one, that of COREFINE_CORPORA, or where tests look; None if it is missing.

    Without it, corpora that `corefine data get` downloaded can be loaded.
    """
    folder = given or Path(os.environ.get("COREFINE_CORPORA", "../shared/corpora"))
    return folder if given is not None or folder.is_dir() else None


class Bar(NamedTuple):
    """What must hold of a measured value, such as Bar("p95, ms", 12.5, "below", 20)."""

    what: str
    value: float
    rule: Literal["at least", "below"]
    bound: float

    @property
    def holds(self) -> bool:
        return self.value < self.bound if self.rule == "below" else self.value >= self.bound

    def __str__(self) -> str:
        return f"{self.what}: {self.value:.4g}, not {self.rule} {self.bound:g}"


def missed(*bars: Bar) -> str | None:
    """The bars that do not hold, in words; None if all do."""
    return "; ".join(str(bar) for bar in bars if not bar.holds) or None


def report(result: Result, described: Callable[[Result], str], *, as_json: bool) -> None:
    """Write a result for a program or for a person. Exit with 1 if a bar was missed."""
    typer.echo(json.dumps(asdict(result)) if as_json else described(result))
    failure: str | None = getattr(result, "failure")  # noqa: B009 - every result has it, which its type cannot say
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

"""`corefine predict`: entities in files and folders."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corefine.cli.progress import QUIET_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from corefine.models.resolver import Result


def predict(
    source: Annotated[str, typer.Argument(help="A file, a folder, or - for standard input.", metavar="IN")],
    target: Annotated[str, typer.Argument(help="A file, a folder, or - for standard output.", metavar="OUT")],
    model: Annotated[str, typer.Option(help="A folder that `corefine train` wrote, or starter.")] = "starter",
    from_: Annotated[str | None, typer.Option("--from", help="Format of IN, if its ending does not tell.")] = None,
    to: Annotated[str | None, typer.Option("--to", help="Format of OUT, if its ending does not tell.")] = None,
    language: Annotated[str | None, typer.Option(help="Language of plain text, as a code; English if none.")] = None,
    lossy: Annotated[bool, typer.Option("--lossy", help="Leave out what OUT cannot express.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    threads: Annotated[int | None, typer.Option(help="Threads; all cores if not given.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder to keep encoder states in.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Write a summary as one JSON object to stderr.")] = False,
) -> None:
    """Find the entities of every document in IN and write the documents with them to OUT."""
    import json as json_

    from corefine.models.load import load, need_model

    need_model()
    from corefine.models.devices import use_threads
    from corefine.models.predict_files import Options, predict_files

    use_threads(threads)
    resolver = load(model, device=device, cache=cache)
    options = Options(read_as=from_, write_as=to, language=language, lossy=lossy)
    seen = {"documents": 0, "tokens": 0, "entities": 0, "mentions": 0}
    began = time.monotonic()
    with _progress(quiet=json) as say:

        def show(result: Result) -> None:
            seen["documents"] += 1
            seen["tokens"] += len(result.document)
            seen["entities"] += len(result.clusters)
            seen["mentions"] += sum(map(len, result.clusters))
            say(f"{seen['documents']} documents, {seen['tokens']:,} tokens")

        predict_files(resolver, source, target, options, on_result=show)
    if json:
        typer.echo(json_.dumps(seen | {"seconds": time.monotonic() - began}), err=True)
    else:
        found = f"{seen['entities']} entities with {seen['mentions']} mentions"
        typer.echo(f"{seen['documents']} documents, {seen['tokens']} tokens: {found}", err=True)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Say how far along the work is: on one line of a terminal, now and then as a line elsewhere."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status("predicting") as status:
            yield lambda text: status.update(f"predicting: {text}")
    else:
        last = time.monotonic()

        def line(text: str) -> None:
            nonlocal last
            if time.monotonic() - last >= QUIET_SECONDS:
                last = time.monotonic()
                typer.echo(f"predicting: {text}", err=True)

        yield line

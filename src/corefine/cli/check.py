"""`corefine check`: every fault of some files."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer


def check(
    paths: Annotated[list[str], typer.Argument(metavar="PATHS", help="Files, folders or quoted globs.")],
    format: Annotated[str | None, typer.Option("--format", help="Format of the files, if names do not tell.")] = None,
    language: Annotated[
        str | None, typer.Option(help="Code of the language by whose rules plain text is split.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Write one JSON object.")] = False,
) -> None:
    """List every fault: file, line, document, token, and what is wrong. Exits with 1 if there is any."""
    from corefine.formats.check import check as run

    checked = run(paths, format, language=language, on_fault=lambda fault: None if json else typer.echo(str(fault)))
    if json:
        from json import dumps

        faults = [asdict(fault) for fault in checked.faults]
        typer.echo(
            dumps({"files": checked.files, "documents": checked.documents, "faults": faults}, ensure_ascii=False)
        )
    else:
        found = f"{len(checked.faults)} faults" if checked.faults else "no faults"
        typer.echo(f"{found} in {checked.files} files, {checked.documents} documents read", err=True)
    if checked.faults:
        raise typer.Exit(1)

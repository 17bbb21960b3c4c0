"""`corefine export`: what a project gives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    out: Annotated[Path, typer.Argument(help="The file or folder to write; its ending tells what.", metavar="OUT")],
    project: Annotated[Path, typer.Option(help="The project's folder.")] = Path("corefine-project"),
    database: Annotated[str | None, typer.Option(help="The project's database, if it is not in its folder.")] = None,
    format: Annotated[
        str | None, typer.Option(help="A format of `corefine convert`, or provenance, report or model.")
    ] = None,
    answered: Annotated[bool, typer.Option("--answered", help="Only documents with answers.")] = False,
    lossy: Annotated[bool, typer.Option("--lossy", help="Leave out what the format cannot express.")] = False,
) -> None:
    """Write a project's annotated documents, where each link comes from (.json), its model, or a report (.html)."""
    from corefine.cli.annotate import need_project
    from corefine.project.results.export import export as write

    with need_project(project, database) as opened:
        lost = write(opened, out, format, answered_only=answered, lossy=lossy)
    for what, count in lost.items():
        typer.echo(f"corefine: left out: {what} ({count})", err=True)

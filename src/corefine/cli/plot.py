"""`corefine plot`: figures and report from rows that are there already."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def plot(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, or rows of a reproduction.", metavar="RUNS...")],
    out: Annotated[Path, typer.Option(help="Folder for figures and report.")] = Path("report"),
    comment: Annotated[Path | None, typer.Option(help="A text file; its paragraphs open the page.")] = None,
    closure_times: Annotated[
        bool, typer.Option(help="Whether to time the closures on this machine for their figure (a minute).")
    ] = True,
) -> None:
    """Draw figures (PNG, SVG, PDF), tables and one self-contained HTML page from the rows of runs."""
    from corefine.reproduction.drawing import need_plot
    from corefine.reproduction.report import write_report
    from corefine.simulation.summary import load_records

    need_plot()
    text = comment.read_text(encoding="utf-8") if comment is not None else ""
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()]
    times = None
    if closure_times:
        from corefine.reproduction.closure_timing import closure_times as measure

        times = measure()
    typer.echo(write_report(load_records(runs), out, closure=times, comment=paragraphs))

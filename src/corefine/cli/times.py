"""`corefine times`: how long a project's answers took."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from corefine.project.results.times import TimingRow


def times(
    project: Annotated[Path, typer.Option(help="The project's folder.")] = Path("corefine-project"),
    database: Annotated[str | None, typer.Option(help="The project's database, if it is not in its folder.")] = None,
    set_cost: Annotated[
        bool, typer.Option("--set/--no-set", help="Use these times as the project's cost model.")
    ] = True,
    study: Annotated[bool, typer.Option("--study", help="Only the answers of the timing study.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Write one JSON object.")] = False,
) -> None:
    """Print the timing table of the paper for this project, and set the project's cost model from it."""
    from dataclasses import asdict

    from corefine.cli.annotate import need_project
    from corefine.project.results import times as timing
    from corefine.project.study import study as timing_study

    with need_project(project, database) as opened:
        with opened.database.read() as connection:
            rows = timing_study.measure(connection) if study else timing.measure(connection)
        cost = timing.cost_model(rows)
        if set_cost:
            opened.writer.write(lambda connection: timing.keep(connection, cost))
    if json:
        from json import dumps

        typer.echo(dumps({"times": [asdict(row) for row in rows], "cost": asdict(cost), "set": set_cost}))
        return
    _show(rows)
    said = "set" if set_cost else "would be"
    typer.echo(
        f"Cost model {said}: initial {cost.initial:.2f} s, follow-up {cost.follow_up:.2f} s, "
        f"follow-up alone {cost.follow_up_alone:.2f} s "
        f"(the paper's where fewer than {timing.FEWEST} answers were timed)."
    )


def _show(rows: list[TimingRow]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    table.add_column("")
    for column in ("Avg. time per ?", "deviation", "median", "answers"):
        table.add_column(column, justify="right")
    for row in rows:
        values = (row.mean, row.deviation, row.median)
        shown = ("–" if value is None else f"{value:.2f} s" for value in values)
        table.add_row(row.name, *shown, str(row.answers))
    Console().print(table)

"""`corefine export`, `corefine invite` and `corefine times`: a project from the command line."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from corefine.cli.options import PROJECT, Database, Json, Lossy, ProjectFolder
from corefine.cli.output import show_json, show_table

if TYPE_CHECKING:
    from corefine.project import Project


def need_web() -> None:
    """Raise unless the extra "web" is installed."""
    from importlib.util import find_spec

    from corefine.errors import MissingExtraError

    for package in ("fastapi", "uvicorn", "sqlalchemy", "alembic"):
        if find_spec(package) is None:
            raise MissingExtraError(package, "web")


def open_project(folder: Path, database: str | None) -> Project:
    """Open a project that exists."""
    need_web()
    from corefine.errors import InputError
    from corefine.project import Project

    if database is None and not (folder / "project.json").exists():
        raise InputError(f"{folder} is not a project: name one with --project, or begin one with `corefine annotate`")
    return Project(folder, database=database)


def export(
    out: Annotated[Path, typer.Argument(help="File or folder to write; its ending tells the format.", metavar="OUT")],
    project: ProjectFolder = PROJECT,
    database: Database = None,
    format: Annotated[
        str | None, typer.Option(help="A format of `corefine convert`, or provenance, report or model.")
    ] = None,
    only: Annotated[Literal["all", "answered", "finished", "reviewed"], typer.Option(help="Which documents.")] = "all",
    said: Annotated[bool, typer.Option("--said", help="Only what people said: nothing of the model.")] = False,
    lossy: Lossy = False,
) -> None:
    """Write a project's annotated documents, where each link comes from (.json), its model, or a report (.html)."""
    with open_project(project, database) as opened:
        from corefine.project.results.export import export as write

        made = write(opened, out, format, only=only, said=said, lossy=lossy)
    for name, why in made.skipped:
        typer.echo(f"corefine: left out: {name}: {why}", err=True)
    for what, count in made.lost.items():
        typer.echo(f"corefine: left out: {what} ({count})", err=True)


def invite(
    name: Annotated[str | None, typer.Argument(help="The person to invite, or to give a new link.")] = None,
    project: ProjectFolder = PROJECT,
    database: Database = None,
    owner: Annotated[bool, typer.Option("--owner", help="Invite as an owner, not as an annotator.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="End the person's access; the answers stay.")] = False,
    url: Annotated[str, typer.Option(help="The address of the server for other people.")] = "http://127.0.0.1:8000",
) -> None:
    """Invite a person and print their link, which is shown only once. Without NAME, list all people."""
    need_web()
    from corefine.errors import InputError
    from corefine.project import Project
    from corefine.project.store import people

    with Project(project, database=database) as opened:
        with opened.database.read() as connection:
            everybody = people.everybody(connection)
            was_open = not people.anybody_invited(connection)
        if name is None:
            for person in everybody:
                typer.echo(f"{person.name}\t{person.role}\t{'active' if person.active else 'revoked'}")
            return
        known = next((person for person in everybody if person.name == name), None)
        if not revoke:
            role = people.OWNER if owner else people.ANNOTATOR
            token = opened.writer.write(
                lambda connection: people.invite(connection, known or people.add(connection, name, role))
            )
            typer.echo(f"{url.rstrip('/')}/#join={token}")
            if was_open and not (known.is_owner if known else owner):
                hint = "everybody needs a link from now on, you too: corefine invite --owner YOUR-NAME makes one"
                typer.echo(f"corefine: {hint}", err=True)
        elif known is None:
            raise InputError(f"nobody here is called {name!r}")
        else:
            opened.writer.write(lambda connection: people.revoke(connection, known))
            typer.echo(f"{name} has no access any more")


def times(
    project: ProjectFolder = PROJECT,
    database: Database = None,
    set_cost: Annotated[
        bool, typer.Option("--set/--no-set", help="Use these times as the project's cost model.")
    ] = True,
    study: Annotated[bool, typer.Option("--study", help="Only the answers of the timing study.")] = False,
    json: Json = False,
) -> None:
    """Print how long answers took, as the paper's table does, and set the project's cost model from it."""
    with open_project(project, database) as opened:
        from corefine.project.results import times as timing
        from corefine.project.study import study as timing_study

        with opened.database.read() as connection:
            rows = timing_study.measure(connection) if study else timing.measure(connection)
        cost = timing.cost_model(rows)
        if set_cost:
            opened.writer.write(lambda connection: timing.keep(connection, cost))
    if json:
        show_json({"times": [asdict(row) for row in rows], "cost": asdict(cost), "set": set_cost})
        return
    columns = ("", "Avg. time per ?", "deviation", "median", "answers")
    shown = [
        (row.name, _seconds(row.mean), _seconds(row.deviation), _seconds(row.median), str(row.answers)) for row in rows
    ]
    show_table(columns, shown, numbers=columns[1:])
    typer.echo(
        f"Cost model {'set' if set_cost else 'would be'}: initial {cost.initial:.2f} s, "
        f"follow-up {cost.follow_up:.2f} s, follow-up alone {cost.follow_up_alone:.2f} s "
        f"(the paper's where fewer than {timing.FEWEST} answers were timed)."
    )


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f} s"

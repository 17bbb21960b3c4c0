"""`corefine project`: check, repair, back up and restore a project."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corefine.cli.options import PROJECT, Database, Json, ProjectFolder
from corefine.cli.output import show_json
from corefine.cli.project import need_web, open_project

if TYPE_CHECKING:
    from corefine.project.upkeep.checking import Finding

app = typer.Typer(help="Check a project, repair it, back it up, restore it.", no_args_is_help=True)


@app.command()
def check(project: ProjectFolder = PROJECT, database: Database = None, json: Json = False) -> None:
    """Say what is damaged: the database, logs, documents, predictions, models. Exit code 1 if anything is."""
    found = _damage(project, database)
    if not found:
        with open_project(project, database) as opened:
            from corefine.project.upkeep.checking import check

            found = check(opened)
    if json:
        show_json([asdict(finding) for finding in found])
    else:
        for finding in found:
            typer.echo(str(finding))
        typer.echo(f"{len(found)} problems: see `corefine project repair`" if found else "everything can be read")
    if found:
        raise typer.Exit(1)


@app.command()
def repair(project: ProjectFolder = PROJECT, database: Database = None) -> None:
    """Repair what `check` finds. Every answer that can be read is kept. Stop the server first."""
    done: list[str] = []
    if _damage(project, database):
        from corefine.files import lock_file
        from corefine.project.upkeep.salvage import salvage

        with lock_file(project / "server.lock", f"project {project} is open in another corefine: stop it first"):
            done += salvage(project.resolve())
    with open_project(project, database) as opened:
        from corefine.project.upkeep.checking import check
        from corefine.project.upkeep.repairing import repair

        opened.lock()
        done += repair(opened)
        left = check(opened)
    for line in done or ["there was nothing to repair"]:
        typer.echo(line)
    for finding in left:
        typer.echo(f"still there: {finding}", err=True)
    if left:
        raise typer.Exit(1)


@app.command()
def backup(
    out: Annotated[Path, typer.Argument(help="The file to write, a zip archive.", metavar="OUT")],
    project: ProjectFolder = PROJECT,
    database: Database = None,
) -> None:
    """Write everything that cannot be computed again to one file. The server may run meanwhile."""
    with open_project(project, database) as opened:
        from corefine.project.upkeep.backup import backup

        counts = backup(opened, out)
    shown = ("documents", "people", "events", "model files")
    typer.echo(f"{out}: " + ", ".join(f"{counts.get(name, 0)} {name}" for name in shown))


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="What `corefine project backup` wrote.", metavar="FILE")],
    project: Annotated[Path, typer.Option(help="The folder to make; it must be new or empty.")] = PROJECT,
    database: Annotated[str | None, typer.Option(help="postgresql://..., an empty database to restore into.")] = None,
) -> None:
    """Make a new project from a backup. Nothing is overwritten."""
    need_web()
    from corefine.project.upkeep.backup import restore

    restore(file, project, database=database)
    typer.echo(f"{project} is restored; `corefine annotate --project {project}` serves it")


def _damage(folder: Path, database: str | None) -> list[Finding]:
    """Damage to the database file. The project is not opened, because that may fail."""
    need_web()
    from corefine.project.project import SQLITE, check_database_file
    from corefine.project.store.database import Database, sqlite_url
    from corefine.project.upkeep.checking import check_database

    path = folder / SQLITE
    if database is not None or not path.is_file():
        return []
    check_database_file(folder)
    opened = Database(sqlite_url(path))
    try:
        return list(check_database(opened))
    finally:
        opened.close()

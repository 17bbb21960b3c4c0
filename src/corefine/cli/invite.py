"""`corefine invite`: people and their invitations, from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def invite(
    name: Annotated[str | None, typer.Argument(help="Whom to invite, or to give a new link.")] = None,
    project: Annotated[Path, typer.Option(help="The project's folder.")] = Path("corefine-project"),
    database: Annotated[str | None, typer.Option(help="The project's database, if it is not in its folder.")] = None,
    owner: Annotated[bool, typer.Option("--owner", help="Invite as an owner, not as an annotator.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="End the person's access; the answers stay.")] = False,
    url: Annotated[str, typer.Option(help="Where people reach the server.")] = "http://127.0.0.1:8000",
) -> None:
    """Invite somebody and print their link, which is shown this once. Without NAME, list who takes part."""
    from sqlalchemy import Connection

    from corefine.cli.annotate import need_web
    from corefine.errors import InputError

    need_web()
    from corefine.project import Project
    from corefine.project.store import people

    with Project(project, database=database) as opened:
        with opened.database.read() as connection:
            everybody = people.everybody(connection)
        if name is None:
            for person in everybody:
                typer.echo(f"{person.name}\t{person.role}\t{'active' if person.active else 'revoked'}")
            return
        known = next((person for person in everybody if person.name == name), None)
        if revoke:
            if known is None:
                raise InputError(f"nobody here is called {name!r}")
            opened.writer.write(lambda connection: people.revoke(connection, known))
            typer.echo(f"{name} has no access any more")
            return

        def job(connection: Connection) -> str:
            person = known or people.add(connection, name, people.OWNER if owner else people.ANNOTATOR)
            return people.invite(connection, person)

        typer.echo(f"{url.rstrip('/')}/#join={opened.writer.write(job)}")

"""`corefine annotate`: the annotation app."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from corefine.project import Project
    from corefine.project.store.documents import Imported

HELD_OUT_STORIES = 3
"""Of the bundled stories so many are kept to score the model on, so that its learning can be seen."""

LISTED = 20


def annotate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files and folders, in any format that convert reads.", metavar="[PATHS]..."),
    ] = None,
    project: Annotated[Path, typer.Option(help="The project's folder; made if it is not there.")] = Path(
        "corefine-project"
    ),
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0: any that is free.")] = 8000,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
    database: Annotated[
        str | None, typer.Option(help="postgresql://... for teams, in place of a file in the project's folder.")
    ] = None,
    held_out: Annotated[
        list[Path] | None, typer.Option(help="Gold documents to score the model on; nobody is asked about them.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another name the server may be called by, as behind a proxy.")
    ] = None,
    terminal: Annotated[bool, typer.Option("--terminal", help="Annotate here in the terminal.")] = False,
) -> None:
    """Answer questions about your documents while a model learns from the answers.

    Without PATHS, the project goes on with the documents it has; a new one gets the bundled stories.
    """
    need_web()
    from corefine.project import Project

    with Project(project, database=database) as opened:
        opened.lock()
        notices = import_documents(opened, paths or [], held_out or [])
        if terminal:
            from corefine.terminal import run

            run(opened)
            return
        _serve(opened, host, port, tuple(allow_host or ()), notices, browser=browser)


def need_web() -> None:
    """Raise unless the extra "web" is installed."""
    from importlib.util import find_spec

    from corefine.errors import MissingExtraError

    for package in ("fastapi", "uvicorn", "sqlalchemy", "alembic"):
        if find_spec(package) is None:
            raise MissingExtraError(package, "web")


def need_project(folder: Path, database: str | None) -> Project:
    """A project that is there already; raises if it is not."""
    need_web()
    from corefine.errors import InputError
    from corefine.project import Project

    if database is None and not (folder / "project.json").exists():
        raise InputError(f"{folder} is not a project: name one with --project, or begin one with `corefine annotate`")
    return Project(folder, database=database)


def import_documents(project: Project, paths: list[Path], held_out: list[Path]) -> list[str]:
    """Read what was named, or the stories into an empty project; returns what to tell about it."""
    from corefine.project.store import documents

    notices = []
    for named, out in ((paths, False), (held_out, True)):
        if named:
            found = project.writer.write(partial(documents.import_paths, paths=named, held_out=out))
            notices += found.notices
            _tell(found)
    if not paths:
        with project.database.read() as connection:
            found = documents.Imported(changed=documents.changed_files(connection))
        notices += found.notices
        _tell(found)
    if not project.documents.all() and not paths:
        _import_stories(project)
    return notices


def _import_stories(project: Project) -> None:
    from sqlalchemy import Connection

    from corefine.corpora import stories
    from corefine.project.store import documents

    every = stories.load()

    def job(connection: Connection) -> None:
        for number, story in enumerate(every):
            documents.add(connection, story, held_out=number >= len(every) - HELD_OUT_STORIES)

    project.writer.write(job)


def _tell(found: Imported) -> None:
    for notice in found.notices[:LISTED]:
        typer.echo(f"corefine: {notice}", err=True)
    if len(found.notices) > LISTED:
        typer.echo(f"corefine: and {len(found.notices) - LISTED} more like these", err=True)


def _serve(
    project: Project, host: str, port: int, allowed: tuple[str, ...], notices: list[str], *, browser: bool
) -> None:
    from corefine.project.store import people
    from corefine.web.server import Address, bind, check_tokens, serve

    address = Address(host, port, allowed)
    is_open = check_tokens(project, address)
    listener = bind(address)
    bound = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{bound}/"
    if not is_open:
        owner = project.owner()
        url += f"#join={project.writer.write(lambda connection: people.log_in(connection, owner))}"

    def ready() -> None:
        typer.echo(f"corefine: {url}")
        if browser:
            _open_page(url)

    serve(project, listener, address, open=is_open, notices=notices, ready=ready)


def _open_page(url: str) -> None:
    """Open a window on the page where there are windows: a browser in this terminal would be in the way."""
    import os
    import sys
    import threading
    import webbrowser

    windows = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))
    if windows:  # some browsers return only when they are closed
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

"""`corefine annotate`: the annotation app."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corefine.cli.options import PROJECT, Database, ProjectFolder
from corefine.cli.project import need_web

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from corefine.project import Project

HELD_OUT_STORIES = 3
"""How many of the bundled stories, the last ones, are kept to score the model on."""

LISTED = 20
"""Notices that are printed, at most."""


def annotate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files and folders, in any format that convert reads.", metavar="[PATHS]..."),
    ] = None,
    project: ProjectFolder = PROJECT,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0: any that is free.")] = 8000,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
    database: Database = None,
    held_out: Annotated[
        list[Path] | None, typer.Option(help="Gold documents to score the model on; they are not annotated.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another name of the server, for example behind a proxy.")
    ] = None,
    terminal: Annotated[bool, typer.Option("--terminal", help="Annotate in this terminal.")] = False,
) -> None:
    """Answer questions about your documents while a model learns from the answers.

    The project is made if it does not exist. Without PATHS, it keeps the documents it has; a new one gets the bundled
    stories.
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


def import_documents(project: Project, paths: list[Path], held_out: list[Path]) -> list[str]:
    """Import the files, or the stories into an empty project. Returns what the owner should know, and prints it."""
    from corefine.project.store import documents

    notices = []
    for named, is_held_out in ((paths, False), (held_out, True)):
        if named:
            found = project.writer.write(partial(documents.import_paths, paths=named, held_out=is_held_out))
            notices += found.notices
    if not paths:
        with project.database.read() as connection:
            notices += documents.Imported(changed=documents.changed_files(connection)).notices
        if not project.documents.all():
            project.writer.write(_import_stories)
    for notice in notices[:LISTED]:
        typer.echo(f"corefine: {notice}", err=True)
    if len(notices) > LISTED:
        typer.echo(f"corefine: and {len(notices) - LISTED} more like these", err=True)
    return notices


def _import_stories(connection: Connection) -> None:
    from corefine.corpora import stories
    from corefine.project.store import documents

    loaded = stories.load()
    for number, story in enumerate(loaded):
        documents.add(connection, story, held_out=number >= len(loaded) - HELD_OUT_STORIES)


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
    """Open the page in a browser, but not in one that would run in this terminal."""
    import os
    import sys
    import threading
    import webbrowser

    windows = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))
    if windows:  # some browsers return only when they are closed
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

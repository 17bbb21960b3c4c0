"""`corefine annotate`: the annotation app."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from corefine.cli.options import PROJECT, Database, ProjectFolder
from corefine.cli.project import need_web

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from corefine.project import Project
    from corefine.web.server import Address

LISTED = 20
"""At most this many notices are printed."""

FirstModel = Annotated[
    str | None,
    typer.Option(
        help="The model to begin with: a folder, starter, strong, rules or module:attribute. Stored in the project."
    ),
]
FirstSelector = Annotated[
    str | None,
    typer.Option(
        help="How the next mention to ask about is chosen: a name, or your own module:attribute. Stored in the project."
    ),
]
DocumentLanguage = Annotated[
    str | None,
    typer.Option(
        help="Code of the language of new documents, such as nl, or auto to detect it. Stored in the project."
    ),
]
Annotations = Annotated[
    str | None,
    typer.Option(
        help="How to use entities that PATHS contain: as answers, suggestions, gold (to score the model on), or ignore."
    ),
]


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
    model: FirstModel = None,
    selector: FirstSelector = None,
    language: DocumentLanguage = None,
    annotations: Annotations = None,
    held_out: Annotated[
        list[Path] | None, typer.Option(help="Gold documents to score the model on; they are not annotated.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another name of the server, for example behind a proxy.")
    ] = None,
    proxy: Annotated[list[str] | None, typer.Option(help="The address of a trusted proxy on another machine.")] = None,
    stories: Annotated[
        bool, typer.Option("--stories", help="Begin with the bundled stories, if the project has no documents.")
    ] = False,
    terminal: Annotated[bool, typer.Option("--terminal", help="Annotate in this terminal.")] = False,
) -> None:
    """Answer questions about your documents while a model learns from the answers.

    The project is made if it does not exist. Without PATHS, it keeps the documents it has; documents can also be added
    in the page.
    """
    need_web()
    from corefine.project import Project
    from corefine.project.upkeep.backup import end_killed_restore

    with Project(project, database=database) as opened:
        opened.lock()
        notices = check_quickly(opened)
        end_killed_restore(opened)
        if model is not None:
            _choose_model(opened, model)
        if language is not None:
            opened.change_settings(replace(opened.settings, language=language))
        if selector is not None:
            _choose_selector(opened, selector)
        notices += import_documents(opened, paths or [], held_out or [], stories=stories, annotations=annotations)
        if terminal:
            from corefine.terminal import run

            run(opened)
            return
        from corefine.web.server import Address

        _serve(opened, Address(host, port, tuple(allow_host or ()), tuple(proxy or ())), notices, browser=browser)


def check_quickly(project: Project) -> list[str]:
    """Raise if the database is damaged. Returns, and prints, what else the owner should repair."""
    from corefine.errors import InputError
    from corefine.project.upkeep import checking

    notices = []
    for finding in checking.quick_check(project):
        if finding.kind == checking.DATABASE:
            raise InputError(f"the project is damaged: {finding}. Run `corefine project repair`; nothing was changed")
        notices.append(f"{finding.where}: {finding.what}; run `corefine project repair`")
        typer.echo(f"corefine: {notices[-1]}", err=True)
    return notices


def _choose_model(project: Project, name: str) -> None:
    """Store the model in the project's settings, after checking that it exists."""
    from corefine.models.load import lasting_name, load, model_folder

    if model_folder(name) is None:
        load(name)
    project.change_settings(replace(project.settings, model=lasting_name(name)))


def _choose_selector(project: Project, name: str) -> None:
    """Store the selector in the project's settings, after checking that it can be made."""
    from corefine.annotation.selectors import make_selector
    from corefine.project.work.workspaces import check_model

    new = replace(project.settings, selector=name)
    check_model(new)
    make_selector(name)
    project.change_settings(new)


def import_documents(
    project: Project,
    paths: list[Path],
    held_out: list[Path],
    *,
    stories: bool = False,
    annotations: str | None = None,
) -> list[str]:
    """Import the files, and `stories` into an empty project. Returns what the owner should know, and prints it."""
    from corefine.project.store import documents
    from corefine.project.work.imported_entities import Use, checked_use, import_and_use

    use = checked_use(annotations or Use.IGNORE)
    notices = []
    code = project.settings.language_code
    for named, chosen in ((paths, use), (held_out, Use.GOLD)):
        if named:
            found = project.writer.write(partial(import_and_use, paths=named, chosen=chosen, language=code))
            notices += found.notices
            if found.annotated and annotations is None:
                notices.append(
                    f"documents that came with entities: {found.annotated}. These are not used; begin a project with "
                    "--annotations answers, suggestions or gold to use them"
                )
    if not paths:
        with project.database.read() as connection:
            notices += documents.Imported(changed=documents.changed_files(connection)).notices
    if stories and not project.documents.all():
        project.writer.write(_add_stories)
    for notice in notices[:LISTED]:
        typer.echo(f"corefine: {notice}", err=True)
    if len(notices) > LISTED:
        typer.echo(f"corefine: and {len(notices) - LISTED} more like these", err=True)
    return notices


def _add_stories(connection: Connection) -> None:
    from corefine.corpora import stories
    from corefine.project.store import documents

    documents.add_all(connection, stories.load(), held_out=stories.HELD_OUT)


def _serve(project: Project, address: Address, notices: list[str], *, browser: bool) -> None:
    from corefine.web.server import bind, check_open, serve

    is_open = check_open(project, address)
    listener = bind(address)
    shown = f"[{address.host}]" if ":" in address.host else address.host
    url = f"http://{shown}:{listener.getsockname()[1]}/"
    link = None if is_open else _owner_link(project, url)

    def ready() -> None:
        for line in _greeting(url, link, is_terminal=sys.stdout.isatty()):
            typer.echo(f"corefine: {line}")
        if browser:
            _open_page(url if link is None else link.page.as_uri())

    try:
        serve(project, listener, address, open=is_open, notices=notices, ready=ready)
    finally:
        if link is not None:
            link.page.unlink(missing_ok=True)


class OwnerLink(NamedTuple):
    """A link that logs the owner in once, and a page with this link that only the owner of the files can read."""

    url: str
    page: Path


def _owner_link(project: Project, url: str) -> OwnerLink:
    """Make a link for the owner. The browser opens the page, because every user can read its command line."""
    from corefine.files import write_atomically
    from corefine.project.store import people

    owner = project.owner()
    url += f"#join={project.writer.write(lambda connection: people.token_for_once(connection, owner))}"
    page = project.folder / "owner-link.html"
    content = f'<!doctype html><meta http-equiv="refresh" content="0; url={url}"><a href="{url}">{url}</a>\n'
    write_atomically(page, content.encode(), private=True)
    return OwnerLink(url, page)


def _greeting(url: str, link: OwnerLink | None, *, is_terminal: bool) -> list[str]:
    """What to print. The link is printed only on a terminal, because other output may be kept in a log."""
    if link is None:
        return [url]
    if is_terminal:
        return [link.url, "this link works once, within ten minutes; later: corefine invite NAME"]
    return [url, f"the owner's link, which works once, within ten minutes, is in {link.page}"]


def _open_page(url: str) -> None:
    """Open the page in a browser, but not in one that would run in this terminal."""
    import os
    import threading
    import webbrowser

    windows = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))
    if windows:  # some browsers return only when they are closed
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

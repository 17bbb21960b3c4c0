"""Hooks for mkdocs: they generate the pages about commands, settings and REST from the code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

sys.path.insert(0, str(Path(__file__).parent))  # mkdocs imports this file alone

import rest_page
import settings_page
from corefine.cli import app


def on_files(files: Any, *, config: Any) -> Any:
    """Add the generated pages."""
    from mkdocs.structure.files import File

    for name, content in pages().items():
        files.append(File.generated(config, f"reference/{name}.md", content=content))
    return files


def pages() -> dict[str, str]:
    """The generated pages of docs/reference, by name."""
    return {
        "commands": commands(),
        "settings": settings_page.reference(),
        "rest": rest_page.reference(rest_page.schema()),
    }


def commands() -> str:
    """All commands with their arguments and options."""
    lines = ["# Commands", "", "Generated from the commands. `corefine COMMAND --help` shows the same.", ""]
    for name, command in _commands(get_command(app), "corefine"):
        arguments = [each for each in command.params if each.param_type_name == "argument"]
        options = [
            each for each in command.params if each.param_type_name == "option" and not getattr(each, "hidden", False)
        ]
        usage = " ".join([name, *(_metavar(each) for each in arguments)])
        lines += [f"## {name}", "", f"```\n{usage}\n```", "", (command.help or "").strip(), ""]
        told = [(f"`{_metavar(each)}`", each.help or "") for each in arguments]
        told += [(f"`{', '.join([*each.opts, *each.secondary_opts])}`", each.help or "") for each in options]
        if told:
            lines += ["| | |", "|---|---|", *(f"| {name} | {_cell(text)} |" for name, text in told), ""]
    return "\n".join(lines)


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for each, found in sorted(inner.items()):
        yield from _commands(found, f"{name} {each}")

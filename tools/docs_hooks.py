"""What mkdocs calls while it builds the site: the page reference/commands.md is made from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from corefine.cli import app

PAGE = "reference/commands.md"


def on_files(files: Any, *, config: Any) -> Any:
    """Add the page of commands."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, PAGE, content=reference()))
    return files


def reference() -> str:
    """All commands with their arguments and options."""
    lines = ["# Commands", "", "Made from the commands themselves; `corefine COMMAND --help` says the same.", ""]
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

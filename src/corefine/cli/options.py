"""Options that several commands share, and options made from the settings of a config."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from enum import Enum
from functools import wraps
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, Optional, get_args, get_origin

import typer
from typer.core import TyperCommand

from corefine.config import Config

Json = Annotated[bool, typer.Option("--json", help="Write the result as JSON.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")]
ModelName = Annotated[
    str,
    typer.Option("--model", help="A folder of `corefine train`, starter, strong, rules or module:attribute."),
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads; all cores if not given.")]
Cache = Annotated[Path | None, typer.Option(help="Folder for the encoder's states.")]
Vectors = Annotated[Path | None, typer.Option(help="Word vectors for the recipe paper: GloVe's, or winkNLP's JSON.")]
Mirror = Annotated[Path | None, typer.Option(help="Folder with corpora as NAME/NAME.jsonl.gz; also COREFINE_MIRROR.")]
ProjectFolder = Annotated[Path, typer.Option(help="The project's folder.")]
Database = Annotated[str | None, typer.Option(help="postgresql://..., if the project is not in a file of its folder.")]
Ray = Annotated[str | None, typer.Option(help="Run on Ray: on this machine, or on the cluster at this address.")]
Source = Annotated[str, typer.Argument(metavar="IN", help="A file, a folder, a quoted glob, or - for standard input.")]
Target = Annotated[str, typer.Argument(metavar="OUT", help="A file, a folder, or - for standard output.")]
From = Annotated[str | None, typer.Option("--from", help="Format of IN, if its name does not tell.")]
To = Annotated[str | None, typer.Option("--to", help="Format of OUT, if its name does not tell.")]
Format = Annotated[str | None, typer.Option("--format", help="Format of the files, if their names do not tell.")]
Language = Annotated[str | None, typer.Option(help="Language code of plain text, such as nl; detected if not given.")]
Lossy = Annotated[bool, typer.Option("--lossy", help="Leave out what the format cannot express, and count it.")]
SkipFaulty = Annotated[
    bool, typer.Option("--skip-faulty", help="Leave out documents that cannot be read instead of stopping.")
]

PROJECT = Path("corefine-project")


class CommandWithRay(TyperCommand):
    """A command whose option --ray may come without a value, which typer does not offer."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(with_ray_value(args)))


def with_ray_value(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments, with "local" after an --ray that has no value."""
    for place, argument in enumerate(arguments):
        yield argument
        if argument == "--ray" and (place + 1 == len(arguments) or arguments[place + 1].startswith("-")):
            from corefine.simulation.ray_cluster import LOCAL

            yield LOCAL


def with_settings(config: type[Config], *names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each setting, or for those named; it gets the values as its argument `given`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        options = {option.name: option for option in _options(config, names)}

        @wraps(command)
        def run(**values: Any) -> None:
            given = {name: values.pop(name) for name in options}
            command(**values, given={name: value for name, value in given.items() if value not in (None, [])})

        signature = inspect.signature(command, eval_str=True)
        own = [each for each in signature.parameters.values() if each.name != "given"]
        run.__signature__ = signature.replace(parameters=[*own, *options.values()])  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in (*own, *options.values())}
        return run

    return decorate


def _options(config: type[Config], names: Sequence[str]) -> Iterator[inspect.Parameter]:
    panel = None
    for each in fields(config):
        panel = config.panels.get(each.name, panel)
        if names and each.name not in names:
            continue
        flag = [each.metadata["flag"]] if each.metadata["flag"] else []
        option = typer.Option(*flag, help=each.metadata["help"], rich_help_panel=panel)
        kind = _option_type(config.setting_types()[each.name])
        annotation = Annotated[Optional[kind], option]  # type: ignore[valid-type]  # noqa: UP045
        yield inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _option_type(kind: Any) -> Any:
    """The type by which typer reads such a value. For a choice of names this is `str`; the config checks the name."""
    if get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, Enum)):
        return str
    if get_origin(kind) is tuple:
        return list[_option_type(get_args(kind)[0])]  # type: ignore[misc]
    inner = [each for each in get_args(kind) if each is not NoneType]
    return _option_type(inner[0]) if inner else kind

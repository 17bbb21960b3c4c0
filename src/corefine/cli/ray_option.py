"""`--ray` alone means a cluster on this machine; with a value, the cluster at that address."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from typer.core import TyperCommand

RAY = "--ray"


class CommandWithRay(TyperCommand):
    """A command with an option --ray whose value may be left out, which typer has no word for."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(with_value(args)))


def with_value(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments, with a value after an --ray that has none."""
    for place, argument in enumerate(arguments):
        yield argument
        if argument == RAY and (place + 1 == len(arguments) or arguments[place + 1].startswith("-")):
            from corefine.simulation.ray_cluster import LOCAL

            yield LOCAL

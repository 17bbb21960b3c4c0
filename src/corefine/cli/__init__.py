"""The `corefine` command. Each subcommand is a thin function over the package.

Commands import what they run when they run, so that `corefine --help` loads nothing heavy.
"""

from __future__ import annotations

import sys

import typer

from corefine.cli.annotate import annotate
from corefine.cli.convert import check, convert
from corefine.cli.data import app as data
from corefine.cli.demo import demo
from corefine.cli.options import CommandWithRay
from corefine.cli.predict import predict
from corefine.cli.project import export, invite, times
from corefine.cli.reproduce import plot, reproduce
from corefine.cli.score import score
from corefine.cli.simulate import simulate
from corefine.cli.train import train
from corefine.errors import CorefineError

app = typer.Typer(
    name="corefine",
    help="Active learning for coreference: people answer, the model learns, the next question is the best one.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    if version:
        from corefine import __version__

        typer.echo(f"corefine {__version__}")
        raise typer.Exit


for command in (annotate, export, invite, times, check, convert, demo, predict, plot, score, train):
    app.command()(command)
for command in (reproduce, simulate):
    app.command(cls=CommandWithRay)(command)
app.add_typer(data, name="data")


def main() -> None:
    """Run the command line. An error in the input is one message on stderr and exit code 2."""
    try:
        app()
    except CorefineError as error:
        typer.echo(f"corefine: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:  # the program that reads our output (head, less) has ended
        sys.stderr.close()
        sys.exit(141)
    except KeyboardInterrupt:
        typer.echo("corefine: interrupted", err=True)
        sys.exit(130)

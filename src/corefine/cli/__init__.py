"""The `corefine` command: one thin file for each subcommand, over a plain function of the package.

Command files import what they run inside the command, so that `corefine --help` loads nothing heavy.
"""

from __future__ import annotations

import sys

import typer

from corefine.cli.annotate import annotate as annotate_command
from corefine.cli.check import check as check_command
from corefine.cli.convert import convert as convert_command
from corefine.cli.data import app as data_app
from corefine.cli.demo import demo as demo_command
from corefine.cli.export import export as export_command
from corefine.cli.invite import invite as invite_command
from corefine.cli.options import CommandWithRay
from corefine.cli.plot import plot as plot_command
from corefine.cli.predict import predict as predict_command
from corefine.cli.reproduce import reproduce as reproduce_command
from corefine.cli.score import score as score_command
from corefine.cli.simulate import simulate as simulate_command
from corefine.cli.times import times as times_command
from corefine.cli.train import train as train_command
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


app.command("annotate")(annotate_command)
app.command("export")(export_command)
app.command("invite")(invite_command)
app.command("times")(times_command)
app.command("check")(check_command)
app.command("convert")(convert_command)
app.command("demo")(demo_command)
app.command("predict")(predict_command)
app.command("plot")(plot_command)
app.command("reproduce", cls=CommandWithRay)(reproduce_command)
app.command("score")(score_command)
app.command("simulate", cls=CommandWithRay)(simulate_command)
app.command("train")(train_command)
app.add_typer(data_app, name="data")


def main() -> None:
    """Run the command line; a fault of the input is one message on stderr and exit code 2, never a traceback."""
    try:
        app()
    except CorefineError as error:
        typer.echo(f"corefine: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output (head, less) has gone
        sys.stderr.close()
        sys.exit(141)
    except KeyboardInterrupt:
        typer.echo("corefine: interrupted", err=True)
        sys.exit(130)

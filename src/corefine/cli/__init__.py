"""The `corefine` command. Each subcommand is a thin function over the package.

Commands import what they run when they run, so that `corefine --help` loads nothing heavy.
"""

from __future__ import annotations

import io
import os
import sys
from typing import NoReturn

import typer

from corefine.cli.annotate import annotate
from corefine.cli.convert import check, convert, formats
from corefine.cli.data import app as data
from corefine.cli.demo import demo
from corefine.cli.doctor import doctor
from corefine.cli.encoders import encoders
from corefine.cli.options import CommandWithRay
from corefine.cli.predict import predict
from corefine.cli.project import export, invite, times
from corefine.cli.reproduce import plot, reproduce
from corefine.cli.score import score
from corefine.cli.simulate import simulate
from corefine.cli.train import train
from corefine.cli.upkeep import app as upkeep
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


for command in (
    annotate,
    export,
    invite,
    times,
    check,
    convert,
    formats,
    demo,
    doctor,
    encoders,
    predict,
    plot,
    score,
    train,
):
    app.command()(command)
for command in (reproduce, simulate):
    app.command(cls=CommandWithRay)(command)
app.add_typer(data, name="data")
app.add_typer(upkeep, name="project")


def main() -> None:
    """Run the command line. An error is one message on stderr; the exit code is 2 for bad input and 70 for bugs."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # file names can be any bytes
    try:
        app()
    except CorefineError as error:
        _fail(str(error), 2)
    except BrokenPipeError:  # the program that reads our output (head, less) has ended
        sys.stderr.close()
        sys.exit(141)
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    except OSError as error:  # for example a full disk
        name = error.filename2 or error.filename
        _fail(f"{os.fsdecode(name) if name is not None else 'files'}: {error.strerror or error}", 2)
    except MemoryError:
        _fail("there is not enough memory for this", 2)
    except Exception as error:
        _fail(_unforeseen(error), 70)


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(f"corefine: {message.encode('utf-8', 'backslashreplace').decode()}", err=True)
    sys.exit(code)


def _unforeseen(error: Exception) -> str:
    from corefine.files import keep_details

    said = None
    if type(error).__module__.startswith("sqlalchemy"):
        said = f"the database does not do what it should ({str(getattr(error, 'orig', error)).partition(chr(10))[0]})"
    return keep_details(error, said)

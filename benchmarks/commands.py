"""`corefine bench`: what measures the bars that corefine sets itself, on this machine.

To add one: write `bench/NAME.py` with a `measure` that returns a dataclass and a `described` that puts it in words, and
a command here that calls `report` with both.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Result = TypeVar("Result", bound=DataclassInstance)

app = typer.Typer(help="Measure, on this machine, what corefine promises.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Write one JSON object.")]
Corpora = Annotated[Path | None, typer.Option(help="Folder with the corpora, as `data get --mirror` has it.")]
Seed = Annotated[int, typer.Option(help="What is random is random from this seed.")]


def report(result: Result, described: Callable[[Result], str], *, json: bool) -> None:
    """Write a result for a program or for a person; one whose `failure` says that a bar was missed ends with 1."""
    import json as json_
    from dataclasses import asdict

    typer.echo(json_.dumps(asdict(result)) if json else described(result))
    failure: str | None = getattr(result, "failure", None)
    if failure is not None:
        typer.echo(f"corefine: bar missed: {failure}", err=True)
        raise typer.Exit(1)


@app.command()
def links(
    json: Json = False,
    curve: Annotated[
        Path | None, typer.Option(help="Also draw time against links to this file (.svg, .png or .pdf).")
    ] = None,
    links: Annotated[int, typer.Option(min=1, help="Links of the annotation that is replayed.")] = 1_600,
    seed: Seed = 0,
) -> None:
    """Time one more link: ours, the paper's Algorithm 1, and the closure from scratch."""
    from corefine.cli.progress import tracked
    from corefine.reproduction.closure_timing import SIZES, described, measure

    if curve is not None:
        from corefine.reproduction import closure_figure as links_figure

        links_figure.draw(links_figure.measured(seed, tracked(links_figure.SIZES, "drawing")), curve)
    report(measure(links=links, seed=seed, sizes=tracked(SIZES, "timing")), described, json=json)


@app.command()
def model(
    json: Json = False,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each measurement that count.")] = 3,
) -> None:
    """Time a training step and a prediction of the model, against the plain way of doing the same."""
    from model import described, measure

    report(measure(rounds), described, json=json)


@app.command()
def session(
    json: Json = False,
    questions: Annotated[int, typer.Option(min=1, help="Questions to answer.")] = 600,
    seed: Seed = 0,
) -> None:
    """Time the wait between an answer and the next question, against recomputing everything."""
    from session import described, measure

    report(measure(questions=questions, seed=seed), described, json=json)


@app.command()
def browser(
    json: Json = False,
    answers: Annotated[int, typer.Option(min=1, help="Answers in the page that are timed.")] = 100,
    before: Annotated[int, typer.Option(min=0, help="Answers that the document has already.")] = 500,
    seed: Seed = 0,
) -> None:
    """Time the wait between an answer and the next question in a real browser, while training runs."""
    from browser import described, measure

    report(measure(answers=answers, answers_before=before, seed=seed), described, json=json)


@app.command()
def imports(json: Json = False) -> None:
    """Time what `import corefine` and `corefine --help` load."""
    from imports import described, measure

    report(measure(), described, json=json)


@app.command()
def formats(
    json: Json = False,
    corpora: Corpora = None,
) -> None:
    """Time reading CorefUD files against udapi."""
    from formats import described, measure

    report(measure(corpora=corpora), described, json=json)


@app.command()
def scores(
    json: Json = False,
    corpora: Corpora = None,
) -> None:
    """Time the scores against scorch on LitBank, and how they grow with the document."""
    from scores import described, measure

    report(measure(corpora=corpora), described, json=json)


@app.command()
def committee(
    json: Json = False,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each measurement that count.")] = 5,
) -> None:
    """Time a committee of three against one model."""
    from committee import described, measure

    report(measure(rounds=rounds), described, json=json)


@app.command()
def long(json: Json = False) -> None:
    """Predict documents of up to 50,000 tokens: seconds and memory."""
    from long import described, measure

    report(measure(), described, json=json)


@app.command()
def retraining(
    json: Json = False,
    mirror: Annotated[Path | None, typer.Option(help="Folder with LitBank, as `data get --mirror` has it.")] = None,
    config: Annotated[str, typer.Option(help="A recipe, as of `corefine train`.")] = "default",
) -> None:
    """Time retraining with ten more documents against one pass of the encoder over LitBank."""
    from corefine.models.training.recipe import load_recipe
    from retraining import described, measure

    report(measure(mirror=mirror, recipe=load_recipe(config)), described, json=json)


@app.command()
def fastcoref(
    python: Annotated[str, typer.Option(help="Interpreter of an environment that has fastcoref.")],
    json: Json = False,
    mirror: Annotated[Path | None, typer.Option(help="Folder with LitBank, as `data get --mirror` has it.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of both; all cores if not given.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each measurement that count.")] = 3,
) -> None:
    """Documents a second and memory on LitBank test, side by side with fastcoref."""
    from fastcoref import described, measure

    report(measure(python, mirror=mirror, threads=threads, rounds=rounds), described, json=json)


@app.command()
def answer(json: Json = False, answers: Annotated[int, typer.Option(min=1)] = 100, seed: Seed = 0) -> None:
    """Time the server from an answer to the next question, on a long document with many answers."""
    from answer import described, measure

    report(measure(answers=answers, seed=seed), described, json=json)


@app.command()
def load(
    json: Json = False,
    people: Annotated[int, typer.Option(min=1, help="Annotators at once.")] = 50,
    answers: Annotated[int, typer.Option(min=1, help="Answers of each.")] = 20,
    think: Annotated[float, typer.Option(min=0.0, help="Seconds between answers, on average.")] = 1.0,
    database: Annotated[str | None, typer.Option(help="An empty PostgreSQL database instead of SQLite.")] = None,
    seed: Seed = 0,
) -> None:
    """Let many people answer at once, over HTTP."""
    from load import described, measure

    result = measure(people=people, answers=answers, think=think, database=database, seed=seed)
    report(result, described, json=json)


if __name__ == "__main__":
    app()

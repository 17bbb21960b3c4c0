"""`corefine demo`: a short simulated annotation in the terminal."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from corefine.annotation.annotators import Turn
    from corefine.document import Document
    from corefine.simulation.demo import DemoResult


def demo(
    story: Annotated[str | None, typer.Argument(help="Name of a bundled story; all of them if not given.")] = None,
    questions: Annotated[int, typer.Option(min=0, help="Questions to ask about each story.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Annotate the bundled stories with a simulated annotator and show what the answers are worth."""
    from rich.console import Console

    from corefine.cli.progress import tracked
    from corefine.corpora.stories import load
    from corefine.errors import InputError
    from corefine.simulation.demo import play

    stories = [each for each in load() if story in (None, each.name)]
    if not stories:
        names = ", ".join(each.name for each in load())
        raise InputError(f"there is no story {story!r}; choose one of {names}")
    results = []
    console = Console()
    for number, each in enumerate(tracked(stories, "Annotating", total=len(stories))):
        turns, result = play(each, questions=questions)
        results.append(result)
        if not as_json and number == 0:
            console.print(_questions(each, turns))
    if as_json:
        typer.echo(json.dumps([asdict(result) for result in results], indent=2))
    else:
        console.print(_summary(results))
        console.print("Labels come from a few rules and the answers; nothing was trained. F1 is CoNLL F1 in percent.")


def _questions(story: Document, turns: list[Turn]) -> Table:
    from rich.table import Table

    table = Table(title=f"What was asked about “{story.name}”", title_justify="left")
    table.add_column("#", justify="right")
    table.add_column("Mention", style="yellow")
    table.add_column("Same as?", style="blue")
    table.add_column("Sure", justify="right")
    table.add_column("Answer")
    table.add_column("Pairs settled", justify="right")
    for turn in turns:
        question = turn.question
        table.add_row(
            str(question.number),
            story.words(question.mention),
            "" if question.antecedent is None else story.words(question.antecedent),
            f"{100 * question.probability:.0f} %",
            _said(story, turn),
            str(turn.outcome.pairs),
        )
    return table


def _said(story: Document, turn: Turn) -> str:
    if turn.answer.same:
        return "yes"
    span = turn.answer.span
    if span is None or span == turn.question.mention:
        return "no, it is the first"
    return f"no, first is [bold]{story.words(span)}[/bold]"


def _summary(results: list[DemoResult]) -> Table:
    from rich.table import Table

    table = Table(title="What it cost and what it is worth", title_justify="left")
    for heading in ("Story", "Questions", "Yes", "Minutes", "F1 before", "F1 after"):
        table.add_column(heading, justify="left" if heading == "Story" else "right")
    for result in results:
        table.add_row(
            result.document,
            str(result.questions),
            str(result.yes),
            f"{result.seconds / 60:.1f}",
            f"{result.f1_before:.1f}",
            f"{result.f1_after:.1f}",
        )
    count = len(results)
    table.add_section()
    table.add_row(
        "mean",
        f"{sum(result.questions for result in results) / count:.1f}",
        f"{sum(result.yes for result in results) / count:.1f}",
        f"{sum(result.seconds for result in results) / count / 60:.1f}",
        f"{sum(result.f1_before for result in results) / count:.1f}",
        f"{sum(result.f1_after for result in results) / count:.1f}",
    )
    return table

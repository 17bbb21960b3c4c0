"""`corefine demo`: a short simulated annotation in the terminal."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corefine.cli.options import Json, Mirror
from corefine.cli.output import show_json, show_table, tracked

if TYPE_CHECKING:
    from corefine.annotation.annotators import Turn
    from corefine.document import Document
    from corefine.simulation.demo import DemoResult

NEW_FIELD = "new-field"


def demo(
    story: Annotated[
        str | None, typer.Argument(help="Name of a bundled story, all of them if not given; or new-field.")
    ] = None,
    questions: Annotated[
        int, typer.Option(min=0, help="Questions to ask about each story, or each 1,000 tokens of a new field.")
    ] = 20,
    corpus: Annotated[str, typer.Option(help="new-field: a corpus, whose gold labels answer.")] = "corefud_es_ancora",
    model: Annotated[
        str, typer.Option(help="new-field: the model to begin with, which has not seen the corpus.")
    ] = "starter",
    seed: Annotated[int, typer.Option(help="new-field: which documents are asked about.")] = 0,
    mirror: Mirror = None,
    json: Json = False,
) -> None:
    """Annotate the bundled stories with a simulated annotator, and show the cost and the gain of the answers.

    With new-field, a model learns from the answers about documents of another kind or language, in a few minutes.
    """
    if story == NEW_FIELD:
        _show_new_field(corpus, model, questions, seed, mirror, json=json)
        return
    from corefine.corpora.stories import load
    from corefine.errors import InputError
    from corefine.simulation.demo import play

    stories = [each for each in load() if story in (None, each.name)]
    if not stories:
        names = ", ".join(each.name for each in load())
        raise InputError(f"there is no story {story!r}; choose one of {names}")
    results = []
    for number, each in enumerate(tracked(stories, "annotating", total=len(stories))):
        turns, result = play(each, questions=questions)
        results.append(result)
        if not json and number == 0:
            _show_questions(each, turns)
    if json:
        show_json([asdict(result) for result in results])
        return
    _show_results(results)
    typer.echo("Labels come from a few rules and the answers; nothing was trained. F1 is CoNLL F1 in percent.")


def _show_new_field(corpus: str, model: str, questions: float, seed: int, mirror: Path | None, *, json: bool) -> None:
    """A line for each round, as it comes: hours, and F1 on documents that nobody was asked about."""
    from corefine.simulation.demo import new_field
    from corefine.simulation.splits import load

    documents = load(corpus, mirror=mirror)
    if not json:
        typer.echo(
            f"The model {model} asks {questions:g} questions per 1,000 tokens about documents of {documents.name}, and "
            "learns from the answers after each of four rounds. Gold labels answer."
        )
    rows = []
    with tempfile.TemporaryDirectory(prefix="corefine-demo-") as folder:
        for row in new_field(documents, Path(folder) / "run", starter=model, questions=questions, seed=seed):
            found = row.scores_on("dev")
            rows.append({"hours": row.hours, "conll_f1": found.conll_f1, "mention_f1": found.mention_f1})
            if not json:
                bar = "#" * round(found.conll_f1 / 2)
                typer.echo(f"after {row.hours:5.2f} hours of answers  F1 {found.conll_f1:5.2f}  {bar}")
    if json:
        show_json(rows)
        return
    typer.echo(
        f"F1 is CoNLL F1 in percent on other documents of {documents.name}, with one seed (--seed); between seeds it "
        "varies by about one. A part of the gain is in how many mentions the model links, which it also learns."
    )


def _show_questions(story: Document, turns: list[Turn]) -> None:
    rows = [
        (
            str(turn.question.number),
            f"[yellow]{story.words(turn.question.mention)}[/yellow]",
            "" if turn.question.antecedent is None else f"[blue]{story.words(turn.question.antecedent)}[/blue]",
            f"{100 * turn.question.probability:.0f} %",
            _answer(story, turn),
            str(turn.outcome.pairs),
        )
        for turn in turns
    ]
    columns = ("#", "Mention", "Same as?", "Sure", "Answer", "Pairs settled")
    show_table(columns, rows, numbers=("#", "Sure", "Pairs settled"), title=f"What was asked about “{story.name}”")


def _answer(story: Document, turn: Turn) -> str:
    if turn.answer.same:
        return "yes"
    span = turn.answer.span
    if span is None or span == turn.question.mention:
        return "no, it is the first"
    return f"no, first is [bold]{story.words(span)}[/bold]"


def _show_results(results: list[DemoResult]) -> None:
    columns = ("Story", "Questions", "Yes", "Minutes", "F1 before", "F1 after")
    values = [(each.questions, each.yes, each.seconds / 60, each.f1_before, each.f1_after) for each in results]
    rows = [
        (each.document, f"{asked}", f"{yes}", *(f"{value:.1f}" for value in rest))
        for each, (asked, yes, *rest) in zip(results, values, strict=True)
    ]
    means = [f"{sum(column) / len(results):.1f}" for column in zip(*values, strict=True)]
    show_table(columns, [*rows, ("mean", *means)], numbers=columns[1:], title="What it cost and what it brought")

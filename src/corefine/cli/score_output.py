"""What `corefine score` prints: tables for people, for papers and as a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import typer

if TYPE_CHECKING:
    from corefine.scores import Report, Scores

Style = Literal["plain", "markdown", "latex"]

LABELS = {
    "mentions": "mentions",
    "muc": "MUC",
    "b3": "B³",
    "ceafm": "CEAFm",
    "ceafe": "CEAFe",
    "blanc": "BLANC",
    "lea": "LEA",
    "mor": "MOR",
}
_LATEX = {"B³": r"B\textsuperscript{3}", "%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#"}


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], style: Style, *, title: str | None = None
) -> None:
    """Print a table with names in the first column and numbers in the others."""
    from corefine.cli.output import show_table

    if style == "plain":
        from rich.markup import escape

        plain = [(escape(row[0]), *row[1:]) for row in rows]
        show_table(columns, plain, numbers=columns[1:], title=title)
    elif style == "markdown":
        typer.echo(f"| {' | '.join(columns)} |\n|---|{'---:|' * (len(columns) - 1)}")
        for row in rows:
            typer.echo(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |")
        typer.echo()  # what follows would be read as a row of this table
    else:
        typer.echo(f"\\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}\n\\hline")
        for number, row in enumerate([columns, *rows]):
            typer.echo(" & ".join(map(_latex, row)) + r" \\" + ("\n\\hline" if number == 0 else ""))
        typer.echo("\\hline\n\\end{tabular}")


def _latex(text: str) -> str:
    for plain, written in _LATEX.items():
        text = text.replace(plain, written)
    return text


def measures(scores: Scores) -> dict[str, str]:
    """The scores that were computed, with their labels."""
    return {name: label for name, label in LABELS.items() if getattr(scores, name) is not None}


def show_scores(result: Report, per: str | None, style: Style, unknown: str) -> None:
    """The scores in all, and by document or genre."""
    names = measures(result.scores)
    if per is not None:
        by_genre = [(genre or unknown, scores) for genre, scores in result.genres.items()]
        by_document = [(each.key, each.counts.scored(result.blanc)) for each in result.documents]
        columns = [per, *names.values(), "CoNLL"]
        rows = [
            (name, *(f"{_f1(scores, metric):.2f}" for metric in names), f"{scores.conll_f1:.2f}")
            for name, scores in (by_document if per == "document" else by_genre)
        ]
        print_table(columns, rows, style, title=f"F1 by {per}")
    overall = [(label, *(f"{value:.2f}" for value in getattr(result.scores, name))) for name, label in names.items()]
    if style != "plain":
        overall.append(("CoNLL", "", "", f"{result.scores.conll_f1:.2f}"))
    print_table(["", "recall", "precision", "F1"], overall, style)
    if style == "plain":
        typer.echo(f"CoNLL F1  {result.scores.conll_f1:.2f}  ({len(result.documents)} documents)")


def _f1(scores: Scores, metric: str) -> float:
    found = getattr(scores, metric)
    return found.f1 if found is not None else 0.0

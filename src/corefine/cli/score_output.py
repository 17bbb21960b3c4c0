"""What `corefine score` prints: tables for people, for papers and as a page."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import typer

if TYPE_CHECKING:
    from corefine.document import Document
    from corefine.scores import Report, Scores
    from corefine.scores.errors import MentionError

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
    """The scores that there are, with their labels."""
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


Found = list[tuple["Document", "Document", "list[MentionError]"]]


def errors_page(found: Found) -> str:
    """An HTML page that shows every error in its text."""
    from corefine.scores.errors import KINDS, MENTION_KINDS, table

    counted = table(error for _, _, errors in found for error in errors)
    head = "".join(f"<th>{kind}</th>" for kind in MENTION_KINDS)
    rows = "".join(
        f"<tr><th>{kind}</th>{''.join(f'<td>{counted[kind][each]}</td>' for each in MENTION_KINDS)}</tr>"
        for kind in KINDS
    )
    body = "".join(_of_document(document, errors) for document, _, errors in found if errors)
    return f"{_STYLE}<h1>Errors</h1><table><tr><th></th>{head}</tr>{rows}</table>{body}"


def _of_document(document: Document, errors: Sequence[MentionError]) -> str:
    marks: dict[int, list[str]] = {}
    ends: dict[int, int] = {}
    for error in sorted(errors, key=lambda each: (each.span.start, -each.span.end)):
        other = f" ({document.words(error.other)})" if error.other is not None else ""
        told = html.escape(f"{error.kind}, {error.mention_kind}{other}", quote=True)
        name = error.kind.replace(" ", "-")
        marks.setdefault(error.span.start, []).append(f'<span class="{name}" title="{told}">')
        ends[error.span.end] = ends.get(error.span.end, 0) + 1
    lines = []
    for sentence in document.sentence_spans:
        words = []
        for token in range(sentence.start, sentence.end + 1):
            word = html.escape(document.tokens[token])
            words.append("".join(marks.get(token, ())) + word + "</span>" * ends.get(token, 0))
        lines.append(" ".join(words))
    return f"<h2>{html.escape(document.key)}</h2><p>{'<br>'.join(lines)}</p>"


_STYLE = """<!doctype html><meta charset="utf-8"><title>Errors</title><style>
body { font: 16px/1.7 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse } td, th { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ccc }
span { border-radius: 3px; padding: 0 2px }
.missed-mention { background: #ffd9d9 } .extra-mention { background: #dbe8ff } .span-error { background: #fff2c2 }
.missed-link { border-bottom: 3px dotted #c00 } .wrong-link { border-bottom: 3px solid #c00 }
</style>"""

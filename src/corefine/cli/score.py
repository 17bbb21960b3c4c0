"""`corefine score`: a response against a key."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from corefine.document import Document
    from corefine.scores import Report, Scores


class Singletons(StrEnum):
    KEEP = "keep"
    DROP = "drop"


class Per(StrEnum):
    DOCUMENT = "document"
    GENRE = "genre"


UNKNOWN = "unknown"
"""The genre of documents that do not say theirs."""


def score(
    key: Annotated[
        Path, typer.Argument(help="What is scored against: a file, a folder, or - for standard input.", metavar="KEY")
    ],
    response: Annotated[Path, typer.Argument(help="What is scored: the same documents, likewise.", metavar="RESPONSE")],
    json: Annotated[bool, typer.Option("--json", help="Write one JSON object.")] = False,
    singletons: Annotated[
        Singletons, typer.Option(help="Keep clusters of one, or drop them from key and response.")
    ] = Singletons.KEEP,
    per: Annotated[Per | None, typer.Option(help="Show each document or each genre as well.")] = None,
    pronouns: Annotated[bool, typer.Option("--pronouns", help="Score only clusters with a pronoun.")] = False,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Score a document that one side lacks as empty there.")
    ] = False,
    format: Annotated[
        str | None, typer.Option("--format", help="The format of both files, if their names do not tell.")
    ] = None,
) -> None:
    """Score RESPONSE against KEY: mention detection, MUC, B3, CEAF, BLANC, LEA and CoNLL F1, in percent."""
    from corefine.scores import report

    result = report(
        _documents(key, format),
        _documents(response, format),
        singletons=singletons.value,
        pronouns=pronouns,
        allow_missing=allow_missing,
        sources=(str(key), str(response)),
    )
    if json:
        from json import dumps

        typer.echo(dumps(as_object(result, per), ensure_ascii=False))
    else:
        _show(result, per)


def _documents(path: Path, format: str | None) -> Iterator[Document]:
    """The documents of a file, of all files in a folder that are of a known format, or of standard input."""
    import sys

    from corefine.cli.progress import tracked
    from corefine.formats import find_files, read

    wheres = [sys.stdin.buffer] if str(path) == "-" else [file.path for file in find_files([path], format)]
    return tracked((document for where in wheres for document in read(where, format)), f"reading {path}")


def as_object(result: Report, per: Per | None) -> dict[str, object]:
    """What `--json` writes: the scores over all, and with `--per` those of each document or genre."""
    scores: dict[str, object] = dict(result.scores.as_dict())
    if per is Per.DOCUMENT:
        scores["documents"] = [
            {"name": each.name, "part": each.part, "genre": each.genre} | each.scores.as_dict()
            for each in result.documents
        ]
    if per is Per.GENRE:
        scores["genres"] = {genre or UNKNOWN: each.as_dict() for genre, each in result.genres.items()}
    return scores


def _show(result: Report, per: Per | None) -> None:
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console.width = 1000  # lines in a file are not cut
    if per is not None:
        console.print(_breakdown(result, per))
    console.print(_overall(result.scores))
    console.print(f"CoNLL F1  [bold]{result.scores.conll_f1:.2f}[/bold]  ({len(result.documents)} documents)")


LABELS = {
    "mentions": "mentions",
    "muc": "MUC",
    "b3": "B³",
    "ceafm": "CEAFm",
    "ceafe": "CEAFe",
    "blanc": "BLANC",
    "lea": "LEA",
}


def _overall(scores: Scores) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    table.add_column("")
    for column in ("recall", "precision", "F1"):
        table.add_column(column, justify="right")
    for name, label in LABELS.items():
        table.add_row(label, *(f"{value:.2f}" for value in getattr(scores, name)))
    return table


def _breakdown(result: Report, per: Per) -> Table:
    """F1 of each document or genre, one a row."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, title=f"F1 by {per.value}", title_justify="left", padding=(0, 0, 0, 1))
    table.add_column(per.value, overflow="fold")
    for label in (*LABELS.values(), "CoNLL"):
        table.add_column(label, justify="right", no_wrap=True)
    rows: list[tuple[str, Scores]]
    if per is Per.DOCUMENT:
        rows = [(each.key, each.scores) for each in result.documents]
    else:
        rows = [(genre or UNKNOWN, scores) for genre, scores in result.genres.items()]
    for name, scores in rows:
        values = [getattr(scores, metric).f1 for metric in LABELS]
        table.add_row(escape(name), *(f"{value:.2f}" for value in (*values, scores.conll_f1)))
    return table

"""`corefine score`: a response against a key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from corefine.cli.options import Format, Json
from corefine.cli.output import show_json, show_table, tracked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from corefine.document import Document
    from corefine.scores import Report

Per = Literal["document", "genre"]

UNKNOWN = "unknown"
"""The genre of documents that name none."""

LABELS = {
    "mentions": "mentions",
    "muc": "MUC",
    "b3": "B³",
    "ceafm": "CEAFm",
    "ceafe": "CEAFe",
    "blanc": "BLANC",
    "lea": "LEA",
}


def score(
    key: Annotated[
        Path, typer.Argument(help="The gold documents: a file, a folder, or - for standard input.", metavar="KEY")
    ],
    response: Annotated[Path, typer.Argument(help="The documents to score, likewise.", metavar="RESPONSE")],
    json: Json = False,
    singletons: Annotated[
        Literal["keep", "drop"], typer.Option(help="Keep clusters of one, or drop them from key and response.")
    ] = "keep",
    per: Annotated[Per | None, typer.Option(help="Show each document or each genre as well.")] = None,
    pronouns: Annotated[bool, typer.Option("--pronouns", help="Score only clusters with a pronoun.")] = False,
    tagger: Annotated[
        str | None, typer.Option(help="A spaCy pipeline that finds the pronouns of KEY; word lists if not given.")
    ] = None,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Score a document that one side lacks as empty there.")
    ] = False,
    format: Format = None,
) -> None:
    """Score RESPONSE against KEY: mention detection, MUC, B3, CEAF, BLANC, LEA and CoNLL F1, in percent."""
    from corefine.scores import report

    gold: Iterable[Document] = _documents(key, format)
    if tagger is not None:
        from corefine.models.tagging import with_tags

        gold = with_tags(gold, tagger)
    result = report(
        gold,
        _documents(response, format),
        singletons=singletons,
        pronouns=pronouns,
        allow_missing=allow_missing,
        sources=(str(key), str(response)),
    )
    if json:
        show_json(_as_json(result, per))
    else:
        _show(result, per)


def _documents(path: Path, format: str | None) -> Iterator[Document]:
    """The documents of a file, of all files in a folder that are of a known format, or of standard input."""
    import sys

    from corefine.formats import find_files, read

    wheres = [sys.stdin.buffer] if str(path) == "-" else [file.path for file in find_files([path], format)]
    return tracked((document for where in wheres for document in read(where, format)), f"reading {path}")


def _as_json(result: Report, per: Per | None) -> dict[str, object]:
    scores: dict[str, object] = dict(result.scores.as_dict())
    if per == "document":
        scores["documents"] = [
            {"name": each.name, "part": each.part, "genre": each.genre} | each.scores.as_dict()
            for each in result.documents
        ]
    if per == "genre":
        scores["genres"] = {genre or UNKNOWN: each.as_dict() for genre, each in result.genres.items()}
    return scores


def _show(result: Report, per: Per | None) -> None:
    from rich.markup import escape

    if per is not None:
        by_genre = [(genre or UNKNOWN, scores) for genre, scores in result.genres.items()]
        by_document = [(each.key, each.scores) for each in result.documents]
        columns = [*LABELS.values(), "CoNLL"]
        rows = [
            (escape(name), *(f"{getattr(scores, metric).f1:.2f}" for metric in LABELS), f"{scores.conll_f1:.2f}")
            for name, scores in (by_document if per == "document" else by_genre)
        ]
        show_table([per, *columns], rows, numbers=columns, title=f"F1 by {per}")
    overall = [(label, *(f"{value:.2f}" for value in getattr(result.scores, name))) for name, label in LABELS.items()]
    columns = ["recall", "precision", "F1"]
    show_table(["", *columns], overall, numbers=columns)
    typer.echo(f"CoNLL F1  {result.scores.conll_f1:.2f}  ({len(result.documents)} documents)")

"""GAP's tables: each row is a text, a pronoun in it, and two names that the pronoun may refer to."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from corefine.document import Document
from corefine.errors import Fault, FormatError
from corefine.formats.tokens import tokenise

_COLUMNS = ("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref")


def read_gap(path: Path) -> Iterator[Document]:
    """The rows as documents, with one cluster or none."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        if missing := [column for column in _COLUMNS if column not in (rows.fieldnames or ())]:
            raise FormatError(Fault(f"the table lacks the column {missing[0]}", str(path), 1))
        for line, row in enumerate(rows, start=2):
            yield _document(path, line, row)


def _document(path: Path, line: int, row: dict[str, str]) -> Document:
    text = row["Text"]
    places: dict[str, tuple[int, int]] = {}
    for column in ("Pronoun", "A", "B"):
        offset = row[f"{column}-offset"] or ""
        start = int(offset) if offset.isdigit() else -1
        places[column] = (start, start + len(row[column]))
        if start < 0 or text[slice(*places[column])] != row[column]:
            what = f"{column} {row[column]!r} is not at character {offset}"
            raise FormatError(Fault(what, str(path), line, row["ID"]))
    words = tokenise(text, "en", cuts=[at for place in places.values() for at in place])
    spans = {column: words.span([place]) for column, place in places.items()}
    same = ["Pronoun", *(name for name in ("A", "B") if row[f"{name}-coref"].upper() == "TRUE")]
    mentions = [span for column in same if (span := spans[column]) is not None]
    return Document(
        row["ID"],
        words.tokens,
        words.sentence_starts,
        clusters=(tuple(sorted(mentions)),) if len(mentions) > 1 else (),
        language="en",
        text=text,
        offsets=words.offsets,
        extra={"gap": {column: list(span) if (span := spans[column]) else None for column in places}},
    )

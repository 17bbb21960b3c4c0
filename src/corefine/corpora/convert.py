"""Source files of a corpus into documents: names, genres and splits as the registry says."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from corefine.corpora.fetch import Fetched
from corefine.corpora.registry import Entry
from corefine.document import Document
from corefine.errors import Fault, FormatError
from corefine.formats import read
from corefine.formats.source import OnFault
from corefine.formats.tokens import tokenise

_GAP_COLUMNS = ("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref")


def convert(entry: Entry, files: Iterable[Fetched], *, on_fault: OnFault | None = None) -> Iterator[Document]:
    """The documents of the files, in their order; each names its split. Faults are handed over as `formats` does."""
    for file in files:
        documents = read_gap(file.path) if entry.reader == "gap" else read(file.path, on_fault=on_fault)
        for document in documents:
            yield _settled(entry, file, document)


def _settled(entry: Entry, file: Fetched, document: Document) -> Document:
    """The document with what the registry knows of it."""
    name = Path(file.source).name
    genre = _group(entry.genre_pattern, name) or entry.genre or document.genre
    facts: dict[str, object] = {"split": file.split}
    if entry.partial:
        facts["partial"] = True
    if genre is not None and genre in entry.text_licences:
        facts["text_licence"] = entry.text_licences[genre]
    prefix = _group(entry.name_pattern, name)
    settled = replace(
        document,
        name=f"{prefix}_{document.name.rpartition('/')[2]}" if prefix else document.name,
        part=0 if prefix else document.part,
        genre=genre,
        language=document.language or entry.language,
        extra={**document.extra, "jsonl": facts},
    )
    return settled if entry.singletons else settled.without_singletons()


def _group(pattern: str | None, name: str) -> str | None:
    found = re.search(pattern, name) if pattern else None
    return found.group(1) if found else None


def read_gap(path: Path) -> Iterator[Document]:
    """GAP's tables: a text a row, one pronoun of it, and two names that it may refer to."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        if missing := [column for column in _GAP_COLUMNS if column not in (rows.fieldnames or ())]:
            raise FormatError(Fault(f"the table lacks the column {missing[0]}", str(path), 1))
        for line, row in enumerate(rows, start=2):
            yield _gap_document(path, line, row)


def _gap_document(path: Path, line: int, row: dict[str, str]) -> Document:
    text = row["Text"]
    places: dict[str, tuple[int, int]] = {}
    for column in ("Pronoun", "A", "B"):
        offset = row[f"{column}-offset"] or ""
        start = int(offset) if offset.isdigit() else -1
        places[column] = (start, start + len(row[column]))
        if start < 0 or text[slice(*places[column])] != row[column]:
            what = f"{column} {row[column]!r} does not stand at character {offset}"
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

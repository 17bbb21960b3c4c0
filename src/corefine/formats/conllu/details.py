"""What a CoNLL-U document has beyond words and clusters: its columns as layers, and the rest for writing it back.

`extra["conllu"]` holds, where there is something to hold,

    global       the fields of mentions, as `global.Entity` declares them
    comments     for each sentence its comments, but those that `Document` has a field for
    rows         [sentence, words before it, id, columns 2 to 10] of multiword tokens and empty nodes, without Entity
    mentions     [place, what stands in the opening bracket]; a place is written as a `Span` is, 4-5 or 4-5+8-8, and z0
                 stands in it for the first of `rows`, z1 for the second
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from corefine.document import Span, document_order, span_of
from corefine.formats.conllu.entities import DEFAULT_FIELDS, match
from corefine.formats.conllu.scan import Lines, Scan, scan

NAME = "conllu"
LAYERS = ("lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
"""Columns 3 to 10."""

OWN_FIELDS = "GRP-head"
"""The fields of mentions that came from elsewhere: a name that counts within the document, e1, e2 and so on; and, where
udapi wants one, that is for discontinuous mentions, the first word as the head."""

OF_DOCUMENT = re.compile(r"#\s*(newdoc\b|global\.Entity\s*=|genre\s*=|lang\s*=|part\s*=\s*-?\d{1,18}\s*$)", re.ASCII)
OF_SENTENCE = re.compile(r"# speaker\s*=")

Parts = list[tuple[str, str]]
"""First and last node of each part of a mention: the number of a token, or z and the number of another row."""


def layers(data: bytes) -> dict[str, tuple[str, ...]]:
    """The columns of the words that say anything."""
    found = scan(Lines(data))
    rows = found.word_rows()
    columns = {name: found.column(number, rows) for number, name in enumerate(LAYERS, start=2)}
    columns["misc"] = [without_entity(cell) for cell in columns["misc"]]
    return {name: tuple(column) for name, column in columns.items() if any(cell != "_" for cell in column)}


def details(data: bytes, fields: str | None) -> dict[str, Any]:
    """`extra` of a document: empty if nothing in it would be missed."""
    found = scan(Lines(data))
    comments = _comments(data)
    rows = _rows(found)
    labelled = _mentions(found, fields or DEFAULT_FIELDS)
    content: dict[str, Any] = {}
    if fields not in (None, OWN_FIELDS):
        content["global"] = fields
    if any(comments):
        content["comments"] = comments
    if rows:
        content["rows"] = rows
    if content or not _are_own(labelled):
        content["mentions"] = [[place_of(parts), body] for _, parts, body in labelled]
    return {NAME: content} if any(content.values()) else {}


def without_entity(misc: str) -> str:
    if "Entity=" not in misc:
        return misc
    return "|".join(part for part in misc.split("|") if not part.startswith("Entity=")) or "_"


def place_of(parts: Parts) -> str:
    return "+".join(f"{first}-{last}" for first, last in parts)


def surface_of(parts: Parts, rows: Sequence[Sequence[Any]], starts: Sequence[int]) -> Span | None:
    """The tokens of a mention, or None if it has none."""
    found = []
    for first, last in parts:
        begin = int(first) if first[0] != "z" else _tokens_before(rows[int(first[1:])], starts)
        end = int(last) if last[0] != "z" else _tokens_before(rows[int(last[1:])], starts) - 1
        if begin <= end:
            found.append((begin, end))
    return span_of(found) if found else None


def _tokens_before(row: Sequence[Any], starts: Sequence[int]) -> int:
    return int(starts[row[0]] + row[1])


def _comments(data: bytes) -> list[list[str]]:
    """For each sentence what its comments say that is not said by a field of the document."""
    comments: list[list[str]] = []
    mine: list[str] = []
    for paragraph in data.decode().split("\n\n"):
        lines = [line for line in paragraph.split("\n") if line]
        for line in lines:
            taken = OF_SENTENCE.match(line) or (not comments and OF_DOCUMENT.match(line))
            if line.startswith("#") and not taken:
                mine.append(line)
        if lines and not lines[-1].startswith("#"):
            comments.append(mine)
            mine = []
    return comments


def _rows(found: Scan) -> list[list[Any]]:
    sentence_of = found.sentence_of_rows()
    starts = found.sentences
    rows: list[list[Any]] = []
    for row in (~found.words).nonzero()[0].tolist():
        sentence = int(sentence_of[row])
        cells = found.lines.data[found.begins[row] : found.ends[row]].decode().split("\t")
        cells[-1] = without_entity(cells[-1])
        rows.append([sentence, int(found.before[row] - starts[sentence]), cells[0], "\t".join(cells[1:])])
    return rows


def _mentions(found: Scan, fields: str) -> list[tuple[str, Parts, str]]:
    """Entity, nodes and body of each mention."""
    rows, values = found.entities()
    number_of = (~found.words).cumsum() - 1
    nodes = [str(found.before[r]) if found.words[r] else f"z{number_of[r]}" for r in rows.tolist()]
    _, whole, divided = match(values, fields, lambda *_: None)
    mentions = [(entity, body, ((first, last),)) for entity, body, first, last in whole]
    return [
        (entity, [(nodes[first], nodes[last]) for first, last in parts], body)
        for entity, body, parts in sorted([*mentions, *divided], key=lambda mention: (mention[2], mention[1]))
    ]


def _are_own(mentions: list[tuple[str, Parts, str]]) -> bool:
    """Whether the writer would give the entities the same names, and no mention has attributes."""
    first: dict[str, Any] = {}
    for entity, parts, body in mentions:
        span = span_of([(int(begin), int(end)) for begin, end in parts])
        first[entity] = min(first.get(entity, document_order(span)), document_order(span))
        if body != (entity if len(parts) == 1 else f"{entity}-1"):
            return False
    return sorted(first, key=first.__getitem__) == [f"e{number}" for number in range(1, len(first) + 1)]

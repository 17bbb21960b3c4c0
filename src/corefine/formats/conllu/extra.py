"""What a CoNLL-U document has besides words and clusters: its columns as layers, and the rest in `extra`.

The reader makes `extra["conllu"]`, and the writer uses it to write the same file again. It holds, if there are any,

    global       the fields of mentions, as `global.Entity` declares them
    comments     for each sentence its comments, except those that `Document` has a field for
    rows         [sentence, words before it, id, columns 2 to 10] of multiword tokens and empty nodes, without Entity
    mentions     [place, content of the opening bracket]; a place is written like a `Span`, as 4-5 or 4-5+8-8, in which
                 z0 stands for the first of `rows`, z1 for the second, and so on
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from corefine.document import Document, Span, document_order, span_of
from corefine.errors import InputError
from corefine.formats.conllu.matching import DEFAULT_FIELDS, body_of, match
from corefine.formats.conllu.scan import Lines, Scan, scan

NAME = "conllu"
LAYERS = ("lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
"""Columns 3 to 10."""

OWN_FIELDS = "GRP-head"
"""The fields of mentions that the writer makes itself. Entities are called e1, e2 and so on within the document; a
discontinuous mention has its first word as its head, because udapi needs one."""

OF_DOCUMENT = re.compile(r"#\s*(newdoc\b|global\.Entity\s*=|genre\s*=|lang\s*=|part\s*=\s*-?\d{1,18}\s*$)", re.ASCII)
OF_SENTENCE = re.compile(r"# speaker\s*=")

_ID = re.compile(r"\d+[-.]\d+", re.ASCII)
_UNFIT = re.compile(r"[()|\t\n\r]")

Parts = list[tuple[str, str]]
"""First and last node of each part of a mention: the number of a token, or z and the number of another row."""


# From the file


def layers_of(data: bytes) -> dict[str, tuple[str, ...]]:
    """The columns of the words, except those that are empty."""
    found = scan(Lines(data))
    rows = found.word_rows
    columns = {name: found.column(number, rows) for number, name in enumerate(LAYERS, start=2)}
    columns["misc"] = [without_entity(cell) for cell in columns["misc"]]
    return {name: tuple(column) for name, column in columns.items() if any(cell != "_" for cell in column)}


def extra_of(data: bytes, fields: str | None) -> dict[str, Any]:
    """`extra` of a document; empty if the writer needs none of it."""
    found = scan(Lines(data))
    comments = _comments(data)
    rows = _rows(found)
    mentions = _mentions(found, fields or DEFAULT_FIELDS)
    content: dict[str, Any] = {}
    if fields not in (None, OWN_FIELDS):
        content["global"] = fields
    if any(comments):
        content["comments"] = comments
    if rows:
        content["rows"] = rows
    if content or not _are_own(mentions):
        content["mentions"] = [
            ["+".join(f"{first}-{last}" for first, last in parts), body] for _, parts, body in mentions
        ]
    return {NAME: content} if any(content.values()) else {}


def without_entity(misc: str) -> str:
    """The last column without its Entity attribute."""
    if "Entity=" not in misc:
        return misc
    return "|".join(part for part in misc.split("|") if not part.startswith("Entity=")) or "_"


def _comments(data: bytes) -> list[list[str]]:
    """For each sentence the comments that no field of the document holds."""
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
    rows: list[list[Any]] = []
    for row in (~found.words).nonzero()[0].tolist():
        sentence = int(sentence_of[row])
        cells = found.lines.data[found.begins[row] : found.ends[row]].decode().split("\t")
        cells[-1] = without_entity(cells[-1])
        rows.append([sentence, int(found.before[row] - found.sentences[sentence]), cells[0], "\t".join(cells[1:])])
    return rows


def _mentions(found: Scan, fields: str) -> list[tuple[str, Parts, str]]:
    """Entity, nodes, and content of the opening bracket of each mention."""
    rows, values = found.entities()
    number_of = (~found.words).cumsum() - 1
    nodes = [str(found.before[r]) if found.words[r] else f"z{number_of[r]}" for r in rows.tolist()]
    matched = match(values, fields, lambda *_: None)
    whole = zip(matched.labels, matched.openings, matched.closings, strict=True)
    listed = [
        (entity, body_of(matched.brackets.get(place, values[opening])), ((opening, closing),))
        for place, (entity, opening, closing) in enumerate(whole)
    ]
    divided = [(entity, body_of(bracket), parts) for entity, bracket, parts in matched.divided]
    return [
        (entity, [(nodes[first], nodes[last]) for first, last in parts], body)
        for entity, body, parts in sorted([*listed, *divided], key=lambda mention: (mention[2], mention[1]))
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


# For predictions


def without_zeros(document: Document) -> Document:
    """The document without the mentions in `extra` that have empty nodes, which no clusters hold or replace."""
    content = document.extra.get(NAME)
    if not isinstance(content, dict) or not isinstance(content.get("mentions"), list):
        return document
    mentions = [entry for entry in content["mentions"] if "z" not in str(entry[:1])]
    return replace(document, extra={**document.extra, NAME: {**content, "mentions": mentions}})


# For the writer


@dataclass(frozen=True, slots=True)
class ConlluExtra:
    """`extra["conllu"]` of a document, checked. A mention has its nodes, its tokens if it has any, and its fields."""

    fields: str
    declared: bool
    comments: list[list[str]]
    rows: list[tuple[int, int, str, str]]
    mentions: list[tuple[Parts, Span | None, str]]

    @classmethod
    def of(cls, document: Document) -> ConlluExtra:
        content = document.extra.get(NAME, {})
        try:
            rows = _checked_rows(document, content.get("rows", ()))
            mentions = []
            for place, body in content.get("mentions", ()):
                parts: Parts = [(first, last) for first, last in (part.split("-") for part in place.split("+"))]
                surface = _surface(parts, rows, document.sentence_starts)
                if _UNFIT.search(body) or (surface is not None and not document.holds(surface)):
                    raise ValueError(f"a mention {body!r} at {place}")
                mentions.append((parts, surface, body))
            comments = [[line for line in lines if line.startswith("#")] for lines in content.get("comments", ())]
            fields = content.get("global", OWN_FIELDS)
            if _UNFIT.search(fields):
                raise ValueError(f"fields {fields!r}")
            return cls(fields, "global" in content, comments, rows, mentions)
        except (TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            what = f"document {document.key}: extra[{NAME!r}] is not what a CoNLL-U reader leaves there"
            raise InputError(f"{what}: {error}") from error


def _checked_rows(document: Document, rows: Sequence[Sequence[Any]]) -> list[tuple[int, int, str, str]]:
    starts = (*document.sentence_starts, len(document))
    checked = [(int(sentence), int(after), id_, rest) for sentence, after, id_, rest in rows]
    for sentence, after, id_, rest in checked:
        inside = 0 <= sentence < len(starts) - 1 and 0 <= after <= starts[sentence + 1] - starts[sentence]
        if not (inside and _ID.fullmatch(id_) and rest.count("\t") == 8 and "\n" not in rest and "\r" not in rest):
            raise ValueError(f"a row {id_!r} of sentence {sentence}")
    return checked


def _surface(parts: Parts, rows: Sequence[tuple[int, int, str, str]], starts: Sequence[int]) -> Span | None:
    """The tokens of a mention, or None if it has none."""

    def token_after(node: str) -> int:
        sentence, words_before, _, _ = rows[int(node[1:])]
        return starts[sentence] + words_before

    found = []
    for first, last in parts:
        begin = token_after(first) if first[0] == "z" else int(first)
        end = token_after(last) - 1 if last[0] == "z" else int(last)
        if begin <= end:
            found.append((begin, end))
    return span_of(found) if found else None

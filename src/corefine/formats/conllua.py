"""CoNLL-UA, the format of Universal Anaphora: CoNLL-U with further columns, named in `# global.columns`.

IDENTITY holds the entities: `(EntityID=1|MarkableID=markable_3|...` opens a markable, a bare `)` closes the one that
was opened last. Markables with one MarkableID are the parts of one discontinuous mention. The columns after IDENTITY
(bridging, discourse deixis and so on) become layers.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from corefine.document import Document, Span, document_order, span_of
from corefine.formats import losses as lost
from corefine.formats.expresses import Expresses
from corefine.formats.expresses import losses as undeclared
from corefine.formats.source import Source

NAME = "conllua"
COLUMNS = (
    "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC IDENTITY BRIDGING DISCOURSE_DEIXIS REFERENCE NOM_SEM"
).split()
LAYERS = tuple(column.lower() for column in COLUMNS if column not in ("ID", "FORM", "IDENTITY"))
EXPRESSES = Expresses(discontinuous=True, layers=LAYERS, attributes="of markables")

_BRACKETS = re.compile(r"\(([^()]*)(\)?)|(\))")
_OWN = ("EntityID", "MarkableID")


@dataclass(slots=True)
class _Draft:
    """A document whose lines are being read."""

    name: str
    line: int
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    comments: list[list[str]] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    ended: bool = True


def read(source: Source) -> Iterator[Document]:
    columns = COLUMNS
    draft: _Draft | None = None
    number = 0
    for line in source.lines():
        text = line.text.strip()
        if text.startswith("# global.columns"):
            columns = text.partition("=")[2].split()
        elif text.startswith("# newdoc") or (draft is None and text):
            if draft is not None:
                yield from _finished(source, draft)
            number += 1
            given = text.partition("=")[2].strip() if text.startswith("# newdoc") else ""
            draft = _Draft(given or (source.stem if number == 1 else f"{source.stem}-{number}"), line.number, columns)
            source.begin(draft.name, line=line.number)
            if not text.startswith("# newdoc"):
                _add(source, draft, text, line.number)
        elif draft is not None:
            _add(source, draft, text, line.number)
        if line.damage:
            source.fault(line.damage, line=line.number)
    if draft is not None:
        yield from _finished(source, draft)


def _add(source: Source, draft: _Draft, text: str, line: int) -> None:
    """Add a line: blank, a comment or a row. Columns are divided by white space."""
    if not text:
        draft.ended = True
    elif text.startswith("#"):
        draft.waiting.append(text)
    else:
        cells = text.split("\t") if text.count("\t") >= len(draft.columns) - 2 else text.split()
        cells += ["_"] * (len(draft.columns) - len(cells))  # some files leave out the last ones
        if len(cells) != len(draft.columns):
            source.fault(f"{len(cells)} columns, where {len(draft.columns)} were announced", line=line)
            return
        if draft.ended:
            draft.starts.append(len(draft.rows))
            draft.comments.append(draft.waiting)
            draft.waiting, draft.ended = [], False
        draft.rows.append(cells)
        draft.lines.append(line)


def _finished(source: Source, draft: _Draft) -> Iterator[Document]:
    place = {name: number for number, name in enumerate(draft.columns)}
    for name in ("FORM", "IDENTITY"):
        if name not in place:
            source.fault(f"# global.columns names no column {name}", line=draft.line)
            return
    clusters, markables = _markables(source, draft, place["IDENTITY"])
    layers = {
        name.lower(): tuple(row[number] for row in draft.rows)
        for name, number in place.items()
        if name not in ("ID", "FORM", "IDENTITY") and any(row[number] != "_" for row in draft.rows)
    }
    kept: dict[str, Any] = {
        "columns": draft.columns if draft.columns != COLUMNS else [],
        "sentence comments": draft.comments if any(draft.comments) else [],
        "markables": markables,
    }
    document = source.document(
        draft.name,
        [row[place["FORM"]] for row in draft.rows],
        draft.starts,
        clusters,
        line_of=draft.lines.__getitem__,
        layers=layers,
        extra={NAME: {key: value for key, value in kept.items() if value}} if any(kept.values()) else {},
    )
    if document is not None:
        yield document


def _markables(source: Source, draft: _Draft, column: int) -> tuple[dict[str, list[Span]], list[list[Any]]]:
    """Entities, and [span, attributes] of each markable."""
    parts: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    about: dict[tuple[str, str], str] = {}
    opened: list[tuple[str, int]] = []
    unnamed = 0
    for token, row in enumerate(draft.rows):
        cell = row[column]
        if cell in ("_", "-", "*"):
            continue
        if _BRACKETS.sub("", cell):
            what = f"{cell[:50]!r} has something else than brackets"
            source.fault(what, line=draft.lines[token], token=token, mendable=True)
        for match in _BRACKETS.finditer(cell):
            if match[3] is None:
                opened.append((match[1], token))
            if match[2] or match[3]:
                if not opened:
                    what = "a markable is closed here, but none is open"
                    source.fault(what, line=draft.lines[token], token=token, mendable=True)
                    continue
                body, start = opened.pop()
                said = dict(pair.partition("=")[::2] for pair in body.split("|"))
                if not said.get("EntityID"):
                    what = f"a markable without EntityID: {body[:50]!r}"
                    source.fault(what, line=draft.lines[start], token=start, mendable=True)
                    continue
                unnamed += "MarkableID" not in said
                key = said["EntityID"], said.get("MarkableID") or f"?{unnamed}"
                parts[key].append((start, token))
                about.setdefault(key, body)
    for body, start in opened:
        what = f"a markable is opened here but not closed: {body[:50]!r}"
        source.fault(what, line=draft.lines[start], token=start, mendable=True)
    clusters: dict[str, list[Span]] = {}
    markables = []
    for key, found in sorted(parts.items(), key=lambda item: document_order(span_of(item[1]))):
        span = span_of(found)
        clusters.setdefault(key[0], []).append(span)
        markables.append([str(span), about[key]])
    return clusters, markables


# Writing


def losses(document: Document) -> Counter[str]:
    columns = lost.in_columns(document, (*LAYERS, *document.layers))
    columns.pop("source text", None)
    spaced = [token for token in document.tokens if token.split() != [token]] + [
        cell for cells in document.layers.values() for cell in cells if cell.split() != [cell]
    ]
    return (
        undeclared(document, EXPRESSES, NAME)
        + columns
        + lost.count(
            names_that_a_comment_cannot_hold=document.name != document.name.strip() or lost.breaks(document.name),
            tokens_and_cells_with_white_space=len(spaced),
            crossing_mentions=len(document.mentions) - len(_nested(document)),
        )
    )


def _nested(document: Document) -> list[Span]:
    """The mentions that do not cross an earlier one, of whatever entity, as a bare bracket closes the last."""
    kept: list[Span] = []
    taken: list[Span] = []
    for span in document.mentions:
        crosses = any(
            a.start < b.start <= a.end < b.end or b.start < a.start <= b.end < a.end
            for a in span.parts
            for b in taken
            if b.end >= span.start
        )
        if not crosses:
            kept.append(span)
            taken += span.parts
    return kept


def render(document: Document) -> str:
    content = document.extra.get(NAME)
    kept = content if isinstance(content, dict) else {}
    given = [str(name) for name in lost.listed(kept, "columns")]
    columns = given if {"ID", "FORM", "IDENTITY"} <= set(given) else COLUMNS
    comments = [line for line in lost.listed(kept, "sentence comments") if isinstance(line, list)]
    cells = _cells(document, kept)
    lines = [f"# global.columns = {' '.join(columns)}", f"# newdoc id = {lost.mended(document.name)}"]
    for number, sentence in enumerate(document.sentence_spans):
        own = [str(line) for line in (comments[number] if number < len(comments) else [])]
        lines += [line for line in own if line.startswith("#") and not lost.breaks(line)]
        for token in range(sentence.start, sentence.end + 1):
            row = {"ID": str(token + 1), "FORM": document.tokens[token], "IDENTITY": cells[token] or "_"}
            row |= {name.upper(): column[token] for name, column in document.layers.items()}
            lines.append("\t".join("\u00a0".join(row.get(name, "_").split()) or "_" for name in columns))
        lines.append("")
    return "\n".join([*lines, ""])


def _cells(document: Document, kept: dict[str, Any]) -> list[str]:
    """The IDENTITY column."""
    known = {
        str(place): str(body) for place, body in lost.entries(kept, "markables", 2) if not set(str(body)) & set("()")
    }
    bodies = _bodies(document, known)
    opening: dict[int, list[tuple[int, str]]] = defaultdict(list)
    closing: Counter[int] = Counter()
    for span in _nested(document):
        for part in span.parts:
            opening[part.start].append((part.end, bodies[span]))
            closing[part.end] += 1
    cells = []
    for token in range(len(document)):
        cell = ""
        for end, body in sorted(opening[token], key=lambda entry: -entry[0]):
            alone = end == token
            closing[token] -= alone
            cell += f"({body})" if alone else f"({body}"
        cells.append(cell + ")" * closing[token])
    return cells


def _bodies(document: Document, known: dict[str, str]) -> dict[Span, str]:
    """The attributes of every mention, under the name of its entity now."""
    said = {place: dict(pair.partition("=")[::2] for pair in body.split("|")) for place, body in known.items()}
    ids = {about.get("MarkableID") for about in said.values()}
    names: set[str] = set()
    used = {about.get("EntityID") for about in said.values()}
    bodies: dict[Span, str] = {}
    fresh = 0
    for cluster in document.clusters:
        votes = Counter(said[str(s)]["EntityID"] for s in cluster if "EntityID" in said.get(str(s), {}))
        name = next((each for each, _ in votes.most_common() if each not in names), None)
        while name is None:
            fresh += 1
            name = str(fresh) if str(fresh) not in used | names else None
        names.add(name)
        for number, span in enumerate(cluster, start=1):
            about = said.get(str(span))
            if about is None:
                markable = f"markable_{name}_{number}"
                while markable in ids:
                    markable += "x"
                about = {"MarkableID": markable}
            rest = "".join(f"|{key}={value}" if value else f"|{key}" for key, value in about.items() if key not in _OWN)
            bodies[span] = f"EntityID={name}|MarkableID={about.get('MarkableID', f'markable_{name}_{number}')}{rest}"
    return bodies

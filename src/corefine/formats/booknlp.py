"""BookNLP's output: `.tokens` with one token per line, and `.entities` with one mention and its entity per line.

`.quotes`, if present, names the speakers; it is read but not written. `.book` is derived from the other files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from corefine.document import Document, Span
from corefine.errors import InputError
from corefine.formats import losses as lost
from corefine.formats.expresses import Expresses
from corefine.formats.expresses import losses as undeclared
from corefine.formats.source import Source
from corefine.formats.text import name_and_part
from corefine.formats.token_json import hulls, words

NAME = "booknlp"
COLUMNS = (
    "paragraph_ID sentence_ID token_ID_within_sentence token_ID_within_document word lemma byte_onset byte_offset "
    "POS_tag fine_POS_tag dependency_relation syntactic_head_ID event"
).split()
MENTIONS = ("COREF", "start_token", "end_token", "prop", "cat", "text")
LAYERS = {
    "lemma": "lemma",
    "upos": "POS_tag",
    "xpos": "fine_POS_tag",
    "deprel": "dependency_relation",
    "booknlp_head": "syntactic_head_ID",
    "booknlp_event": "event",
    "booknlp_paragraph": "paragraph_ID",
}
"""Layers, and the columns that hold them."""

EXPRESSES = Expresses(crossing=True, part=True, layers=tuple(LAYERS), attributes="mention types")


def read(source: Source) -> Iterator[Document]:
    if source.path is None:
        raise InputError("BookNLP's output is two files, .tokens and .entities: give a path, not a stream")
    packed = ".gz" if source.path.suffix == ".gz" else ""
    base = source.path.with_suffix("") if packed else source.path
    tokens = source.beside(base.with_suffix(f".tokens{packed}"))
    name, part = name_and_part(tokens.stem)
    tokens.begin(name, part)
    table = _table(tokens, COLUMNS[:5])
    clusters: dict[str, list[Span]] = {}
    kinds: list[list[str]] = []
    entities = tokens.beside(_sibling(base, ".entities", packed))
    entities.begin(name, part)
    if entities.path is not None and entities.path.is_file():
        for line, row in _table(entities, MENTIONS[:3]):
            span = _span(row, "start_token", "end_token")
            if span is None:
                entities.fault("a mention without start_token and end_token", line=line, mendable=True)
                continue
            clusters.setdefault(row["COREF"], []).append(span)
            kinds.append([str(span), row["COREF"], row.get("prop", ""), row.get("cat", "")])
    else:
        entities.fault(f"{entities.label} is missing: .tokens and .entities belong together", document=None)
        return
    rows = [row for _, row in table]
    starts = [n for n, row in enumerate(rows) if n == 0 or row["sentence_ID"] != rows[n - 1]["sentence_ID"]]
    layers = {layer: tuple(row.get(column) or "_" for row in rows) for layer, column in LAYERS.items()}
    document = entities.document(
        name,
        [row["word"] for row in rows],
        starts,
        clusters,
        part=part,
        speakers=_speakers(tokens.beside(_sibling(base, ".quotes", packed)), len(rows)),
        layers={layer: cells for layer, cells in layers.items() if any(cell != "_" for cell in cells)},
        extra={NAME: {"mention types": kinds}} if kinds else {},
    )
    if document is not None and not tokens.broken:
        yield document


def _sibling(base: Path, ending: str, packed: str) -> Path:
    wanted = base.with_suffix(ending)
    return wanted if wanted.is_file() else wanted.with_name(wanted.name + packed)


def _table(source: Source, needed: list[str] | tuple[str, ...]) -> list[tuple[int, dict[str, str]]]:
    """The rows under the names in the first line, each with its line."""
    found: list[tuple[int, dict[str, str]]] = []
    names: list[str] | None = None
    for line in source.lines():
        if line.damage:
            source.fault(line.damage, line=line.number)
        elif names is None:
            names = line.text.split("\t")
            if missing := [name for name in needed if name not in names]:
                source.fault(f"the first line has no column {', '.join(missing)}", line=line.number)
                return []
        elif line.text:
            cells = line.text.split("\t")
            row = dict(zip(names, cells, strict=False))
            if any(name not in row for name in needed):
                source.fault(f"{len(cells)} columns, where the first line has {len(names)}", line=line.number)
                continue
            found.append((line.number, row))
    return found


def _span(row: dict[str, str], first: str, last: str) -> Span | None:
    try:
        return Span(int(row[first]), int(row[last]))
    except (KeyError, ValueError):
        return None


def _speakers(source: Source, size: int) -> tuple[str | None, ...] | None:
    """The speaker of each token: the entity that `.quotes` names."""
    if source.path is None or not source.path.is_file():
        return None
    speakers: list[str | None] = [None] * size
    for line, row in _table(source, ("quote_start", "quote_end")):
        span = _span(row, "quote_start", "quote_end")
        if span is None or not 0 <= span.start <= span.end < size:
            source.fault("a quotation outside the tokens, which was left out", line=line, fatal=False)
        elif row.get("char_id", "None") not in ("None", "", "-1"):
            speakers[span.start : span.end + 1] = [row["char_id"]] * span.width
    return tuple(speakers) if any(speakers) else None


def losses(document: Document) -> Counter[str]:
    columns = lost.in_columns(document, LAYERS)
    columns.pop("source text", None)
    for layer in list(columns):
        if layer.startswith("layer "):
            del columns[layer]
    return undeclared(document, EXPRESSES, NAME) + columns


def render_tokens(document: Document) -> str:
    lines = ["\t".join(COLUMNS)]
    at = 0
    for number, sentence in enumerate(document.sentence_spans):
        for index, token in enumerate(range(sentence.start, sentence.end + 1)):
            word = document.tokens[token]
            row: dict[str, object] = dict.fromkeys(COLUMNS, "_") | {"paragraph_ID": 0, "sentence_ID": number}
            row |= {
                column: document.layers[layer][token] for layer, column in LAYERS.items() if layer in document.layers
            }
            row |= {"token_ID_within_sentence": index, "token_ID_within_document": token, "word": word}
            start, end = document.offsets[token] if document.offsets is not None else (at, at + len(word))
            row |= {"byte_onset": start, "byte_offset": end}
            at = end + 1
            lines.append("\t".join(lost.mended(str(row[column])) for column in COLUMNS))
    return "\n".join([*lines, ""])


def render_entities(document: Document) -> str:
    content = document.extra.get(NAME)
    known = {
        str(place): (str(name), str(prop), str(cat))
        for place, name, prop, cat in lost.entries(content if isinstance(content, dict) else {}, "mention types", 4)
    }
    rows = []
    given: set[str] = set()
    for cluster in hulls(document):
        votes = Counter(known[str(span)][0] for span in cluster if str(span) in known)
        name = next((name for name, _ in votes.most_common() if name not in given), None)
        fresh = len(given)
        while name is None or name in given:
            name, fresh = str(fresh), fresh + 1
            name = name if name not in {each for each, _, _ in known.values()} else None
        given.add(name)
        for span in cluster:
            _, prop, cat = known.get(str(span), ("", "_", "_"))
            rows.append((span, [name, str(span.start), str(span.end), prop, cat, words(document, span)]))
    rows.sort(key=lambda row: row[0])
    return "".join("\t".join(map(lost.mended, row)) + "\n" for row in (MENTIONS, *(row for _, row in rows)))

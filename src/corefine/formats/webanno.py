"""WebAnno TSV 3, the format of WebAnno and INCEpTION: a token a line, a column for each feature of each layer.

The header names the layers. A chain layer (`#T_CH`) holds coreference: in `CM[5]` the chain is 5, in
`COREFERENTIAL->5-2` the link is the second of chain 5. Lemma and part of speech become layers of those names, all other
columns layers named `type|feature`. Places are counted as Java counts, in UTF-16.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from corefine.document import Document, Span
from corefine.formats import losses as lost
from corefine.formats.expresses import ANY, Expresses
from corefine.formats.expresses import losses as undeclared
from corefine.formats.source import Source
from corefine.formats.standoff import utf16
from corefine.formats.text import name_and_part
from corefine.formats.token_json import hulls
from corefine.formats.tokens import Characters, apart, differing, overlapping, text_of, without_ends

NAME = "webanno"
FORMAT = "#FORMAT=WebAnno TSV 3.3"
_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
CHAIN = f"{_DKPRO}.coref.type.CoreferenceLink|referenceType|referenceRelation"
"""The chain layer of new files: the one that every INCEpTION project has."""

LAYERS = {
    f"{_DKPRO}.segmentation.type.Lemma|value": "lemma",
    f"{_DKPRO}.lexmorph.type.pos.POS|PosValue": "xpos",
    f"{_DKPRO}.lexmorph.type.pos.POS|coarseValue": "upos",
}
EXPRESSES = Expresses(crossing=True, text=True, part=True, layers=ANY, attributes="link features, other layers")

_CUSTOM = re.compile(r"webanno\.custom\.([^|]+)\|value")
_ROW = re.compile(r"(\d{1,9})-(\d{1,9})(\.\d{1,9})?")
_PLACE = re.compile(r"(\d{1,12})-(\d{1,12})")
_TYPE = re.compile(r"(.*)\[(\d{1,9})\]", re.DOTALL)
_RELATION = re.compile(r"(.*)->(\d{1,9})-(\d{1,9})", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SPECIAL = re.compile(r"[\\\[\]|_;\t\n*]|->")
_BAR = re.compile(r"(?<!\\)\|")
_TEXT_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(slots=True)
class _Layer:
    """A layer of the header: its line, whether it is a chain, and the columns of its features."""

    header: str
    chain: bool
    features: list[str]
    first: int

    @property
    def type(self) -> str:
        return self.header.partition("=")[2].partition("|")[0]

    def name(self, feature: str) -> str:
        name = f"{self.type}|{feature}"
        custom = _CUSTOM.fullmatch(name)
        return custom[1] if custom else LAYERS.get(name, name)


@dataclass(slots=True)
class _Link:
    """A link of a chain: its first and last character, and what its features say."""

    start: int
    end: int
    line: int
    features: dict[str, str] = field(default_factory=dict)


def read(source: Source) -> Iterator[Document]:
    name, part = name_and_part(source.stem)
    source.begin(name, part)
    document = _Reader(source).document(name, part)
    if document is not None:
        yield document


class _Reader:
    """Reads one file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.layers: list[_Layer] = []
        self.places: list[Characters] = []
        self.words: list[str] = []
        self.starts: list[int] = []
        self.texts: list[list[str]] = []
        self.cells: list[list[str]] = []
        self.parts: list[list[Any]] = []
        self.links: dict[tuple[int, int, int], _Link] = {}
        self.lines: list[int] = []

    def document(self, name: str, part: int) -> Document | None:
        self._read()
        text, offsets = self._text()
        clusters: dict[str, list[Span]] = {}
        features: dict[Span, dict[str, str]] = {}
        exact: list[list[Any]] = []
        for (of_layer, chain, _), link in sorted(self.links.items()):
            span = self._span(link)
            if span is None:
                self.source.fault("a link outside all tokens", line=link.line, mendable=True)
                continue
            clusters.setdefault(f"{of_layer}:{chain}", []).append(span)
            if any(value not in ("*", "_", "") for value in link.features.values()):
                features.setdefault(span, link.features)
            if (link.start, link.end) != (self.places[span.start][0], self.places[span.end][1]):
                what = f"a link covers part of the token {self.words[span.start]!r}; the whole token was taken"
                self.source.fault(what, line=link.line, token=span.start, fatal=False)
                exact.append([str(span), link.start, link.end])
        layers = {}
        others = [layer for layer in self.layers if not layer.chain]
        for layer in others:
            for column, feature in enumerate(layer.features, start=layer.first):
                layers[layer.name(feature)] = tuple(row[column] for row in self.cells)
        headers = [layer.header for layer in self.layers]
        kept: dict[str, Any] = {
            "layers": [] if headers == [f"#T_CH={CHAIN}"] else headers,
            "link features": [[str(span), said] for span, said in sorted(features.items())],
            "parts of tokens": exact,
            "annotations of parts of tokens": self.parts,
        }
        extra = {NAME: {key: value for key, value in kept.items() if value}}
        return self.source.document(
            name,
            self.words,
            self.starts,
            clusters,
            part=part,
            text=text,
            offsets=offsets,
            layers={layer: cells for layer, cells in layers.items() if any(cell != "_" for cell in cells)},
            extra=extra if extra[NAME] else {},
            line_of=self.lines.__getitem__,
        )

    def _read(self) -> None:
        sentence: str | None = None
        for line in self.source.lines():
            if line.damage:
                self.source.fault(line.damage, line=line.number)
            elif line.text.startswith("#T_"):
                self._add_layer(line.text)
            elif line.text.startswith("#Text="):
                said = _unescaped(line.text.removeprefix("#Text="))
                if self.texts and sentence == "":  # a text over several lines
                    self.texts[-1].append(said)
                else:
                    self.texts.append([said])
                    sentence = ""
            elif line.text.startswith("#FORMAT") and not line.text.startswith("#FORMAT=WebAnno TSV 3"):
                self.source.fault(f"{line.text[:40]!r} is not WebAnno TSV 3", line=line.number)
            elif _ROW.match(line.text) and "\t" in line.text:
                number = line.text.partition("-")[0]
                if number != sentence:
                    sentence = number
                    self.starts.append(len(self.words))
                self._add_row(line.text.split("\t"), line.number)
            elif line.text.strip() and not line.text.startswith("#"):
                self.source.fault("neither a token nor a comment", line=line.number)

    def _add_layer(self, header: str) -> None:
        if self.words:
            self.source.fault(f"the layer {header[:40]!r} is declared after the first tokens")
            return
        first = sum(len(layer.features) for layer in self.layers)
        features = header.partition("=")[2].split("|")[1:] or [""]  # a layer without features has one column
        self.layers.append(_Layer(header, header.startswith("#T_CH"), features, first))

    def _add_row(self, row: list[str], line: int) -> None:
        width = sum(len(layer.features) for layer in self.layers)
        place = _PLACE.fullmatch(row[1])
        id_ = _ROW.fullmatch(row[0])
        if place is None or id_ is None or len(row) < 3 + width:
            self.source.fault(f"a row needs {3 + width} columns: number, place, token and the layers'", line=line)
            return
        start, end = int(place[1]), int(place[2])
        cells = row[3 : 3 + width]
        if id_[3] is None:
            if self.places and start < self.places[-1][1]:
                self.source.fault(f"the place {row[1]} begins before the token before it ends", line=line)
            self.places.append((start, end))
            self.words.append(row[2])
            self.lines.append(line)
            self.cells.append(cells)
        elif any(c != "_" for layer in self.layers if not layer.chain for c in self._cells(layer, cells)):
            self.parts.append([len(self.words) - 1, id_[3], row[1], row[2], cells])
        for number, layer in enumerate(self.layers):
            if layer.chain:
                self._add_links(number, layer, cells, start, end, line)

    def _cells(self, layer: _Layer, cells: Sequence[str]) -> Sequence[str]:
        return cells[layer.first : layer.first + len(layer.features)]

    def _add_links(self, number: int, layer: _Layer, cells: Sequence[str], start: int, end: int, line: int) -> None:
        values = dict(zip(layer.features, (_BAR.split(c) for c in self._cells(layer, cells)), strict=True))
        relation = next((f for f, v in values.items() if any(_RELATION.fullmatch(each) for each in v)), None)
        if relation is None:
            if any(v != ["_"] for v in values.values()):
                self.source.fault("a link that names no chain, as in *->1-1", line=line, mendable=True)
            return
        for place, value in enumerate(values[relation]):
            found = _RELATION.fullmatch(value)
            if found is None:
                self.source.fault(f"{value[:40]!r} names no chain, as in *->1-1", line=line, mendable=True)
                continue
            key = number, int(found[2]), int(found[3])
            link = self.links.setdefault(key, _Link(start, end, line))
            link.start, link.end = min(link.start, start), max(link.end, end)
            link.features[relation] = _unescaped(found[1])
            for feature, all_values in values.items():
                if feature != relation and place < len(all_values):
                    said = _TYPE.fullmatch(all_values[place])
                    link.features[feature] = _unescaped(said[1] if said else all_values[place])

    def _span(self, link: _Link) -> Span | None:
        """The tokens that a link touches."""
        first = bisect_right(self.places, link.start, key=lambda place: place[1])
        last = bisect_left(self.places, max(link.end, link.start + 1), key=lambda place: place[0]) - 1
        return Span(first, last) if first <= last else None

    def _text(self) -> tuple[str, tuple[Characters, ...]]:
        """The text and the offsets of tokens, with spaces for the text between sentences, which is not in the file."""
        text, offsets = "", list[Characters]()
        if not self.words or self.starts[-1] == len(self.words):  # a sentence without a valid row
            return text, ()
        at = 0  # where the text ends, as Java counts
        for start, end in zip(self.starts, [*self.starts[1:], len(self.words)], strict=True):
            number = len(offsets) and self.starts.index(start)
            said = "\n".join(self.texts[number]) if number < len(self.texts) else " ".join(self.words[start:end])
            begin = self.places[start][0]
            text += (" " * (begin - at - 1) + "\n") if begin > at else ""
            places = utf16(said)
            back = {place: n for n, place in enumerate(places)} if places else None
            for first, last in self.places[start:end]:
                a, z = (back.get(p - begin, p - begin) if back else p - begin for p in (first, last))
                offsets.append((len(text) + a, len(text) + z))
            text += said
            at = begin + (places[-1] if places else len(said))
        return text, tuple(offsets)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _TEXT_ESCAPES.get(match[1], match[1]), text)


def _escaped(text: str) -> str:
    made = _SPECIAL.sub(lambda match: f"\\{match[0]}", text.replace("\n", " ").replace("\t", " "))
    return made or "*"


# Writing


def losses(document: Document) -> Counter[str]:
    return undeclared(document, EXPRESSES, NAME) + lost.count(
        names_with_tabs_or_line_breaks=lost.breaks(document.name),
        cells_with_tabs_or_line_breaks=sum(map(lost.breaks, (c for cs in document.layers.values() for c in cs))),
        tokens_that_differ_from_the_text=differing(document),
        tokens_with_tabs_or_line_breaks=sum(map(lost.breaks, document.tokens)),
        mentions_of_parts_of_several_tokens=_partial(document),
        empty_tokens=sum(a == z for a, z in text_of(document)[1]),
        overlapping_tokens=overlapping(text_of(document)[1]),
        text_between_sentences=_between(document),
    )


def _partial(document: Document) -> int:
    content = document.extra.get(NAME)
    known = {str(span) for span in document.mentions if span.start < span.end}
    entries = lost.entries(content if isinstance(content, dict) else {}, "parts of tokens", 3)
    return sum(str(place) in known for place, _, _ in entries)


def _between(document: Document) -> int:
    """The sentences that are followed by something other than a line break."""
    text, offsets = text_of(document)
    spans = document.sentence_spans
    gaps = [text[offsets[a.end][1] : offsets[b.start][0]] for a, b in pairwise(spans)]
    around = (text[: offsets[0][0]], text[offsets[-1][1] :].removesuffix("\n")) if offsets else ()
    return sum(gap != " " * (len(gap) - 1) + "\n" for gap in gaps if gap) + sum(map(bool, around))


def render(document: Document) -> str:
    content = document.extra.get(NAME)
    kept = content if isinstance(content, dict) else {}
    headers = [str(header) for header in lost.listed(kept, "layers") if str(header).startswith("#T_")]
    layers = _layers(document, headers)
    text, offsets = text_of(document)
    offsets = apart(offsets)
    places = utf16(text) or range(len(text) + 1)
    links = _links(document, kept)
    inside = _inside(kept, document)
    lines = [FORMAT, *(layer.header for layer in layers), ""]
    parts = {int(row[0]): row for row in lost.entries(kept, "annotations of parts of tokens", 5) if type(row[0]) is int}
    for number, sentence in enumerate(document.sentence_spans, start=1):
        begin, end = offsets[sentence.start][0], offsets[sentence.end][1]
        lines += ["", f"#Text={_in_text(text[begin:end])}"]
        for index, token in enumerate(range(sentence.start, sentence.end + 1), start=1):
            start, stop = offsets[token]
            whole = [link for link in links[token] if link[3] not in inside]
            cells = [cell for layer in layers for cell in _columns(document, layer, token, whole)]
            place = f"{places[start]}-{places[stop]}"
            lines.append("\t".join([f"{number}-{index}", place, lost.mended(text[start:stop]), *cells, ""]))
            if token in parts:
                _, sub, where, word, row = parts[token]
                lines.append("\t".join([f"{number}-{index}{sub}", where, word, *map(str, row), ""]))
            for sub, link in enumerate((each for each in links[token] if each[3] in inside), start=1):
                first, last = inside[link[3]]
                cells = [cell for layer in layers for cell in _columns(document, layer, None, [link])]
                word = _slice(text, places, first, last)
                lines.append("\t".join([f"{number}-{index}.{sub}", f"{first}-{last}", word, *cells, ""]))
    return "\n".join([*lines, ""])


def _in_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def _layers(document: Document, headers: Sequence[str]) -> list[_Layer]:
    """The layers of the source, further layers of the document, and a chain layer."""
    layers: list[_Layer] = []
    for header in headers or []:
        features = header.partition("=")[2].split("|")[1:] or [""]
        layers.append(_Layer(header, header.startswith("#T_CH"), features, 0))
    known = {layer.name(feature) for layer in layers for feature in layer.features}
    full = {short: name for name, short in LAYERS.items()}
    for name in document.layers:
        if name not in known:
            type_, _, feature = full.get(name, name if "|" in name else f"webanno.custom.{name}|value").partition("|")
            layers.append(_Layer(f"#T_SP={type_}|{feature}", False, [feature], 0))
    if document.clusters and not any(layer.chain for layer in layers):
        layers.append(_Layer(f"#T_CH={CHAIN}", True, CHAIN.split("|")[1:], 0))
    return layers


def _inside(kept: dict[str, Any], document: Document) -> dict[Span, Characters]:
    """The mentions that cover a part of one token, with their offsets."""
    found = {}
    known = {str(span): span for span in document.mentions if span.start == span.end}
    for place, start, end in lost.entries(kept, "parts of tokens", 3):
        if str(place) in known and type(start) is int and type(end) is int:
            found[known[str(place)]] = start, end
    return found


def _slice(text: str, places: Sequence[int], first: int, last: int) -> str:
    """The characters between two places that are counted as Java counts."""
    return lost.mended(text[bisect_left(places, first) : bisect_left(places, last)]) if first < last else ""


_Written = tuple[int, int, dict[str, str], Span]
"""Chain, number of the link, its features and its span."""


def _links(document: Document, kept: dict[str, Any]) -> list[list[_Written]]:
    """The links of each token."""
    known = {str(place): about for place, about in lost.entries(kept, "link features", 2) if isinstance(about, dict)}
    found: list[list[_Written]] = [[] for _ in document.tokens]
    full = [token for token, (start, end) in enumerate(text_of(document)[1]) if start < end]  # readers skip the empty
    for chain, cluster in enumerate(without_ends(hulls(document), full), start=1):
        for number, span in enumerate(cluster, start=1):
            about = {str(key): str(value) for key, value in known.get(str(span), {}).items()}
            for token in range(span.start, span.end + 1):
                found[token].append((chain, number, about, span))
    return found


def _columns(document: Document, layer: _Layer, token: int | None, links: Sequence[_Written]) -> Iterable[str]:
    if not layer.chain:
        for feature in layer.features:
            name = layer.name(feature)
            column = document.layers.get(name) or document.layers.get(
                name.removeprefix("webanno.custom.").partition("|")[0]
            )
            yield lost.mended(column[token]) if column and token is not None else "_"
        return
    relation = "referenceRelation" if "referenceRelation" in layer.features else layer.features[-1]
    for feature in layer.features:
        cells = []
        for chain, number, about, _ in links:
            value = _escaped(about.get(feature, "*")) if about.get(feature, "*") != "*" else "*"
            cells.append(f"{value}->{chain}-{number}" if feature == relation else f"{value}[{chain}]")
        yield "|".join(cells) or "_"

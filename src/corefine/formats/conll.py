"""CoNLL-2012: one token a line, entities as brackets in the last column.

The reader takes twelve columns or more, and the shorter kinds: (name, part, number, word, brackets), (name or number,
word, brackets), (word, brackets), and (name, brackets), in which the unknown words become `_`. Tabs divide columns, or
spaces in lines without a tab. The writer writes twelve columns, and one more for each predicate if the source had them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from corefine.document import Document, Span, SplitSpan
from corefine.formats import losses as lost
from corefine.formats.brackets import brackets, cells, crossing
from corefine.formats.expresses import Expresses
from corefine.formats.source import Line, Source

NAME = "conll"
EMPTY_CELLS = frozenset(("-", "_", "*", ""))

MIDDLE = ("xpos", "parse", "predicate", "frameset", "sense", "speaker", "ner")
"""Columns 5 to 11, by layer. The columns after them, of the predicates' arguments, are one layer."""

LAYERS = tuple(name for name in (*MIDDLE, "arguments") if name != "speaker")
EXPRESSES = Expresses(speakers="token", part=True, layers=LAYERS)
GENRES = frozenset(("bc", "bn", "mz", "nw", "pt", "tc", "wb"))
"""The names of OntoNotes documents begin with one of these."""

_BEGIN = re.compile(r"#\s?begin document([^\t]*)")
_END = re.compile(r"#\s?end document[^\t]*")
_NAME_AND_PART = re.compile(r"\((.*)\)[\s;]*(?:part *(-?\d{1,18}))?", re.DOTALL)


def read(source: Source) -> Iterator[Document]:
    draft: _Draft | None = None
    for line in source.lines():
        text = line.text
        if not text or text.isspace():
            if draft is not None:
                draft.sentence_ended = True
        elif text[0] == "#" and (begin := _BEGIN.fullmatch(text)):
            if draft is not None:
                source.fault("the document has no #end document", line=line.number, fatal=False)
                yield from draft.finished()
            name, part = _name_and_part(begin[1])
            draft = _Draft(source, name or source.stem, part, line.number)
            if line.damage:
                source.fault(line.damage, line=line.number)
        elif text[0] == "#" and _END.fullmatch(text):
            if draft is not None:
                yield from draft.finished()
            draft = None
        elif text[0] == "#" and "\t" not in text and (draft is None or not text.startswith(f"{draft.name} ")):
            source.fault("a comment, which was left out", line=line.number, fatal=False)
        else:
            if draft is None:
                draft = _Draft(source, source.stem, 0, line.number)
                source.fault("tokens before any #begin document", line=line.number, fatal=False)
            draft.add(line)
    if draft is not None:
        source.fault("the document has no #end document", fatal=False)
        yield from draft.finished()


def _name_and_part(text: str) -> tuple[str, int]:
    match = _NAME_AND_PART.fullmatch(text.strip())
    return (match[1], int(match[2] or 0)) if match else (text.strip(), 0)


class _Draft:
    """A document whose lines are being read."""

    def __init__(self, source: Source, name: str, part: int, line: int) -> None:
        self.source = source
        self.name = name
        self.part = part
        self.rows: list[list[str]] = []
        self.lines: list[int] = []
        self.starts: list[int] = []
        self.sentence_ended = True
        source.begin(name, part, line)

    def add(self, line: Line) -> None:
        if line.damage:
            self.source.fault(line.damage, line=line.number, token=len(self.rows))
        if self.sentence_ended:
            self.starts.append(len(self.rows))
            self.sentence_ended = False
        text = line.text
        self.rows.append(text.split("\t") if "\t" in text else [cell for cell in text.split(" ") if cell])
        self.lines.append(line.number)

    def finished(self) -> Iterator[Document]:
        """The document, unless a fault makes it unreadable."""
        self._drop_trailing_tabs()
        columns: dict[str, list[str]] = {name: [] for name in ("word", *MIDDLE, "arguments", "entities")}
        for start, end in pairwise((*self.starts, len(self.rows))):
            if not self._add_columns(columns, start, end):
                return
        clusters = self._clusters(columns.pop("entities"))
        words = columns.pop("word")
        speakers = [None if cell in EMPTY_CELLS else cell for cell in columns.pop("speaker")]
        layers = {name: tuple(column) for name, column in columns.items() if any(map(_says_something, set(column)))}
        if "xpos" in layers:
            layers["xpos"] = tuple("_" if cell in EMPTY_CELLS else cell for cell in layers["xpos"])
        document = self.source.document(
            self.name,
            words,
            self.starts,
            clusters,
            line_of=self.lines.__getitem__,
            part=self.part,
            speakers=tuple(speakers) if any(speakers) else None,
            genre=genre_of(self.name),
            layers=layers,
        )
        if document is not None:
            yield document

    def _drop_trailing_tabs(self) -> None:
        """Drop extra tabs at the ends of lines, but keep an empty last cell, which means "no entity"."""
        widths = {len(row) for row in self.rows if row[-1]}
        empty = [row for row in self.rows if not row[-1]]
        if not widths and any("(" in row[-2] or ")" in row[-2] for row in empty):
            widths = {len(row) - 1 for row in empty}
        for row in empty:
            if len(row) not in widths and len(row) - 1 in widths:
                row.pop()

    def _add_columns(self, columns: dict[str, list[str]], start: int, end: int) -> bool:
        """Sort one sentence's cells into columns; False if its lines do not agree on their number."""
        width = len(self.rows[start])
        for token in range(start, end):
            if len(self.rows[token]) != width or width < 2:
                found = f"{len(self.rows[token])} columns"
                what = f"{found}, where the sentence began with {width}" if width > 1 else f"{found}, at least 2 needed"
                self.source.fault(what, line=self.lines[token], token=token)
                return False
        grid: Sequence[Sequence[str]] = list(zip(*self.rows[start:end], strict=True))
        blank = ["-"] * (end - start)
        named = width == 2 and self.rows[start][0] == self.name
        columns["word"] += ["_"] * (end - start) if named else grid[min(width - 2, 3)]
        columns["entities"] += grid[-1]
        middle = grid[4:-1]
        for number, name in enumerate(MIDDLE):
            columns[name] += middle[number] if number < len(middle) else blank
        rest = middle[len(MIDDLE) :]
        columns["arguments"] += [" ".join(row) for row in zip(*rest, strict=True)] if rest else blank
        return True

    def _clusters(self, column: Sequence[str]) -> dict[str, list[Span]]:
        """Entities in the order of their first brackets."""
        clusters: dict[str, list[Span]] = {}
        opened: dict[str, list[int]] = {}
        for token, cell in enumerate(column):
            if cell in EMPTY_CELLS:
                continue
            for bracket in brackets(cell):
                opens, closes = bracket[0] == "(", bracket[-1] == ")"
                label = bracket[opens : len(bracket) - closes]
                if not label or not (opens or closes):
                    what = f"{bracket[:50]!r} is neither a bracket with the name of an entity nor one of - _ *"
                    self.source.fault(what, line=self.lines[token], token=token, mendable=True)
                    continue
                spans = clusters.setdefault(label, [])
                if opens and closes:
                    spans.append(Span(token, token))
                elif opens:
                    opened.setdefault(label, []).append(token)
                elif opened.get(label):
                    spans.append(Span(opened[label].pop(), token))
                else:
                    what = f"entity {label} is closed here but not open"
                    self.source.fault(what, line=self.lines[token], token=token, mendable=True)
        for label, tokens in opened.items():
            for token in tokens:
                what = f"entity {label} is opened here but not closed"
                self.source.fault(what, line=self.lines[token], token=token, mendable=True)
        return clusters


def _says_something(cell: str) -> bool:
    return cell not in EMPTY_CELLS and bool(cell.strip("-_* "))


def genre_of(name: str) -> str | None:
    """The genre that the name of an OntoNotes document begins with, or None."""
    genre, slash, _ = name.partition("/")
    return genre if slash and genre in GENRES else None


def losses(document: Document) -> Counter[str]:
    found = lost.in_columns(document, LAYERS) + lost.of_extra(document, NAME)
    found += lost.count(
        empty_names=not document.name,
        discontinuous_mentions=lost.split_mentions(document),
        crossing_mentions_of_one_entity=sum(len(crossing(_plain(cluster))) for cluster in document.clusters),
        genre=document.genre is not None and document.genre != genre_of(document.name),
        language=document.language is not None,
    )
    uneven = 0
    for sentence in document.sentence_spans if "arguments" in document.layers else ():
        column = document.layers["arguments"][sentence.start : sentence.end + 1]
        uneven += len({cell.count(" ") for cell in column}) > 1
    found += lost.count(
        sentences_with_unequal_numbers_of_arguments=uneven,
        cells_of_layer_xpos_that_say_nothing=sum(map(document.layers.get("xpos", ()).count, "-*")),
    )
    if document.speakers is not None:
        unfit = sum(s is not None and (s in EMPTY_CELLS or lost.breaks(s)) for s in document.speakers)
        found += lost.count(speakers_the_column_cannot_hold=unfit)
    return found


def render(document: Document) -> str:
    name = lost.mended(document.name) if document.name else ""
    lines = [f"#begin document ({name}); part {document.part:03d}"]
    entities = [cell or "-" for cell in cells(_mentions(document), len(document), "|")]
    columns = [_layer(document, layer, blank) for layer, blank in zip(MIDDLE, "-*----*", strict=True)]
    rows = list(map("\t".join, zip(lost.all_mended(document.tokens), *columns, strict=True)))
    start = f"{name}\t{document.part}\t"
    has_arguments = "arguments" in document.layers
    for first, last in document.sentence_spans:
        own = slice(first, last + 1)
        middle = rows[own]
        if has_arguments:
            arguments = _arguments(document.layers["arguments"][own])
            middle = ["\t".join((row, *more)) for row, more in zip(middle, arguments, strict=True)]
        both = zip(middle, entities[own], strict=True)
        lines += [f"{start}{number}\t{row}\t{entity}" for number, (row, entity) in enumerate(both)]
        lines.append("")
    lines.append("#end document\n")
    return "\n".join(lines)


def _layer(document: Document, layer: str, blank: str) -> Sequence[str]:
    """A column as it is written. `blank` stands for a layer that the document does not have."""
    if layer == "speaker":
        return lost.all_mended([who or "-" for who in document.speakers or (None,) * len(document)])
    column = document.layers.get(layer)
    if column is None:
        return [blank] * len(document)
    if layer == "xpos":
        column = tuple("-" if cell == "_" else cell for cell in column)
    return lost.all_mended(column)


def _arguments(column: Sequence[str]) -> list[list[str]]:
    """The cells of a sentence's predicates, row by row, all rows of the same length; empty if there are none."""
    if set(column) == {"-"}:
        return [[] for _ in column]
    rows = [lost.mended(cell).split(" ") for cell in column]
    width = max(map(len, rows))
    return [row + ["-"] * (width - len(row)) for row in rows]


def _plain(cluster: Sequence[Span]) -> list[Span]:
    return [span for span in cluster if not isinstance(span, SplitSpan)]


def _mentions(document: Document) -> list[tuple[int, int, str, str]]:
    """The mentions that can be written. A discontinuous one is its hull, unless another mention has that span."""
    taken = {span for cluster in document.clusters for span in _plain(cluster)}
    mentions = []
    for number, cluster in enumerate(document.clusters):
        spans = _plain(cluster)
        for span in cluster:
            if isinstance(span, SplitSpan) and span.hull not in taken:
                taken.add(span.hull)
                spans.append(span.hull)
        left_out = crossing(spans)
        mentions += [(s.start, s.end, str(number), str(number)) for s in spans if s not in left_out]
    return mentions

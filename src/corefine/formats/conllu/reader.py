"""CoNLL-U with the `Entity` attribute of CorefUD: reading.

Words become tokens. Multiword tokens, empty nodes, comments and the attributes of mentions are kept in `extra`, so that
they can be written back (see `extra`). Clusters hold words only: a mention that begins or ends on an empty node is
there without it, and a mention of empty nodes alone (a zero mention) is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise, repeat
from operator import eq
from typing import NamedTuple

import numpy as np

from corefine.document import Deferred, Document, Span, span_of
from corefine.formats.conllu import scan
from corefine.formats.conllu.extra import extra_of, layers_of
from corefine.formats.conllu.matching import DEFAULT_FIELDS, Matched, match
from corefine.formats.conllu.scan import IrregularError, Lines, Scan
from corefine.formats.source import BLOCK, BOM, Source, bad_utf8

_KEYS = frozenset(("newdoc id", "global.Entity", "part", "genre", "meta::genre", "lang"))
_COMMENTS = re.compile(rb"\n*((?:#[^\n]*\n)*)")
_PART = re.compile(r"-?\d{1,18}", re.ASCII)


def read(source: Source) -> Iterator[Document]:
    return _Reader(source).documents()


def _last_document(chunk: bytes) -> int:
    """Where the last document that begins in these bytes begins; 0 if none is seen to begin after other lines."""
    found = len(chunk)
    while (found := chunk.rfind(b"\n# newdoc", 0, found)) >= 0:
        if scan.is_comment_on(b"newdoc", chunk, found + 1):
            blank = chunk.rfind(b"\n\n", 0, found + 1)
            return blank + 2 if blank >= 0 else 0
    return 0


def _bad_utf8(data: bytes) -> Iterator[tuple[int, int | None, str]]:
    """The lines (from 0) that are not UTF-8."""
    for number, text in enumerate(data.split(b"\n")):
        try:
            text.decode()
        except UnicodeDecodeError as error:
            yield number, None, bad_utf8(error)


class _Header(NamedTuple):
    """What the comments of the first sentence say about the document."""

    name: str
    part: int
    genre: str | None
    language: str | None


class _Reader:
    """Reads a file. Keeps the number of the line, the number of documents, and the fields of mentions."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.line = 1
        self.number = 0
        self.fields: str | None = None

    def documents(self) -> Iterator[Document]:
        for data in self._batches():
            lines = Lines(data)
            begins = lines.documents()
            try:
                found = scan.scan(lines)
            except IrregularError:
                for begin, end in pairwise((*begins, len(data))):
                    yield from self._irregular(data[begin:end])
            else:
                yield from self._regular(found, begins)

    def _batches(self) -> Iterator[bytes]:
        """The bytes of a few complete documents at a time, with plain line breaks."""
        begun: list[bytes] = []  # the bytes of documents that may not be complete yet
        crlf = False
        with self.source.open() as stream:
            while chunk := stream.read(BLOCK):
                if chunk.endswith(b"\r"):
                    chunk += stream.read(1)
                if self.line == 1 and not begun and chunk.startswith(BOM):
                    chunk = chunk[len(BOM) :]
                    self.source.byte_order_mark()
                if b"\r" in chunk and (at := chunk.find(b"\r\n")) >= 0:
                    if not crlf:
                        lines = sum(data.count(b"\n") for data in begun) + chunk.count(b"\n", 0, at)
                        self.source.carriage_returns(self.line + lines)
                    crlf = True
                    chunk = chunk.replace(b"\r\n", b"\n")
                if (begin := _last_document(chunk)) > 0:
                    yield b"".join((*begun, memoryview(chunk)[:begin]))
                    chunk = chunk[begin:]
                    begun.clear()
                begun.append(chunk)
        data = b"".join(begun)
        if data.lstrip(b"\n"):
            yield data if data.endswith(b"\n") else data + b"\n"

    def _regular(self, scan: Scan, begins: Sequence[int]) -> Iterator[Document]:
        """Documents whose lines are all correct."""
        lines = scan.lines
        forms, speakers, sentences = scan.forms(), scan.speakers(), scan.sentences.tolist()
        rows, values = scan.entities()
        # the first row, token, sentence, value and line of each document, and where the last one ends
        bounds = (*begins, len(lines.data))
        row_at = scan.begins.searchsorted(bounds)
        tokens_before = scan.before[row_at]
        token_at = tokens_before.tolist()
        sentence_at = scan.sentences.searchsorted(token_at).tolist()
        values_before = rows.searchsorted(row_at)
        value_at = values_before.tolist()
        line_at = (self.line + lines.ends.searchsorted(bounds)).tolist()
        # the tokens of its document at which a value's brackets open and close mentions: at an empty node, those after
        # and before it
        document_begin = np.repeat(tokens_before[:-1], np.diff(values_before))
        first = (scan.before[rows] - document_begin).tolist()
        last = (scan.before[rows + 1] - 1 - document_begin).tolist()
        for number, (begin, end) in enumerate(pairwise(bounds)):
            header = self._begin(lines.data, begin, line_at[number])
            data = lines.data[begin:end]
            token, next_token = token_at[number : number + 2]
            mine = slice(value_at[number], value_at[number + 1])
            speaking = speakers[token:next_token] if speakers is not None else ()

            def complain(what: str, value: int, token: int = token, before: int = mine.start) -> None:
                row = int(rows[before + value])
                line = self.line + scan.line_of(row)
                self.source.fault(what, line=line, token=int(scan.before[row]) - token, mendable=True)

            def line_of(word: int, token: int = token) -> int:
                return self.line + scan.line_of(int(scan.word_rows[token + word]))

            matched = match(values[mine], self.fields or DEFAULT_FIELDS, complain)
            document = self.source.document(
                header.name,
                forms[token:next_token],
                [start - token for start in sentences[sentence_at[number] : sentence_at[number + 1]]],
                _clusters(matched, first[mine], last[mine]),
                line_of=line_of,
                part=header.part,
                genre=header.genre,
                language=header.language,
                speakers=tuple(speaking) if any(speaking) else None,
                layers=Deferred(partial(layers_of, data)),
                extra=Deferred(partial(extra_of, data, self.fields)),
            )
            if document is not None:
                yield document
        self.line += len(lines.ends)

    def _irregular(self, data: bytes) -> Iterator[Document]:
        """A document with lines that may be wrong. Lines of white space are repaired, other faults are reported."""
        cleaned = scan.without_blanks(data)
        faults = [*_bad_utf8(data), *scan.faults(cleaned)]
        if not faults:
            if cleaned != data:
                what = "lines of white space, which were read as empty"
                self.source.fault(what, line=self.line, document=None, fatal=False)
            yield from self._regular(scan.scan(Lines(cleaned)), [0])
            return
        self._begin(data, 0, self.line)
        for line, token, what in faults:
            self.source.fault(what, line=self.line + line, token=token)
        self.line += data.count(b"\n")

    def _begin(self, data: bytes, at: int, line: int) -> _Header:
        """Read the comments of a document's first sentence, and begin the document."""
        self.number += 1
        said: dict[str, str] = {}
        comments = _COMMENTS.match(data, at)
        for comment in comments[1].decode(errors="replace").split("\n") if comments else ():
            key, sign, value = comment[1:].partition("=")
            if sign and (key := key.strip()) in _KEYS:
                said[key] = value.strip()
        self.fields = said.get("global.Entity", self.fields)
        part = said.get("part", "")
        name = said.get("newdoc id")
        if name is None:
            name = self.source.stem if self.number == 1 else f"{self.source.stem}-{self.number}"
        header = _Header(
            name,
            int(part) if _PART.fullmatch(part) else 0,
            said.get("genre", said.get("meta::genre")),
            said.get("lang"),
        )
        self.source.begin(header.name, header.part, line)
        return header


def _clusters(matched: Matched, first: Sequence[int], last: Sequence[int]) -> dict[str, list[Span]]:
    """Entities by name. `first` and `last` give the tokens at which the brackets of a value open and close mentions."""
    clusters: dict[str, list[Span]] = {entity: [] for entity in matched.entities}
    trimmed: list[tuple[str, list[tuple[int, int]]]] = []
    places = zip(map(first.__getitem__, matched.openings), map(last.__getitem__, matched.closings), strict=True)
    spans = map(tuple.__new__, repeat(Span), places)  # half the time of calling `Span`
    if first == last:  # no value is at an empty node
        for entity, span in zip(matched.labels, spans, strict=True):
            clusters[entity].append(span)
    else:
        at_word = list(map(eq, first, last))
        for entity, span, opening, closing in zip(
            matched.labels, spans, matched.openings, matched.closings, strict=True
        ):
            if at_word[opening] and at_word[closing]:
                clusters[entity].append(span)
            else:
                trimmed.append((entity, [(span.start, span.end)]))
    for entity, _, parts in matched.divided:
        trimmed.append((entity, [(first[opening], last[closing]) for opening, closing in parts]))
    # a mention that loses its empty node may have the same words as another mention, which then stays
    taken = {span for spans in clusters.values() for span in spans} if trimmed else set()
    for entity, found in trimmed:
        surface = [(start, end) for start, end in found if start <= end]
        if surface and (span := span_of(surface)) not in taken:
            taken.add(span)
            clusters[entity].append(span)
    return clusters

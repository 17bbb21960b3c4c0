"""An input file or stream: its bytes, and what happens to its faults.

A reader takes lines, blocks or the whole text from a `Source`, tells it which document they belong to, and lets it make
the `Document`. A fault makes its own document unreadable, and no other.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from corefine.document import Document, Span, normalise
from corefine.errors import DocumentError, Fault, FormatError, InputError
from corefine.formats.detect import SIZE, Head, head_of

OnFault = Callable[[Fault], None]
Where = str | PathLike[str] | BinaryIO

BOM = b"\xef\xbb\xbf"
BLOCK = 1 << 19
"""Bytes read at a time. For CoNLL-U, smaller blocks take a quarter more time; larger ones do not fit the cache."""


class Line(NamedTuple):
    """A line without its line break. `damage` says what is wrong with its UTF-8, if anything."""

    number: int
    text: str
    damage: str | None = None


class Source:
    """One input, read once from start to end.

    Without `on_fault`, the first fault that makes a document unreadable raises `FormatError`. With it, every fault is
    handed over, unreadable documents are left out, and reading goes on. `language` is for documents that name none.
    With `repair`, a bad bracket or link is left out and its document kept.
    """

    def __init__(
        self,
        where: Where,
        *,
        on_fault: OnFault | None = None,
        language: str | None = None,
        repair: bool = False,
    ) -> None:
        self.path = Path(where) if isinstance(where, str | PathLike) else None
        self._stream = None if isinstance(where, str | PathLike) else where
        self.on_fault = on_fault
        self.language = language
        self.repair = repair
        self._document: str | None = None
        self._line: int | None = None
        self.broken = False
        self._seen: set[tuple[str, int]] = set()

    def beside(self, where: Where) -> Source:
        """Another input that is read in the same way."""
        return Source(where, on_fault=self.on_fault, language=self.language, repair=self.repair)

    @property
    def label(self) -> str:
        return "<stdin>" if self.path is None else str(self.path)

    @property
    def stem(self) -> str:
        """The file's name without its endings: the name of a document that has no other."""
        if self.path is None:
            return "stdin"
        stem = Path(self.path.stem if self.path.suffix == ".gz" else self.path.name).stem
        return stem.encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # a name may be any bytes

    # Bytes and lines

    def head(self) -> Head:
        """The first bytes, which will still be read."""
        if self.path is not None:
            return head_of(self.path)
        if not isinstance(self._stream, BufferedReader):
            self._stream = BufferedReader(cast(RawIOBase, self._stream), SIZE)
        return Head(self._stream.peek(SIZE))

    @contextmanager
    def open(self) -> Iterator[BufferedReader]:
        """The bytes, unpacked if they are gzip, whatever the name of the file."""
        try:
            raw = self._stream if self.path is None else self.path.open("rb")
            stream = raw if isinstance(raw, BufferedReader) else BufferedReader(cast(RawIOBase, raw))
            zipped = stream.peek(2)[:2] == b"\x1f\x8b"
        except OSError as error:
            raise InputError(f"{self.label} cannot be read: {error.strerror or error}") from error
        try:
            yield BufferedReader(cast(RawIOBase, gzip.GzipFile(fileobj=stream))) if zipped else stream
        except (EOFError, OSError, zlib.error) as error:
            self.fault(f"the file cannot be read to its end: {error}")
        finally:
            if self.path is not None:
                stream.close()
            elif stream is not raw:
                stream.detach()

    def lines(self) -> Iterator[Line]:
        """The lines. A byte order mark and CRLF are removed, and each is reported once."""
        crlf = False
        with self.open() as stream:
            for number, raw in enumerate(stream, start=1):
                if number == 1 and raw.startswith(BOM):
                    raw = raw[len(BOM) :]
                    self.byte_order_mark()
                raw = raw[:-1] if raw.endswith(b"\n") else raw
                if raw.endswith(b"\r"):
                    raw = raw[:-1]
                    if not crlf:
                        crlf = True
                        self.carriage_returns(number)
                try:
                    yield Line(number, raw.decode())
                except UnicodeDecodeError as error:
                    yield Line(number, raw.decode(errors="replace"), bad_utf8(error))

    def content(self) -> bytes:
        """All bytes."""
        read = []
        with self.open() as stream:
            read.append(stream.read())
        return b"".join(read)

    def whole(self) -> str:
        """The text with nothing removed: offsets count every character, CRLF and byte order mark included."""
        data = self.content()
        if data.startswith(BOM):
            self.byte_order_mark()
        if (at := data.find(b"\r\n")) >= 0:
            self.carriage_returns(data.count(b"\n", 0, at) + 1)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            self.fault(bad_utf8(error), line=data.count(b"\n", 0, error.start) + 1)
            return data.decode(errors="replace")

    def byte_order_mark(self) -> None:
        self.fault("a byte order mark at the start", line=1, document=None, fatal=False)

    def carriage_returns(self, line: int) -> None:
        self.fault("lines end in CRLF", line=line, document=None, fatal=False)

    # Faults and documents

    def fault(
        self,
        what: str,
        *,
        line: int | None = None,
        token: int | None = None,
        document: str | None = "",
        fatal: bool = True,
        mendable: bool = False,
    ) -> None:
        """Report a fault of the current document (or of the file, if `document` is None).

        With `repair`, a `mendable` fault leaves out only the faulty part.
        """
        name = self._document if document == "" else document
        if mendable and self.repair:
            what, fatal = f"{what}; left out", False
        found = Fault(what, self.label, line, name, token, fatal)
        if fatal and name is not None:
            self.broken = True
        if self.on_fault is not None:
            self.on_fault(found)
        elif fatal:
            raise FormatError(found)

    def begin(self, name: str, part: int = 0, line: int | None = None) -> None:
        """Begin a document: faults from here on are its faults."""
        self._document = f"{name} part {part}" if part else name
        self._line = line
        self.broken = False
        if (name, part) in self._seen:
            self.fault("another document of this file has the same name and part", line=line, fatal=False)
        self._seen.add((name, part))

    def document(
        self,
        name: str,
        tokens: Sequence[str],
        sentence_starts: Sequence[int],
        clusters: Mapping[str, Sequence[Span]],
        *,
        line_of: Callable[[int], int] | None = None,
        **fields: Any,
    ) -> Document | None:
        """The document, or None if it is unreadable.

        `clusters` maps the names that the file gives to entities to their spans; `line_of` gives the line of a token.
        """
        if not tokens:
            self.fault("the document has no tokens", line=self._line, fatal=False)
        fields["language"] = fields.get("language") or self.language
        kept = normalise(clusters.values())
        if sum(map(len, kept)) == sum(map(len, clusters.values())) and not self.broken:
            try:
                return Document(name, tuple(tokens), tuple(sentence_starts), kept, **fields)
            except DocumentError:
                pass  # find the reason below
        kept = normalise(self._settled(clusters, len(tokens), line_of))
        try:
            document = Document(name, tuple(tokens), tuple(sentence_starts), kept, **fields)
        except DocumentError as error:
            self.fault(str(error).removeprefix(f"document {self._document}: "), line=self._line)
        return None if self.broken else document

    def _settled(
        self, clusters: Mapping[str, Sequence[Span]], size: int, line_of: Callable[[int], int] | None
    ) -> list[list[Span]]:
        """The clusters with every span once. A span of several clusters stays in the first."""
        owner: dict[Span, str] = {}
        kept: list[list[Span]] = []
        for label, spans in clusters.items():
            kept.append([])
            for span in spans:
                if not 0 <= span.start <= span.end < size:
                    what = f"span {span} of entity {label} is outside the {size} tokens"
                    self.fault(what, line=self._line, mendable=True)
                    continue
                line = line_of(span.start) if line_of is not None else self._line
                if span not in owner:
                    owner[span] = label
                    kept[-1].append(span)
                elif owner[span] == label:
                    what = f"span {span} is in entity {label} twice, kept once"
                    self.fault(what, line=line, token=span.start, fatal=False)
                else:
                    what = f"span {span} is in two clusters, kept in entity {owner[span]} and left out of {label}"
                    self.fault(what, line=line, token=span.start, fatal=False)
        return kept


def bad_utf8(error: UnicodeDecodeError) -> str:
    column = error.start - error.object.rfind(b"\n", 0, error.start)
    return f"bad UTF-8: byte 0x{error.object[error.start]:02x} at byte {column} of the line ({error.reason})"

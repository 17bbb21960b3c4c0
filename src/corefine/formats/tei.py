"""TEI XML: `<rs>`, `<name>`, `<persName>` and their like, with the entity that they refer to in `@ref` or `@key`.

The text is that of `<text>`, without the header. All markup is kept, with its place in the text, and written back
around the document's mentions. A new mention gets an `<rs>` where that fits between the other elements.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from corefine.document import Document, Span
from corefine.formats import losses as lost
from corefine.formats.expresses import Expresses
from corefine.formats.expresses import losses as undeclared
from corefine.formats.source import Source
from corefine.formats.text import name_and_part
from corefine.formats.tokens import Tokens, splitting_losses, text_of, tokenise

NAME = "tei"
MENTIONS = frozenset("rs name persName placeName orgName geogName objectName roleName".split())
BLOCKS = frozenset("p l lg ab head div sp speaker stage item cell u s castItem trailer opener closer byline".split())
"""A sentence ends where one of these begins or ends."""

HEADER = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0">\n<teiHeader><fileDesc>'
    "<titleStmt><title>{name}</title></titleStmt><publicationStmt><p>Written by corefine.</p></publicationStmt>"
    "<sourceDesc><p>Born digital.</p></sourceDesc></fileDesc></teiHeader>\n<text><body><p>"
)
FOOTER = "</p></body></text>\n</TEI>\n"
ALSO = "also "
"""Before the place of an element whose words another element has as its mention."""

EXPRESSES = Expresses(tokens=False, text=True, part=True, attributes="elements and references")

_WRAPPED = re.compile(r"^<#root>|</#root>\s*$")
_DECLARED = re.compile(r"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


@dataclass(slots=True)
class _Parsed:
    """The text, its markup as [place in the text, tag as it stands, number of the mention or -1], and mentions."""

    text: str = ""
    markup: list[list[Any]] = field(default_factory=list)
    mentions: list[list[Any]] = field(default_factory=list)
    """[start, end, what it refers to] by number"""
    breaks: set[int] = field(default_factory=set)
    speeches: list[tuple[int, int, str]] = field(default_factory=list)


def read(source: Source) -> Iterator[Document]:
    name, part = name_and_part(source.stem)
    source.begin(name, part)
    xml = source.whole().removeprefix("\ufeff")
    if _WRAPPED.search(xml):
        source.fault("the file is wrapped in <#root>, which is not XML; that was removed", line=1, fatal=False)
        xml = _WRAPPED.sub("", xml)
    if _DECLARED.search(xml[:100_000]):
        source.fault("a document type or entity is declared, which is not read; remove the declaration", line=1)
        return
    parsed = _Parsed()
    try:
        _Parser(xml, parsed).parse()
    except expat.ExpatError as error:
        source.fault(f"this is not XML: {expat.ErrorString(error.code)}", line=error.lineno)
        return
    document = _document(source, parsed, name, part)
    if document is not None:
        yield document


class _Parser:
    """Fills in a `_Parsed` from XML. Raises `ExpatError`."""

    def __init__(self, xml: str, parsed: _Parsed) -> None:
        self.data = xml.encode()
        self.parsed = parsed
        self.open: list[tuple[str, int, int, str]] = []
        self.inside = 0
        self.at = 0  # where the markup that was last kept ended, in bytes
        self.size = 0
        self.pieces: list[str] = []

    def parse(self) -> None:
        parser = self.parser = expat.ParserCreate("UTF-8")  # whatever the file declares: its bytes were read as UTF-8
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        for name in ("CommentHandler", "ProcessingInstructionHandler"):
            setattr(parser, name, lambda *_: self._other())
        parser.buffer_text = False
        parser.Parse(self.data, True)
        self._keep(len(self.data), -1)
        self.parsed.text = "".join(self.pieces)

    def _keep(self, upto: int, mention: int) -> None:
        """Keep the markup between the last kept piece and this position."""
        if upto > self.at:
            self.parsed.markup.append([self.size, self.data[self.at : upto].decode(), mention])
        self.at = upto

    def _tag_end(self) -> int:
        """Where the tag that the parser is at ends; `>` may be in the values of attributes."""
        at = self.parser.CurrentByteIndex
        quote = 0
        while at < len(self.data):
            byte = self.data[at]
            if quote:
                quote = 0 if byte == quote else quote
            elif byte in b"\"'":
                quote = byte
            elif byte == 0x3E:
                return at + 1
            at += 1
        return at

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        refers = attributes.get("ref") or attributes.get("key") or ""
        mention = -1
        if self.inside and tag in MENTIONS and refers:
            mention = len(self.parsed.mentions)
            self.parsed.mentions.append([self.size, self.size, refers])
        if tag == "text" and not self.inside:
            self.inside = 1
        elif self.inside:
            self.inside += 1
        if self.inside:
            self._keep(self.parser.CurrentByteIndex, -1)
            self._keep(self._tag_end(), mention)
        if tag in BLOCKS:
            self.parsed.breaks.add(self.size)
        who = attributes.get("who", "") if tag in ("sp", "u", "said") else ""
        self.open.append((tag, mention, self.size, who))

    def _end(self, _: str) -> None:
        tag, mention, start, who = self.open.pop()
        if self.inside:
            self.inside -= 1
            # an empty element has no tag of its own to end it
            if self.data.startswith(b"</", self.parser.CurrentByteIndex):
                self._keep(self.parser.CurrentByteIndex, -1)
                if self.inside:
                    self._keep(self._tag_end(), mention)
        if mention >= 0:
            self.parsed.mentions[mention][1] = self.size
        if who:
            self.parsed.speeches.append((start, self.size, who))
        if tag in BLOCKS:
            self.parsed.breaks.add(self.size)

    def _other(self) -> None:
        if self.inside:
            self._keep(self.parser.CurrentByteIndex, -1)
            start = self.data[self.parser.CurrentByteIndex :][:4]
            ending = b"-->" if start == b"<!--" else b"?>"
            self._keep(self.data.index(ending, self.parser.CurrentByteIndex) + len(ending), -1)

    def _characters(self, text: str) -> None:
        if not self.inside:
            return
        self._keep(self.parser.CurrentByteIndex, -1)
        self.pieces.append(text)
        self.size += len(text)
        at = self.parser.CurrentByteIndex
        if self.data[at : at + 1] == b"&":
            self.at = self.data.index(b";", at) + 1
        elif self.data.startswith(text.encode(), at):
            self.at = at + len(text.encode())
        else:  # a line break that the file has as CRLF
            self.at = at + (2 if self.data.startswith(b"\r\n", at) else 1)


def _document(source: Source, parsed: _Parsed, name: str, part: int) -> Document | None:
    cuts = {at for start, end, _ in parsed.mentions for at in (start, end)} | parsed.breaks
    words = _with_breaks(tokenise(parsed.text, source.language, cuts=cuts), parsed.breaks)
    clusters: dict[str, list[Span]] = {}
    places: list[str] = []
    for start, end, refers in parsed.mentions:
        span = words.span([(start, end)])
        twice = span is not None and any(span in spans for spans in clusters.values())
        places.append("" if span is None else f"{ALSO}{span}" if twice else str(span))
        if span is None:
            source.fault(f"an element that refers to {refers[:50]} has no words, and is not a mention", fatal=False)
        elif span not in clusters.get(refers, ()):
            clusters.setdefault(refers, []).append(span)
    speakers: list[str | None] = [None] * len(words.tokens)
    begins = [start for start, _ in words.offsets]
    for start, end, who in sorted(parsed.speeches):
        first, last = bisect_left(begins, start), bisect_left(begins, end)
        speakers[first:last] = [who] * (last - first)
    mentions = [[place, refers] for place, (_, _, refers) in zip(places, parsed.mentions, strict=True)]
    return source.document(
        name,
        words.tokens,
        words.sentence_starts,
        clusters,
        part=part,
        text=parsed.text,
        offsets=words.offsets,
        speakers=tuple(speakers) if any(speakers) else None,
        extra={NAME: {"markup": parsed.markup, "mention elements": mentions}},
    )


def _with_breaks(words: Tokens, breaks: set[int]) -> Tokens:
    starts = set(words.sentence_starts) | {bisect_left(words.offsets, (at, 0)) for at in breaks}
    return words._replace(sentence_starts=tuple(sorted(start for start in starts if start < len(words.tokens))))


# Writing


def losses(document: Document) -> Counter[str]:
    kept = _kept(document)
    text, offsets = text_of(document)
    _, left_out = _pieces(document, kept, text, offsets)
    found = undeclared(document, EXPRESSES, NAME) + lost.count(crossing_mentions=left_out)
    if kept["markup"]:
        found.pop("speakers", None)
        return found
    cuts = [at for s in document.mentions for at in (offsets[s.start][0], offsets[s.end][1])]
    return (
        found
        + splitting_losses(document, cuts=cuts, sentence_a_line=False)
        + lost.count(characters_that_XML_cannot_hold=len(_UNFIT.findall(text)))
    )


_UNFIT = re.compile("[\x00-\x08\x0b-\x0d\x0e-\x1f\ufffe\uffff]")


def _kept(document: Document) -> dict[str, Any]:
    """The markup that a reader left, if it is that of this text."""
    content = document.extra.get(NAME)
    nothing: dict[str, Any] = {"markup": [], "mention elements": []}
    if not isinstance(content, dict):
        return nothing
    markup = lost.entries(content, "markup", 3)
    mentions = [(str(place), str(refers)) for place, refers in lost.entries(content, "mention elements", 2)]
    size = len(document.text or "")
    at = 0
    for place, tag, number in markup:
        sound = type(place) is int and isinstance(tag, str) and type(number) is int
        if not sound or not at <= place <= size or not -1 <= number < len(mentions):
            return nothing
        at = place
    return {"markup": markup, "mention elements": mentions}


def _pieces(document: Document, kept: dict[str, Any], text: str, offsets: Any) -> tuple[list[tuple[int, str]], int]:
    """The tags to write, each with its place in the text, in order; and how many mentions find no place."""
    names = _names(document, kept["mention elements"])
    mine = {str(span): span for span in names}
    written: set[Span] = set()
    tags: list[tuple[int, str, bool]] = []  # place, tag, whether it opens (True) or closes an element
    for place, tag, number in kept["markup"]:
        where, old = kept["mention elements"][number] if number >= 0 else ("", "")
        if where:
            span = mine.get(where.removeprefix(ALSO))
            if span is None:
                continue
            written.add(span)
            new = names[span]
            if old != new and not where.startswith(ALSO) and not tag.startswith("</"):
                tag = tag.replace(escape(old), escape(new), 1)
        tags.append((place, tag, not tag.startswith("</")))
    if not tags:
        tags = [(0, HEADER.format(name=escape(document.name)), True), (len(text), FOOTER, False)]
    left_out = 0
    for span in sorted(names, key=lambda s: (s.start, -s.end)):
        if span not in written:
            start, end = offsets[span.start][0], offsets[span.end][1]
            tag = f"<rs ref={quoteattr(names[span])}>"
            left_out += start == end or not _insert(tags, start, end, tag)
    return [(place, tag) for place, tag, _ in tags], left_out


def _insert(tags: list[tuple[int, str, bool]], start: int, end: int, tag: str) -> bool:
    """Put an element around these characters, if the tags between are balanced; inside the others at its ends."""
    first = next((n for n, (place, _, _) in enumerate(tags) if place > start), len(tags))
    last = next((n for n, (place, _, _) in enumerate(tags) if place >= end), len(tags))
    # tags that open exactly at the start may be inside or outside, and so may those that close at the end
    while first > 1 and tags[first - 1][0] == start and tags[first - 1][2] and _depth(tags[first:last]) != 0:
        first -= 1
    while last < len(tags) - 1 and tags[last][0] == end and not tags[last][2] and _depth(tags[first:last]) != 0:
        last += 1
    if _depth(tags[first:last]) != 0:
        return False
    tags.insert(last, (end, "</rs>", False))
    tags.insert(first, (start, tag, True))
    return True


def _depth(tags: list[tuple[int, str, bool]]) -> int:
    """0 if the elements among these tags are all opened and closed here."""
    depth = lowest = 0
    for _, tag, _ in tags:
        if tag.startswith(("<!--", "<?")) or tag.endswith("/>"):
            continue
        depth += -1 if tag.startswith("</") else 1
        lowest = min(lowest, depth)
    return depth or lowest


def _names(document: Document, elements: list[tuple[str, str]]) -> dict[Span, str]:
    """What every mention refers to: what most of its entity's mentions did, or a new name."""
    known = dict(elements)
    used = set(known.values())
    given: set[str] = set()
    names: dict[Span, str] = {}
    fresh = 0
    for cluster in document.clusters:
        votes = Counter(known[str(span)] for span in cluster if str(span) in known)
        name = next((each for each, _ in votes.most_common() if each not in given), None)
        while name is None:
            fresh += 1
            name = f"#e{fresh}" if f"#e{fresh}" not in used else None
        given.add(name)
        names |= dict.fromkeys(cluster, name)
    return names


def render(document: Document) -> str:
    text, offsets = text_of(document)
    pieces, _ = _pieces(document, _kept(document), text, offsets)
    made = []
    at = 0
    for place, tag in pieces:
        made += [escape(_UNFIT.sub(" ", text[at:place])), tag]
        at = place
    return "".join([*made, escape(_UNFIT.sub(" ", text[at:]))])

"""Plain text: one document a file, named after the file, and split into tokens and sentences."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator

from corefine.document import Document
from corefine.formats import losses as lost
from corefine.formats.expresses import Expresses
from corefine.formats.source import Source
from corefine.formats.tokens import splitting_losses, text_of, tokenise

NAME = "text"
EXPRESSES = Expresses(entities=False, singletons=False, tokens=False, text=True, part=True)

LONGEST_BYTES = 180
"""The longest name of a file. A digest replaces the rest of a longer one."""

_UNFIT = re.compile(r'[\x00-\x1f\x7f%/\\:*?"<>|]|^\.|[. ]$')
_ENCODED = re.compile(r"%([0-9A-F]{2})")
_PART = re.compile(r"\.part(-?\d{1,18})$")


def read(source: Source) -> Iterator[Document]:
    name, part = name_and_part(source.stem)
    source.begin(name, part)
    text = source.whole()
    words = tokenise(text, source.language)
    document = source.document(
        name, words.tokens, words.sentence_starts, {}, part=part, text=text, offsets=words.offsets
    )
    if document is not None:
        yield document


def losses(document: Document) -> Counter[str]:
    return (
        splitting_losses(document, sentence_a_line=False)
        + lost.beside_text(document)
        + lost.of_extra(document, NAME)
        + lost.count(mentions=sum(map(len, document.clusters)))
    )


def render(document: Document) -> str:
    return text_of(document)[0]


def file_stem(document: Document) -> str:
    """The name of a document's file, without its ending. A part is written as `.part1`, unfit characters as %XX."""
    stem = _UNFIT.sub(lambda match: f"%{ord(match[0]):02X}", document.name)
    content = stem.encode("utf-8", "surrogatepass")
    if len(content) > LONGEST_BYTES:  # file systems take no longer names; the digest keeps two of them apart
        digest = hashlib.sha256(content).hexdigest()[:12]
        stem = f"{content[:LONGEST_BYTES].decode('utf-8', 'ignore').rstrip('. ')}~{digest}"
    return f"{stem}.part{document.part}" if document.part or _PART.search(stem) else stem


def name_and_part(stem: str) -> tuple[str, int]:
    """The name and part of the document that has this `file_stem`."""
    part = _PART.search(stem)
    name = stem[: part.start()] if part else stem
    return _ENCODED.sub(lambda match: chr(int(match[1], 16)), name), int(part[1]) if part else 0

"""A format: a line for each mention, `entity first last`, after a line of tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from corefine.document import Document, Span
from corefine.formats import Format
from corefine.formats.expresses import Expresses, losses
from corefine.formats.source import Source

EXPRESSES = Expresses(crossing=True)


def read(source: Source) -> Iterator[Document]:
    source.begin(source.stem)
    lines = [line.text.split() for line in source.lines() if line.text.strip()]
    clusters: dict[str, list[Span]] = {}
    for entity, first, last in lines[1:]:
        clusters.setdefault(entity, []).append(Span(int(first), int(last)))
    document = source.document(source.stem, lines[0] if lines else [], [0] if lines else [], clusters)
    if document is not None:
        yield document


def render(document: Document) -> str:
    mentions = [(n, span) for n, cluster in enumerate(document.clusters) for span in cluster]
    return " ".join(document.tokens) + "\n" + "".join(f"e{n} {span.start} {span.end}\n" for n, span in mentions)


def lost(document: Document) -> Counter[str]:
    return losses(document, EXPRESSES, "pairs")


PAIRS = Format(
    name="pairs",
    title="pairs",
    endings=(".pairs",),
    read=read,
    files={".pairs": render},
    losses=lost,
    expresses=EXPRESSES,
    many=False,
)

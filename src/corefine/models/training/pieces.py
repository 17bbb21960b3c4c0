"""Long documents are trained on in pieces, cut at sentence boundaries."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from corefine.annotation.labels import Labels
from corefine.document import Document, Span


@dataclass(frozen=True, slots=True)
class Piece:
    """A labelled document, or a part of one.

    labels    positions count from the first token of the piece
    whole     the document it was cut from: a frozen encoder reads all of it
    offset    where the piece starts in that document
    """

    labels: Labels
    whole: Document
    offset: int = 0

    @property
    def document(self) -> Document:
        return self.labels.document


def pieces(labels: Labels, max_tokens: int) -> Iterator[Piece]:
    """The document in pieces of at most `max_tokens`; 0 leaves it whole. An empty document has none.

    A sentence longer than that is a piece of its own. Links between pieces are lost, and so are mentions that cross
    from one to the next.
    """
    document = labels.document
    if not len(document):
        return
    if not max_tokens or len(document) <= max_tokens:
        yield Piece(labels, document)
        return
    cuts = [0]
    for sentence in document.sentence_spans:
        if sentence.end + 1 - cuts[-1] > max_tokens and sentence.start > cuts[-1]:
            cuts.append(sentence.start)
    for start, end in pairwise([*cuts, len(document)]):
        yield Piece(_cut(labels, start, end), document, start)


def _cut(labels: Labels, start: int, end: int) -> Labels:
    document = labels.document
    first = bisect_right(document.sentence_starts, start) - 1
    last = bisect_right(document.sentence_starts, end - 1)
    piece = Document(
        name=f"{document.name}@{start}",
        tokens=document.tokens[start:end],
        sentence_starts=tuple(at - start for at in document.sentence_starts[first:last]),
        clusters=tuple(_within(document.clusters, start, end)),
        part=document.part,
        speakers=document.speakers and document.speakers[start:end],
        genre=document.genre,
        language=document.language,
    )
    chances = dict(labels.certainty)
    return Labels(
        document=piece,
        full=labels.full,
        together=tuple(_within(labels.together, start, end)),
        apart=tuple((pair[0], pair[1]) for pair in _within(labels.apart, start, end) if len(pair) == 2),
        first=next(_within([labels.first], start, end), ()),
        certainty=tuple(
            (span, chances[Span(span.start + start, span.end + start)])
            for kept in _within([chances], start, end)
            for span in kept
        ),
        no_mentions=next(_within([labels.no_mentions], start, end), ()),
        mentions=next(_within([labels.mentions], start, end), ()),
        complete=tuple(
            Span(max(part.start, start) - start, min(part.end, end - 1) - start)
            for part in labels.complete
            if part.start < end and start <= part.end
        ),
    )


def _within(groups: Iterable[Iterable[Span]], start: int, end: int) -> Iterator[tuple[Span, ...]]:
    """What of each group lies in these tokens, counted from `start`. The model proposes no discontinuous spans."""
    for group in groups:
        inside = (span for span in group if start <= span.start and span.end < end and len(span.parts) == 1)
        if kept := tuple(sorted(Span(span.start - start, span.end - start) for span in inside)):
            yield kept

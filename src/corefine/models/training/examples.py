"""What a document teaches: full labels, or what people answered and the model's own labels for the rest."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from corefine.document import Document, Span
from corefine.errors import InputError
from corefine.models.network.loss import Targets, targets_from_answers, targets_from_clusters
from corefine.models.network.ranker import Ranking

REST = 0.3
"""What a row that nobody answered weighs under the policy "mix"."""


@dataclass(frozen=True, slots=True)
class Known:
    """What people said about a document, closed over their links.

    together    groups of mentions that are one entity
    apart       pairs of mentions that are not
    first       mentions known to have no antecedent, and spans known not to be mentions
    """

    together: tuple[tuple[Span, ...], ...] = ()
    apart: tuple[tuple[Span, Span], ...] = ()
    first: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """A document to train on.

    The document's clusters are its labels: gold, or decoded from a model and links. With `answered`, they count
    only where nobody answered, and there `rest` times as much; at 0 they do not count at all. `weights` says how
    much the labels of some spans count, 1 where a span is not listed. Labels that are not `full` may miss mentions, so
    that nothing is learnt from them about what is one. A piece of a longer document knows the `whole` and its own
    first token there, so that a frozen encoder's states are those of the whole.
    """

    document: Document
    answered: Known | None = None
    rest: float = 0.0
    weights: tuple[tuple[Span, float], ...] = ()
    full: bool = True
    whole: Document | None = None
    offset: int = 0

    def targets(self, ranking: Ranking) -> Targets:
        """What the labels say about a ranking of this document."""
        targets = self._unweighted(ranking)
        return targets.weighted(ranking, dict(self.weights)) if self.weights else targets

    def _unweighted(self, ranking: Ranking) -> Targets:
        if self.answered is None:
            return targets_from_clusters(ranking, self.document.clusters)
        return targets_from_answers(
            ranking,
            together=self.answered.together,
            apart=self.answered.apart,
            first=self.answered.first,
            clusters=self.document.clusters if self.rest else None,
            rest=self.rest,
        )


def labelled(documents: Iterable[Document]) -> list[Example]:
    """Documents whose clusters are full labels."""
    return [Example(document) for document in documents]


def partly_labelled(document: Document, answered: Known, *, policy: str = "pseudo", rest: float = REST) -> Example:
    """A document people answered questions about, relabelled with clusters decoded from model and answers.

    pseudo      its clusters are its labels, whoever said them (the paper's way)
    answered    only what was answered counts
    mix         what was answered counts fully, the clusters `rest` times as much
    """
    if policy == "pseudo":
        return Example(document, full=False)
    if policy == "answered":
        return Example(document, answered, full=False)
    if policy == "mix":
        return Example(document, answered, rest, full=False)
    raise InputError(f"there is no label policy {policy!r}: choose pseudo, answered or mix")


def pieces(example: Example, max_tokens: int) -> Iterator[Example]:
    """The example cut at sentence boundaries into pieces of at most `max_tokens`; 0 leaves it whole.

    A longer sentence is a piece of its own. A mention lies in the piece that holds all of it; links between pieces
    are lost.
    """
    document = example.document
    if not len(document):
        return
    if not max_tokens or len(document) <= max_tokens:
        yield example
        return
    cuts = [0]
    for sentence in document.sentence_spans:
        if sentence.end + 1 - cuts[-1] > max_tokens and sentence.start > cuts[-1]:
            cuts.append(sentence.start)
    for start, end in pairwise([*cuts, len(document)]):
        yield replace(
            example,
            document=_piece(document, start, end),
            answered=_piece_answered(example.answered, start, end),
            weights=_piece_weights(example.weights, start, end),
            whole=document,
            offset=start,
        )


def _piece(document: Document, start: int, end: int) -> Document:
    first = bisect_right(document.sentence_starts, start) - 1
    last = bisect_right(document.sentence_starts, end - 1)
    return Document(
        name=f"{document.name}@{start}",
        tokens=document.tokens[start:end],
        sentence_starts=tuple(at - start for at in document.sentence_starts[first:last]),
        clusters=tuple(_within(document.clusters, start, end)),
        part=document.part,
        speakers=document.speakers and document.speakers[start:end],
        genre=document.genre,
        language=document.language,
    )


def _piece_answered(answered: Known | None, start: int, end: int) -> Known | None:
    if answered is None:
        return None
    pairs = _within(answered.apart, start, end)
    return Known(
        together=tuple(_within(answered.together, start, end)),
        apart=tuple((pair[0], pair[1]) for pair in pairs if len(pair) == 2),
        first=next(_within([answered.first], start, end), ()),
    )


def _piece_weights(weights: Iterable[tuple[Span, float]], start: int, end: int) -> tuple[tuple[Span, float], ...]:
    return tuple(
        (Span(span.start - start, span.end - start), weight)
        for span, weight in weights
        if start <= span.start and span.end < end
    )


def _within(groups: Iterable[Iterable[Span]], start: int, end: int) -> Iterator[tuple[Span, ...]]:
    """The groups as far as they lie within the tokens, counted from `start`; no discontinuous spans, which no
    ranker proposes."""
    for group in groups:
        inside = (span for span in group if start <= span.start and span.end < end and len(span.parts) == 1)
        if kept := tuple(sorted(Span(span.start - start, span.end - start) for span in inside)):
            yield kept

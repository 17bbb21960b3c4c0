"""Proposals for annotating in full: words that were marked before, pronouns, and mentions that the model finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from corefine.annotation.session import Session
from corefine.document import Cluster, Document, Span, document_order
from corefine.scores.pronouns import is_pronoun, is_rather_article, longest_pronoun

LONGEST = 8
"""The longest string of tokens that is looked for again."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A span that may be a mention.

    to     an earlier mention of the entity it may belong to; None for a new entity
    why    the reason: the same words were marked before, a pronoun, or a mention according to the model
    """

    span: Span
    to: Span | None
    why: Literal["words", "pronoun", "model"]


def said_clusters(session: Session) -> tuple[Cluster, ...]:
    """The entities made by people, without the model: linked mentions, and single mentions that were marked."""
    links = session.links
    clusters = {cluster for cluster in links.entities() if len(cluster) > 1}
    known = {span for cluster in clusters for span in cluster}
    for span in session.said_mentions():
        if span not in known and links.is_mention(span):
            clusters.add((span,))
    return tuple(sorted(clusters, key=lambda cluster: document_order(cluster[0])))


def proposals(session: Session, sentence: int) -> list[Proposal]:
    """What a person may want to mark in a sentence, in document order: spans beside or inside those already marked."""
    document, links = session.document, session.links
    whole = document.sentence_spans[sentence]
    clusters = said_clusters(session)
    marked = sorted((span for cluster in clusters for span in cluster), key=document_order)
    here = [span for span in marked if span.start <= whole.end and whole.start <= span.end]
    taken: set[int] = set()
    found: list[Proposal] = []
    for proposal in _candidates(session, document, whole, marked):
        span = proposal.span
        tokens = range(span.start, span.end + 1)
        within = proposal.why != "model"  # what it finds there is mostly the head
        beside = all(_apart(span, other) or (within and _inside(span, other)) for other in here)
        if beside and taken.isdisjoint(tokens) and links.is_mention(span):
            taken.update(tokens)
            found.append(proposal)
    return sorted(found, key=lambda proposal: proposal.span)


def _candidates(session: Session, document: Document, whole: Span, marked: list[Span]) -> Iterator[Proposal]:
    """Best first: the longest words that were marked before, then pronouns, then the model's mentions."""
    latest: dict[tuple[str, ...], Span] = {}  # the last mention with these words before the sentence, or any other
    for span in marked:
        words = _words(document, span)
        if len(span.parts) == 1 and len(words) <= LONGEST and (span.start < whole.start or words not in latest):
            latest[words] = span
    tokens = range(whole.start, whole.end + 1)
    for length in range(min(LONGEST, whole.width), 0, -1):
        for start in tokens[: whole.width - length + 1]:
            span = Span(start, start + length - 1)
            if (other := latest.get(_words(document, span))) is not None:
                yield Proposal(span, other, "words")
    before = [span for span in marked if span.start < whole.start]
    for length in range(min(longest_pronoun(document), whole.width), 0, -1):
        for start in tokens[: whole.width - length + 1]:
            span = Span(start, start + length - 1)
            if is_pronoun(document, span) and not is_rather_article(document, span):
                yield Proposal(span, before[-1] if before else None, "pronoun")
    yield from _of_model(session, whole, set(marked))


def _of_model(session: Session, whole: Span, marked: set[Span]) -> Iterator[Proposal]:
    prediction = session.prediction
    scores = prediction.mention_scores
    if scores is None:
        return
    for row, span in enumerate(prediction.spans):
        if whole.start <= span.start and span.end <= whole.end and scores[row] > 0:
            other = session.revision.antecedent(row) if prediction is session.revision.prediction else None
            yield Proposal(span, other if other in marked else None, "model")


def _apart(span: Span, other: Span) -> bool:
    return span.end < other.start or other.end < span.start


def _inside(span: Span, other: Span) -> bool:
    return other.start <= span.start and span.end <= other.end and span.width < other.width


def _words(document: Document, span: Span) -> tuple[str, ...]:
    return tuple(token.lower() for token in document.tokens[span.start : span.end + 1])

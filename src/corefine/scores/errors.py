"""The errors of a response, by kind of error and kind of mention.

missed mention    a mention of the key that no mention of the response overlaps
extra mention     a mention of the response that no mention of the key overlaps
span error        a mention of the key that the response has with other boundaries
missed link       a mention that was found, but without an antecedent, although the key has one
wrong link        a mention that was found, but with antecedents of other entities only
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from corefine.document import Cluster, Document, Span, document_order
from corefine.scores.pronouns import is_pronoun

KINDS = ("missed mention", "extra mention", "span error", "missed link", "wrong link")
MENTION_KINDS = ("pronoun", "name", "nominal")
_NAME_TAGS = ("PROPN", "NNP", "NNPS")


class MentionError(NamedTuple):
    """One error: the mention, its kind and, for span errors, the span of the other side."""

    kind: str
    mention_kind: str
    span: Span
    other: Span | None = None


def errors(key: Document, response: Document) -> list[MentionError]:
    """The errors of one document, in document order."""
    return sorted(_errors(key, response), key=lambda error: document_order(error.span))


def table(found: Iterable[MentionError]) -> dict[str, dict[str, int]]:
    """The number of errors of each kind, by kind of mention."""
    counted = Counter((error.kind, error.mention_kind) for error in found)
    return {kind: {each: counted[kind, each] for each in MENTION_KINDS} for kind in KINDS}


def _errors(key: Document, response: Document) -> Iterator[MentionError]:
    gold, answers = _entities(key), _entities(response)
    missed = [span for span in gold if span not in answers]
    extra = [span for span in answers if span not in gold]
    paired = _overlapping(missed, extra)
    for span in missed:
        kind = "span error" if span in paired else "missed mention"
        yield MentionError(kind, mention_kind(key, span), span, paired.get(span))
    for span in set(extra) - set(paired.values()):
        yield MentionError("extra mention", mention_kind(key, span), span)
    for span in gold.keys() & answers.keys():
        before = {other for other in gold[span] if document_order(other) < document_order(span)}
        linked = [other for other in answers[span] if document_order(other) < document_order(span)]
        right = any(other in gold and gold[other] is gold[span] for other in linked)
        if linked and not right:
            yield MentionError("wrong link", mention_kind(key, span), span, linked[-1])
        elif before & answers.keys() and not linked:
            nearest = max(before & answers.keys(), key=document_order)
            yield MentionError("missed link", mention_kind(key, span), span, nearest)


def _entities(document: Document) -> dict[Span, Cluster]:
    return {span: cluster for cluster in document.clusters for span in cluster}


def _overlapping(missed: Iterable[Span], extra: Iterable[Span]) -> dict[Span, Span]:
    """For each mention of the key, the mention of the response that overlaps it most, if any."""
    free = sorted(extra)
    pairs: dict[Span, Span] = {}
    for span in sorted(missed):
        best = max(free, key=lambda other: _shared(span, other), default=None)
        if best is not None and _shared(span, best) > 0:
            pairs[span] = best
            free.remove(best)
    return pairs


def _shared(one: Span, other: Span) -> float:
    common = min(one.end, other.end) - max(one.start, other.start) + 1
    return common / (one.width + other.width - common) if common > 0 else 0.0


def mention_kind(document: Document, span: Span) -> str:
    """`pronoun`, `name` or `nominal`, by tags if the document has them, otherwise by word lists and capital letters."""
    if is_pronoun(document, span):
        return "pronoun"
    tags = document.layers.get("upos") or document.layers.get("xpos")
    tokens = range(span.start, span.end + 1)
    if tags:
        return "name" if any(tags[token] in _NAME_TAGS for token in tokens) else "nominal"
    begins = set(document.sentence_starts)
    capital = [t for t in tokens if document.tokens[t][:1].isupper() and (t not in begins or span.width == 1)]
    return "name" if capital else "nominal"

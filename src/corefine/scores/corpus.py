"""Scoring documents: a key against a response, in all, by document and by genre."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from corefine.document import Cluster, Document, document_key
from corefine.errors import InputError, UnmatchedError
from corefine.scores.corefud import Clusters, Match, Zeros, corefud_counts
from corefine.scores.pronouns import is_pronoun
from corefine.scores.results import Blanc, Counts, Scores

Singletons = Literal["keep", "drop"]

MOST_NAMED = 5
"""Messages name at most this many documents and count the rest."""


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """What one document adds to the counts."""

    name: str
    part: int
    genre: str | None
    counts: Counts

    @property
    def key(self) -> str:
        return document_key(self.name, self.part)

    @property
    def scores(self) -> Scores:
        return self.counts.scores


@dataclass(frozen=True, slots=True)
class Report:
    """The counts of every document: first those of the key, in order, then those that only the response has."""

    documents: tuple[DocumentCounts, ...]
    blanc: Blanc = "official"

    @property
    def scores(self) -> Scores:
        """The scores over all documents. Counts are added up; scores are not averaged."""
        return Counts.total(document.counts for document in self.documents).scored(self.blanc)

    @property
    def genres(self) -> dict[str | None, Scores]:
        """The scores of each genre, in order of first appearance. None is for documents without a genre."""
        grouped: dict[str | None, list[Counts]] = {}
        for document in self.documents:
            grouped.setdefault(document.genre, []).append(document.counts)
        return {genre: Counts.total(counts).scored(self.blanc) for genre, counts in grouped.items()}


def report(
    key: Document | Iterable[Document],
    response: Document | Iterable[Document],
    *,
    singletons: Singletons = "keep",
    pronouns: bool = False,
    allow_missing: bool = False,
    blanc: Blanc = "official",
    sources: tuple[str, str] = ("the key", "the response"),
) -> Report:
    """Score a response against a key, document by document.

    singletons       "drop" removes clusters of one from key and response
    pronouns         score only clusters with a pronoun, of key and response
    allow_missing    score a document that one side lacks as if it had no clusters there, instead of raising
    blanc            "official", as the CoNLL program computes it, or "luo", the symmetric definition
    sources          the names of the two sides in messages

    Documents are matched by name and part. Their tokens are not compared, but their number must be the same.
    """
    if singletons not in get_args(Singletons):
        raise InputError(f"singletons must be one of {', '.join(get_args(Singletons))}, not {singletons!r}")
    rows = []
    for gold, answer in pairs(key, response, allow_missing=allow_missing, sources=sources):
        counts = Counts.of(
            _scored_clusters(gold, words=gold, singletons=singletons, pronouns=pronouns),
            _scored_clusters(answer, words=gold, singletons=singletons, pronouns=pronouns),
        )
        rows.append(DocumentCounts(gold.name, gold.part, gold.genre, counts))
    return Report(tuple(rows), blanc)


NodeClusters = Callable[[Document], Clusters]
"""A function that gives the mentions of a document in CorefUD's form."""


def report_corefud(
    key: Document | Iterable[Document],
    response: Document | Iterable[Document],
    node_clusters: NodeClusters,
    *,
    match: Match = "head",
    zeros: Zeros = "dependent",
    singletons: Singletons = "keep",
    allow_missing: bool = False,
    sources: tuple[str, str] = ("the key", "the response"),
) -> Report:
    """Score by CorefUD's conventions: zero mentions count, and mentions match by head, in part or exactly."""
    rows = []
    for gold, answer in pairs(key, response, allow_missing=allow_missing, sources=sources):
        counts = corefud_counts(
            node_clusters(gold),
            node_clusters(answer),
            match=match,
            zeros=zeros,
            keep_singletons=singletons == "keep",
        )
        rows.append(DocumentCounts(gold.name, gold.part, gold.genre, counts))
    return Report(tuple(rows), "corefud")


def _scored_clusters(document: Document, *, words: Document, singletons: Singletons, pronouns: bool) -> list[Cluster]:
    """The clusters of a key or a response that are scored.

    `words` tells what is a pronoun. It is the same document for both sides, as only one of them may have tags.
    """
    return [
        cluster
        for cluster in document.clusters
        if (singletons == "keep" or len(cluster) > 1)
        and (not pronouns or any(is_pronoun(words, span) for span in cluster))
    ]


def pairs(
    key: Document | Iterable[Document],
    response: Document | Iterable[Document],
    *,
    allow_missing: bool = False,
    sources: tuple[str, str] = ("the key", "the response"),
) -> Iterator[tuple[Document, Document]]:
    """Key and response of each document. If one side lacks it, that is the other's document without clusters."""
    keys, responses = _by_name(key, sources[0]), _by_name(response, sources[1])
    if not allow_missing:
        _refuse_missing(keys, responses, has=sources[0], lacks=sources[1])
        _refuse_missing(responses, keys, has=sources[1], lacks=sources[0])
    for name, document in (keys | responses).items():
        gold = keys[name] if name in keys else document.with_clusters(())
        answer = responses[name] if name in responses else document.with_clusters(())
        if len(gold) != len(answer):
            raise UnmatchedError(
                f"document {gold.key} has {len(gold)} tokens in {sources[0]} and {len(answer)} in {sources[1]}; "
                "score files that were made from the same tokens"
            )
        yield gold, answer


Documents = dict[tuple[str, int], Document]
"""Documents by name and part."""


def _by_name(documents: Document | Iterable[Document], source: str) -> Documents:
    found: Documents = {}
    for document in [documents] if isinstance(documents, Document) else documents:
        name = (document.name, document.part)
        if name in found:
            raise UnmatchedError(f"document {document.key} is in {source} more than once; give each a name of its own")
        found[name] = document
    return found


def _refuse_missing(present: Documents, other: Documents, *, has: str, lacks: str) -> None:
    missing = [document.key for name, document in present.items() if name not in other]
    if not missing:
        return
    counted = "a document" if len(missing) == 1 else f"{len(missing)} documents"
    rest = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
    raise UnmatchedError(
        f"{has} has {counted} that {lacks} lacks: {', '.join(missing[:MOST_NAMED])}{rest}; "
        "--allow-missing (allow_missing=True) scores what is missing as empty"
    )

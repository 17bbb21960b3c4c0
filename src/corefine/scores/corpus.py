"""Scoring documents: a key against a response, in all, by document and by genre."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import get_args

from corefine.document import Document
from corefine.errors import InputError, UnmatchedError
from corefine.scores.results import Counts, Scores
from corefine.scores.views import Singletons, scored_clusters

SHOWN = 5
"""Messages name this many documents and count the rest."""


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """What one document adds to the counts."""

    name: str
    part: int
    genre: str | None
    counts: Counts

    @property
    def key(self) -> str:
        """Name and part as one string, as messages show it."""
        return f"{self.name} part {self.part}" if self.part else self.name

    @property
    def scores(self) -> Scores:
        return self.counts.scores


@dataclass(frozen=True, slots=True)
class Report:
    """The counts of every document of the key, in its order, then of those that only the response has."""

    documents: tuple[DocumentCounts, ...]

    @property
    def scores(self) -> Scores:
        """Over all documents: the counts are added up, not the scores averaged."""
        return Counts.total(document.counts for document in self.documents).scores

    @property
    def genres(self) -> dict[str | None, Scores]:
        """The same over the documents of each genre, in order of first appearance; None where it is not known."""
        grouped: dict[str | None, list[Counts]] = {}
        for document in self.documents:
            grouped.setdefault(document.genre, []).append(document.counts)
        return {genre: Counts.total(counts).scores for genre, counts in grouped.items()}


def score(
    key: Document | Iterable[Document],
    response: Document | Iterable[Document],
    *,
    singletons: Singletons = "keep",
    pronouns: bool = False,
    allow_missing: bool = False,
) -> Scores:
    """The scores of a response against a key, over all documents; see `report` for the arguments."""
    return report(key, response, singletons=singletons, pronouns=pronouns, allow_missing=allow_missing).scores


def report(
    key: Document | Iterable[Document],
    response: Document | Iterable[Document],
    *,
    singletons: Singletons = "keep",
    pronouns: bool = False,
    allow_missing: bool = False,
    sources: tuple[str, str] = ("the key", "the response"),
) -> Report:
    """Score a response against a key, document by document.

    singletons       "drop" takes clusters of one out of key and response
    pronouns         score only clusters with a pronoun, of key and response
    allow_missing    a document that one side lacks is scored as if it had no clusters there, instead of refused
    sources          how messages call the two sides

    Documents are matched by name and part; their tokens are not compared, but there must be as many on both sides.
    """
    if singletons not in get_args(Singletons):
        raise InputError(f"singletons must be one of {', '.join(get_args(Singletons))}, not {singletons!r}")
    rows = []
    for gold, answer in _pairs(key, response, allow_missing=allow_missing, sources=sources):
        counts = Counts.of(
            scored_clusters(gold, words=gold, singletons=singletons, pronouns=pronouns),
            scored_clusters(answer, words=gold, singletons=singletons, pronouns=pronouns),
        )
        rows.append(DocumentCounts(gold.name, gold.part, gold.genre, counts))
    return Report(tuple(rows))


Identity = tuple[str, int]


def _pairs(
    key: Document | Iterable[Document],
    response: Document | Iterable[Document],
    *,
    allow_missing: bool,
    sources: tuple[str, str],
) -> Iterator[tuple[Document, Document]]:
    """Key and response of each document. What one side lacks is the other's document without clusters."""
    keys, responses = _by_identity(key, sources[0]), _by_identity(response, sources[1])
    if not allow_missing:
        _refuse_missing(keys, responses, has=sources[0], lacks=sources[1])
        _refuse_missing(responses, keys, has=sources[1], lacks=sources[0])
    for identity, document in (keys | responses).items():
        gold = keys[identity] if identity in keys else document.with_clusters(())
        answer = responses[identity] if identity in responses else document.with_clusters(())
        if len(gold) != len(answer):
            raise UnmatchedError(
                f"document {gold.key} has {len(gold)} tokens in {sources[0]} and {len(answer)} in {sources[1]}; "
                "score files that were made from the same tokens"
            )
        yield gold, answer


def _by_identity(documents: Document | Iterable[Document], source: str) -> dict[Identity, Document]:
    found: dict[Identity, Document] = {}
    for document in [documents] if isinstance(documents, Document) else documents:
        identity = (document.name, document.part)
        if identity in found:
            raise UnmatchedError(f"document {document.key} is in {source} more than once; give each a name of its own")
        found[identity] = document
    return found


def _refuse_missing(
    present: dict[Identity, Document], other: dict[Identity, Document], *, has: str, lacks: str
) -> None:
    missing = [document.key for identity, document in present.items() if identity not in other]
    if not missing:
        return
    named = ", ".join(missing[:SHOWN]) + (f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else "")
    raise UnmatchedError(
        f"{has} has {_counted(len(missing))} that {lacks} lacks: {named}; "
        "--allow-missing (allow_missing=True) scores what is missing as empty"
    )


def _counted(number: int) -> str:
    return "a document" if number == 1 else f"{number} documents"

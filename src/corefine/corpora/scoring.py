"""Scores of documents, or of files with documents."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike

from corefine.document import Document, Documents, documents_of
from corefine.formats import read
from corefine.scores.corpus import Singletons, report
from corefine.scores.results import Blanc, Scores

Scored = Documents | str | PathLike[str]
"""A document or result, several, or a file, folder or glob that holds some."""


def score(
    key: Scored,
    response: Scored,
    *,
    singletons: Singletons = "keep",
    pronouns: bool = False,
    allow_missing: bool = False,
    blanc: Blanc = "official",
) -> Scores:
    """Score a response against a key. Each is a document or a result of a prediction, several of them, or a path.

    singletons       "drop" removes clusters of one from key and response
    pronouns         score only clusters with a pronoun
    allow_missing    score a document that one side lacks as if it had no clusters there, instead of raising
    blanc            "official", as the CoNLL program computes it, or "luo", the symmetric definition
    """
    named = tuple(str(side) if isinstance(side, str | PathLike) else what for side, what in zip(
        (key, response), ("the key", "the response"), strict=True))  # fmt: skip
    return report(
        _documents(key),
        _documents(response),
        singletons=singletons,
        pronouns=pronouns,
        allow_missing=allow_missing,
        blanc=blanc,
        sources=(named[0], named[1]),
    ).scores


def _documents(side: Scored) -> Iterable[Document]:
    return read(side) if isinstance(side, str | PathLike) else documents_of(side)

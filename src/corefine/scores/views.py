"""Which clusters are scored: all of them, or those that are left by `singletons` and `pronouns`."""

from __future__ import annotations

from typing import Literal

from corefine.document import Cluster, Document
from corefine.scores.pronouns import is_pronoun

Singletons = Literal["keep", "drop"]


def scored_clusters(
    document: Document, *, words: Document, singletons: Singletons, pronouns: bool
) -> tuple[Cluster, ...]:
    """The clusters of a document, key or response, that are scored.

    Dropping singletons takes clusters of one out of key and response alike, before anything is counted. With
    `pronouns` only clusters that hold a pronoun are left, on each side by its own clusters; what is a pronoun is
    read off `words`, the same document for both sides, as only one of them may have tags.
    """
    clusters = document.clusters
    if singletons == "drop":
        clusters = tuple([cluster for cluster in clusters if len(cluster) > 1])
    if pronouns:
        clusters = tuple([cluster for cluster in clusters if any(is_pronoun(words, span) for span in cluster)])
    return clusters

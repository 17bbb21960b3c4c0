"""What annotation of a document leaves for training: its labels, and what of them people said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from corefine.annotation.question import span_from_json, span_to_json
from corefine.annotation.session import Session
from corefine.document import Document, Span


@dataclass(frozen=True, slots=True)
class Lesson:
    """A document with labels.

    document     its clusters are the labels: gold, or decoded from a model and answers
    full         whether they are gold; nothing below then matters
    together     groups of mentions that people said are one entity, closed
    apart        pairs of mentions that people said are not
    first        mentions that people said have no antecedent
    certainty    of each top span that nobody settled, the probability of its label under model and answers
    """

    document: Document
    full: bool = True
    together: tuple[tuple[Span, ...], ...] = ()
    apart: tuple[tuple[Span, Span], ...] = ()
    first: tuple[Span, ...] = ()
    certainty: tuple[tuple[Span, float], ...] = ()

    @classmethod
    def gold(cls, document: Document) -> Lesson:
        """A fully labelled document. Clusters of one are dropped: no answer would ever have made them."""
        return cls(document.without_singletons())

    @classmethod
    def from_session(cls, session: Session) -> Lesson:
        """What a session's answers, and its model for the rest, say of the document."""
        links = session.links
        entities = links.entities()
        return cls(
            document=session.relabelled(),
            full=False,
            together=tuple(entity for entity in entities if len(entity) > 1),
            apart=_apart(session),
            first=tuple(sorted(span for span in links.spans() if links.has_no_antecedent(span))),
            certainty=_certainty(session),
        )

    def to_json(self) -> dict[str, Any]:
        """All but the document's text."""
        return {
            "document": self.document.name,
            "part": self.document.part,
            "full": self.full,
            "clusters": [[span_to_json(span) for span in cluster] for cluster in self.document.clusters],
            "together": [[span_to_json(span) for span in group] for group in self.together],
            "apart": [[span_to_json(span) for span in pair] for pair in self.apart],
            "first": [span_to_json(span) for span in self.first],
            "certainty": [[span_to_json(span), chance] for span, chance in self.certainty],
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any], document: Document) -> Lesson:
        """The lesson that `to_json` wrote about this document."""
        return cls(
            document=document.with_clusters([map(span_from_json, cluster) for cluster in fields["clusters"]]),
            full=fields["full"],
            together=tuple(tuple(map(span_from_json, group)) for group in fields["together"]),
            apart=tuple((span_from_json(a), span_from_json(b)) for a, b in fields["apart"]),
            first=tuple(map(span_from_json, fields["first"])),
            certainty=tuple((span_from_json(span), chance) for span, chance in fields["certainty"]),
        )


def _apart(session: Session) -> tuple[tuple[Span, Span], ...]:
    """Pairs that are known to be two entities, the later one the first mention of its own.

    A later mention of an entity has its must-links to learn from, so that only first mentions need these.
    """
    links = session.links
    pairs: set[tuple[Span, Span]] = set()
    for cluster in links.entities():
        first = cluster[0]
        entity = links.entity_id(first)
        for other in links.said_apart(entity) if entity is not None else ():
            pairs.update((span, first) for span in links.members(other) if span < first)
    return tuple(sorted(pairs, key=lambda pair: (pair[1], pair[0])))


def _certainty(session: Session) -> tuple[tuple[Span, float], ...]:
    """The probability of the label that each open row has: of its cluster, or of having no antecedent."""
    revision = session.revision
    rows = np.arange(len(revision.prediction))
    linked = revision.linked()
    of_cluster = revision.masses(rows).largest(revision.own_class(rows))
    chances = np.where(linked, of_cluster, revision.rows[:, 0])
    open_rows = np.flatnonzero(~revision.settled)
    return tuple((revision.nodes.spans[row], round(float(chances[row]), 6)) for row in open_rows.tolist())

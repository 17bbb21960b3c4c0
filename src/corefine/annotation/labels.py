"""The labels of a document for training: its clusters, which parts come from people, and how much each part counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from corefine import plugins
from corefine.annotation.completed import is_whole
from corefine.annotation.question import Question, span_from_json, span_to_json
from corefine.annotation.session import Session
from corefine.document import Document, Span


@dataclass(frozen=True, slots=True)
class Labels:
    """A document with labels.

    document     its clusters are the labels: gold, or decoded from a model and answers
    full         whether they are gold; the fields below are then empty
    together     groups of mentions that answers make one entity
    apart        pairs of mentions that answers make different entities
    first        mentions without an antecedent, and spans that are not mentions, according to answers
    mentions     spans that are mentions, according to answers, whether or not they are linked
    no_mentions  spans that are not mentions, according to answers
    certainty    for each top span that no answer settled: the probability of its label, given model and answers
    complete     parts of the document that people annotated in full: the clusters contain all their mentions
    expected     for each mention that was asked about: the probability that it has an antecedent, as the model that
                 asked saw it before the answer; in the order of the answers
    """

    document: Document
    full: bool = True
    together: tuple[tuple[Span, ...], ...] = ()
    apart: tuple[tuple[Span, Span], ...] = ()
    first: tuple[Span, ...] = ()
    certainty: tuple[tuple[Span, float], ...] = ()
    no_mentions: tuple[Span, ...] = ()
    complete: tuple[Span, ...] = ()
    mentions: tuple[Span, ...] = ()
    expected: tuple[tuple[Span, float], ...] = ()

    @classmethod
    def gold(cls, document: Document) -> Labels:
        """Gold labels without singletons, which answers cannot produce."""
        return cls(document.without_singletons())

    @classmethod
    def from_session(cls, session: Session, asked: Iterable[Question] | None = None) -> Labels:
        """A session's answers, and the clusters that model and answers give together.

        A document that was annotated in full has full labels, singletons included. `asked` are the questions that were
        answered, if they were asked in other sessions.
        """
        asked = [entry.question for entry in session.answers] if asked is None else asked
        links = session.links
        if is_whole(session.complete, session.document):
            return cls(session.relabelled())
        return cls(
            document=session.relabelled(),
            full=False,
            together=tuple(entity for entity in links.entities() if len(entity) > 1),
            apart=_apart(session),
            first=tuple(sorted(span for span in links.spans() if links.has_no_antecedent(span))),
            certainty=_certainty(session),
            no_mentions=tuple(sorted(span for span in links.spans() if not links.is_mention(span))),
            complete=session.complete,
            mentions=tuple(sorted(span for span in session.said_mentions() if links.is_mention(span))),
            expected=tuple((each.mention, each.linked) for each in asked if each.linked is not None),
        )

    @property
    def said(self) -> frozenset[Span]:
        """The spans that answers are about, without the hulls of discontinuous ones."""
        groups = (*self.together, *self.apart, self.first, self.mentions)
        return frozenset(span for group in groups for span in group if len(span.parts) == 1)

    @property
    def settled(self) -> dict[Span, bool]:
        """The mentions of which answers say whether they have an antecedent, and whether they have one."""
        linked = (span for group in self.together for span in sorted(group)[1:])
        return dict.fromkeys(linked, True) | dict.fromkeys(self.first, False)

    def teach(self, policy: LabelPolicy) -> bool:
        """Whether training can learn anything from these labels. With some policies it learns from answers only."""
        return self.full or not policy.answers or bool(self.said or self.complete)

    def to_json(self) -> dict[str, Any]:
        """Everything except the document's text."""
        return {
            "document": self.document.name,
            "part": self.document.part,
            "full": self.full,
            "clusters": [[span_to_json(span) for span in cluster] for cluster in self.document.clusters],
            "together": [[span_to_json(span) for span in group] for group in self.together],
            "apart": [[span_to_json(span) for span in pair] for pair in self.apart],
            "first": [span_to_json(span) for span in self.first],
            "certainty": [[span_to_json(span), chance] for span, chance in self.certainty],
            **({"no_mentions": [span_to_json(span) for span in self.no_mentions]} if self.no_mentions else {}),
            **({"complete": [span_to_json(span) for span in self.complete]} if self.complete else {}),
            **({"mentions": [span_to_json(span) for span in self.mentions]} if self.mentions else {}),
            **({"expected": [[span_to_json(span), chance] for span, chance in self.expected]} if self.expected else {}),
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any], document: Document) -> Labels:
        """The labels that `to_json` wrote about this document."""
        return cls(
            document=document.with_clusters([map(span_from_json, cluster) for cluster in fields["clusters"]]),
            full=fields["full"],
            together=tuple(tuple(map(span_from_json, group)) for group in fields["together"]),
            apart=tuple((span_from_json(a), span_from_json(b)) for a, b in fields["apart"]),
            first=tuple(map(span_from_json, fields["first"])),
            certainty=tuple((span_from_json(span), chance) for span, chance in fields["certainty"]),
            no_mentions=tuple(map(span_from_json, fields.get("no_mentions", ()))),
            complete=tuple(map(span_from_json, fields.get("complete", ()))),
            mentions=tuple(map(span_from_json, fields.get("mentions", ()))),
            expected=tuple((span_from_json(span), chance) for span, chance in fields.get("expected", ())),
        )


KEEP = 0.3
KEEP_BESIDE_LINKS = 0.1


@dataclass(frozen=True, slots=True)
class LabelPolicy:
    """How training uses labels that are not full.

    answers       whether rows that people answered are taught what they said; otherwise all rows follow the clusters
    unanswered    the weight of the clusters in all other rows
    certainty     whether those are also weighted by how probable their label is
    unlinked      the weight of those rows that the clusters leave without an antecedent
    keep          how much all other rows are held to the probabilities of the model that training begins with
    threshold     whether the labels also set the threshold for linking, if there are no development documents
    """

    answers: bool = False
    unanswered: float = 1.0
    certainty: bool = False
    unlinked: float = 1.0
    keep: float = 0.0
    threshold: bool = True


def label_policy(name: str, rest: float) -> LabelPolicy:
    """The policy of that name.

    pseudo      the clusters are the labels, whether they come from the model or from people; the threshold stays as it
                was (the paper's policy)
    fitted      as pseudo, but answers set the threshold
    answered    only answers count
    mix         answers count fully, the clusters count `rest` for all other rows
    certain     as pseudo, but uncertain labels count less
    linked      answers count fully; in documents with answers, so do links of the model that agree with them, weighted
                by their certainty. A mention that the model leaves unlinked is evidence of nothing, because in a new
                field the model misses most mentions. All rows without an answer stay close to the probabilities that
                the model began with, so that it does not forget
    kept        answers count fully; all other rows are only held to the probabilities that the model began with
    """
    policies = {
        "pseudo": LabelPolicy(threshold=False),
        "fitted": LabelPolicy(),
        "answered": LabelPolicy(answers=True, unanswered=0.0),
        "mix": LabelPolicy(answers=True, unanswered=rest),
        "certain": LabelPolicy(certainty=True, threshold=False),
        "linked": LabelPolicy(answers=True, certainty=True, unlinked=0.0, keep=KEEP_BESIDE_LINKS),
        "kept": LabelPolicy(answers=True, unanswered=0.0, keep=KEEP),
    }
    return plugins.named("label_policies", name, policies, LabelPolicy)


def _apart(session: Session) -> tuple[tuple[Span, Span], ...]:
    """Pairs known to be two entities, where the later span is the first mention of its entity.

    Later mentions of an entity learn from its must-links instead.
    """
    links = session.links
    pairs: set[tuple[Span, Span]] = set()
    for cluster in links.entities():
        first = cluster[0]
        entity = links.entity_id(first)
        for other in links.cannot_entities(entity) if entity is not None else ():
            pairs.update((span, first) for span in links.members(other) if span < first)
    return tuple(sorted(pairs, key=lambda pair: (pair[1], pair[0])))


def _certainty(session: Session) -> tuple[tuple[Span, float], ...]:
    """The probability of each unsettled row's label: its cluster, or having no antecedent."""
    revision = session.revision
    rows = np.arange(len(revision.prediction))
    of_cluster = revision.masses(rows).largest(revision.own_class(rows))
    chances = np.where(revision.linked(), of_cluster, revision.rows[:, 0])
    unsettled = np.flatnonzero(~revision.settled)
    return tuple((revision.nodes.spans[row], round(float(chances[row]), 6)) for row in unsettled.tolist())

"""Where people differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from corefine.annotation.question import Answer
from corefine.annotation.session import Session
from corefine.document import Span, document_order
from corefine.links import Relation
from corefine.project.project import Project
from corefine.project.results.adjudication import OwnerDecision
from corefine.project.results.snapshot import Snapshot
from corefine.project.store.documents import DocumentInfo


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one person's answers say about a mention. `first` is the first mention of its entity, if they say that."""

    person: str
    is_mention: bool
    first: Span | None
    answer: Answer | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    document_id: int
    document_name: str
    mention: Span
    opinions: tuple[Opinion, ...]
    decision: OwnerDecision | None


def disagreements(project: Project) -> list[Disagreement]:
    """Every mention about which the answers of two people cannot both be true.

    A difference that follows from another one is not listed: if both people say that two mentions are one entity, only
    the first of these is listed.
    """
    snapshot = Snapshot(project)
    found = snapshot.each(lambda info: list(_within(snapshot, info)), only="answered")
    return [each for _, own in found for each in own]


def _within(snapshot: Snapshot, info: DocumentInfo) -> Iterator[Disagreement]:
    sessions = snapshot.sessions(info.id)
    decided = {decision.span: decision for decision in snapshot.decisions(info.id)}
    answers = [answered for session in sessions.values() for answered in session.answers]
    asked = {mention for answered in answers for mention in answered.question.mentions}
    listed: list[Span] = []
    for mention in sorted(asked, key=document_order):
        pairs = combinations(sessions.values(), 2)
        differing = [(a, b) for a, b in pairs if _differ(a, b, mention) or _differ(b, a, mention)]
        if any(not _same_as(listed, mention, a, b) for a, b in differing):
            listed.append(mention)
            opinions = tuple(_opinion(snapshot.names[person], each, mention) for person, each in sessions.items())
            yield Disagreement(info.id, info.key, mention, opinions, decided.get(mention))


def _same_as(listed: list[Span], mention: Span, a: Session, b: Session) -> bool:
    """Whether both people link the mention to one that is listed."""
    both = (a.links, b.links)
    return any(all(links.relation(other, mention) is Relation.MUST for links in both) for other in listed)


def _differ(a: Session, b: Session, mention: Span) -> bool:
    """Whether `b`'s answers exclude something that `a`'s say about the mention."""
    if a.links.is_mention(mention) != b.links.is_mention(mention):
        return a.links.entity_id(mention) is not None or b.links.entity_id(mention) is not None
    entity = a.links.entity_of(mention) or ()
    if any(b.links.relation(other, mention) is Relation.CANNOT for other in entity if other != mention):
        return True
    return b.links.has_no_antecedent(mention) and bool(entity) and entity[0] < mention


def _opinion(name: str, session: Session, mention: Span) -> Opinion:
    links = session.links
    entity = links.entity_of(mention)
    known = entity is not None and (len(entity) > 1 or links.has_no_antecedent(mention))
    answers = [answered.answer for answered in session.answers if mention in answered.question.mentions]
    return Opinion(
        person=name,
        is_mention=links.is_mention(mention),
        first=entity[0] if entity is not None and known else None,
        answer=answers[-1] if answers else None,
    )

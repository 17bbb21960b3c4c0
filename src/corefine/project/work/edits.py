"""Edits of a reviewer, and what each asserts: only what the person did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from corefine.annotation.session import Session
from corefine.document import Cluster, Span, document_order
from corefine.errors import AnswerError
from corefine.links import Assertion, Cannot, First, Links, Must, NotAMention


@dataclass(frozen=True, slots=True)
class Merge:
    """Merge the entities of `a` and `b`."""

    a: Span
    b: Span
    kind: Literal["merge"] = "merge"


@dataclass(frozen=True, slots=True)
class Split:
    """Split these mentions off into a new entity."""

    mentions: tuple[Span, ...]
    kind: Literal["split"] = "split"


@dataclass(frozen=True, slots=True)
class Move:
    """Move a mention to the entity of `to`."""

    mention: Span
    to: Span
    kind: Literal["move"] = "move"


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove a span that is not a mention."""

    mention: Span
    kind: Literal["remove"] = "remove"


@dataclass(frozen=True, slots=True)
class Add:
    """Add a mention to the entity of `to`, or to a new entity."""

    mention: Span
    to: Span | None = None
    kind: Literal["add"] = "add"


@dataclass(frozen=True, slots=True)
class Confirm:
    """Confirm the entity of a mention as it is shown: all of its mentions are one entity."""

    mention: Span
    kind: Literal["confirm"] = "confirm"


Edit = Merge | Split | Move | Remove | Add | Confirm


def to_json(edit: Edit) -> list[str]:
    """The edit as a list of strings, to compare it with one that was sent before."""
    *spans, kind = (getattr(edit, name) for name in edit.__match_args__)
    return [kind, *map(str, edit.mentions if isinstance(edit, Split) else spans)]


def assertions_of(session: Session, edit: Edit) -> tuple[list[Assertion], list[Span]]:
    """What an edit says, given the entities as they are shown: assertions, and spans that are mentions."""
    entity_of = {span: cluster for cluster in session.annotated().clusters for span in cluster}
    match edit:
        case Merge(a, b):
            if b in entity_of.get(a, (a,)):
                raise AnswerError("these two are one entity already")
            return [Must(min(a, b), max(a, b))], []
        case Split(mentions):
            chosen = sorted(set(mentions), key=document_order)
            said = _split(session.links, chosen, entity_of)
            rest = [span for span in entity_of[chosen[0]] if span not in chosen]
            return said, [*chosen, *(rest if len(rest) == 1 else ())]  # both sides stay visible
        case Move(mention, to):
            old = entity_of.get(mention, (mention,))
            if to in old:
                raise AnswerError("the mention is in that entity already")
            others = [span for span in old if span != mention]
            return [*_apart(session.links, mention, others), Must(min(mention, to), max(mention, to))], []
        case Remove(mention):
            return [NotAMention(mention)], []
        case Add(mention, to):
            if mention in entity_of:
                raise AnswerError("this is a mention already: move it to the entity it belongs to")
            if to is None:
                return [First(mention, mention)], [mention]
            return [Must(min(mention, to), max(mention, to))], [mention]
        case Confirm(mention):
            cluster = entity_of.get(mention, (mention,))
            if is_confirmed(session.links, cluster):
                raise AnswerError("people have said all of this already")
            if len(cluster) == 1:
                return [First(mention, mention)], [mention]
            return [Must(a, b) for a, b in pairwise(cluster)], []


def is_confirmed(links: Links, cluster: Cluster) -> bool:
    """Whether people's answers alone make this entity, or say of a single mention that it is the first of its own."""
    known = links.entity_of(cluster[0])
    if known is None or not set(cluster) <= set(known):
        return False
    return len(cluster) > 1 or links.has_no_antecedent(cluster[0])


def _split(links: Links, mentions: list[Span], entity_of: dict[Span, Cluster]) -> list[Assertion]:
    whole = entity_of.get(mentions[0], ())
    if not set(mentions) < set(whole):
        raise AnswerError("choose some, not all, of the mentions of one entity")
    rest = [span for span in whole if span not in mentions]
    first = mentions[0]
    together: list[Assertion] = [Must(a, b) for a, b in pairwise(mentions)]
    return [*together, *_apart(links, first, rest), First(first, first)]


def _apart(links: Links, mention: Span, others: Iterable[Span]) -> list[Assertion]:
    """Assert that a mention is none of these: once for each entity that people have made, and for each other span."""
    said: dict[object, Assertion] = {}
    for other in others:
        entity = links.entity_id(other)
        said.setdefault(other if entity is None else entity, Cannot(min(mention, other), max(mention, other)))
    return list(said.values())

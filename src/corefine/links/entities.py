"""Nodes, facts, and a disjoint-set forest of entities; for each entity also those that it cannot be.

The trees have depth one: every node points to its entity, and an entity lists its members. Merging moves the smaller
entity into the larger, so a node moves at most log(n) times. Unlike path compression this can be undone: `unmerge`
undoes the last merge, `divide` any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from corefine.document import Span, document_order
from corefine.links.assertions import AnswerId, Assertion, Cannot, First, Must, NotAMention


class Node:
    """A span that answers name.

    entity     the entity it belongs to; None if it is not a mention
    facts      all facts about it
    denials    how many of them say that it is not a mention
    """

    __slots__ = ("denials", "entity", "facts", "span")

    def __init__(self, span: Span) -> None:
        self.span = span
        self.entity: Entity | None = None
        self.facts: list[Fact] = []
        self.denials = 0


class Fact:
    """One assertion of one answer, about nodes `a` and `b`.

    `First` and `NotAMention` are about one node: then `b` is `a`. Facts and nodes are compared by identity.
    """

    __slots__ = ("a", "answer", "b", "kind")

    def __init__(self, kind: type[Assertion], a: Node, b: Node, answer: AnswerId) -> None:
        self.kind = kind
        self.a = a
        self.b = b
        self.answer = answer

    def other(self, node: Node) -> Node:
        """The node of the fact that is not this one."""
        return self.b if self.a is node else self.a

    def assertion(self) -> Assertion:
        a, b = self.a.span, self.b.span
        if self.kind is Must:
            return Must(a, b)
        if self.kind is Cannot:
            return Cannot(a, b)
        return First(a, a) if self.kind is First else NotAMention(a)


class Entity:
    """Nodes known to be the same entity.

    members    in no particular order
    first      the member that comes first in the document
    starts     how many facts say that the entity has no mention before `first`
    cannot     entities known to differ from this one, with the number of facts that say so
    """

    __slots__ = ("cannot", "first", "id", "members", "starts")

    def __init__(self, number: int, members: list[Node], first: Span) -> None:
        self.id = number
        self.members = members
        self.first = first
        self.starts = 0
        self.cannot: dict[Entity, int] = {}

    def spans(self) -> Iterator[Span]:
        return (node.span for node in self.members)


def before(a: Span, b: Span) -> bool:
    """Whether `a` comes before `b` in document order. Spans with the same hull are ordered by their parts."""
    return a < b or (not b < a and a.parts < b.parts)


UndoMerge = tuple[Entity, Entity | None, Span, int]
"""What undoes a merge: the entity kept, the one absorbed, and the first span and size of the kept one before.

The absorbed one is None if a node without an entity was merged.
"""


class Entities:
    """The forest: which nodes are the same entity, and which entities are known to differ."""

    __slots__ = ("_ids", "by_id")

    def __init__(self) -> None:
        self.by_id: dict[int, Entity] = {}
        self._ids = count()

    def make(self, node: Node) -> Entity:
        """A new entity of a node without an entity."""
        entity = Entity(next(self._ids), [node], node.span)
        self.by_id[entity.id] = node.entity = entity
        return entity

    def admit(self, entity: Entity, node: Node) -> UndoMerge:
        """Add a node without an entity to an entity."""
        undo = (entity, None, entity.first, len(entity.members))
        node.entity = entity
        entity.members.append(node)
        if before(node.span, entity.first):
            entity.first = node.span
        return undo

    def merge(self, a: Entity, b: Entity) -> UndoMerge:
        """Merge two entities. The larger keeps its id."""
        if len(a.members) + len(a.cannot) < len(b.members) + len(b.cannot):
            a, b = b, a
        undo = (a, b, a.first, len(a.members))
        for node in b.members:
            node.entity = a
        a.members += b.members
        if before(b.first, a.first):
            a.first = b.first
        a.starts += b.starts
        for other, facts in b.cannot.items():
            del other.cannot[b]
            a.cannot[other] = other.cannot[a] = a.cannot.get(other, 0) + facts
        del self.by_id[b.id]
        return undo

    def unmerge(self, undo: UndoMerge) -> None:
        """Undo a merge. Everything after it must have been undone."""
        kept, absorbed, first, size = undo
        kept.first = first
        if absorbed is None:
            kept.members.pop().entity = None
            return
        del kept.members[size:]
        kept.starts -= absorbed.starts
        for other, facts in absorbed.cannot.items():
            uncount_cannot(kept, other, facts)
        self.restore(absorbed)

    def divide(self, entity: Entity, parts: Iterable[list[Node]]) -> list[Entity]:
        """Replace an entity by its parts. The caller counts the facts of the parts again."""
        self.discard(entity)
        divided = []
        for part in parts:
            new = Entity(next(self._ids), part, min((node.span for node in part), key=document_order))
            self.restore(new)
            divided.append(new)
        return divided

    def discard(self, entity: Entity) -> None:
        """Remove an entity. Its nodes are then without one."""
        for other in entity.cannot:
            del other.cannot[entity]
        for node in entity.members:
            node.entity = None
        del self.by_id[entity.id]

    def restore(self, entity: Entity) -> None:
        """Insert an entity, or undo its removal if everything after that has been undone."""
        self.by_id[entity.id] = entity
        for node in entity.members:
            node.entity = entity
        for other, facts in entity.cannot.items():
            other.cannot[entity] = facts


def count_cannot(a: Entity, b: Entity) -> None:
    """Count one more fact that says that two entities differ."""
    a.cannot[b] = b.cannot[a] = a.cannot.get(b, 0) + 1


def uncount_cannot(a: Entity, b: Entity, facts: int = 1) -> None:
    """Count fewer facts that say that two entities differ."""
    left = a.cannot[b] - facts
    if left:
        a.cannot[b] = b.cannot[a] = left
    else:
        del a.cannot[b], b.cannot[a]

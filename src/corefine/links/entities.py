"""A disjoint-set forest of entities, and for each entity those it cannot be.

The trees have depth one: every node points straight at its entity and an entity lists its members. Merging moves the
lighter entity into the heavier, so that a node moves at most log(n) times; unlike path compression this can be taken
back, by `unmerge` for the last merge and by `divide` for any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from corefine.document import Span, document_order
from corefine.links.facts import Node, before


class Entity:
    """Nodes known to be one entity.

    members    in no particular order
    first      the member that comes first in the document
    starts     how many facts say that the entity has no mention before `first`
    cannot     entities it cannot be because facts say so, and how many do
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


def differ(a: Entity, b: Entity) -> bool:
    """Whether two entities are known to differ: facts say so, or the later one has no earlier mention."""
    if b in a.cannot:
        return True
    if a.starts or b.starts:
        later = b if before(a.first, b.first) else a
        return later.starts > 0
    return False


def pairs_within(entity: Entity) -> int:
    """How many pairs of spans the entity holds."""
    return len(entity.members) * (len(entity.members) - 1) // 2


def pairs_apart(entity: Entity, counted: set[Entity]) -> int:
    """How many pairs of spans were set apart with the entity; pairs within `counted` belong to the lower id."""
    others = (other for other in entity.cannot if other not in counted or entity.id < other.id)
    return len(entity.members) * sum(len(other.members) for other in others)


Merge = tuple[Entity, Entity | None, Span, int]
"""What it takes to undo a merge: the entity kept, the one absorbed, and the kept one's first span and size before.

The absorbed one is None if it was a node that was in no entity.
"""


class Entities:
    """The forest: which nodes are one entity, and which entities are known to differ."""

    __slots__ = ("_by_id", "_ids")

    def __init__(self) -> None:
        self._by_id: dict[int, Entity] = {}
        self._ids = count()

    def __iter__(self) -> Iterator[Entity]:
        return iter(self._by_id.values())

    def by_id(self, number: int) -> Entity:
        return self._by_id[number]

    def make(self, node: Node) -> Entity:
        """A new entity of a node that is in none."""
        entity = Entity(next(self._ids), [node], node.span)
        self._by_id[entity.id] = node.entity = entity
        return entity

    def admit(self, entity: Entity, node: Node) -> Merge:
        """Take a node that is in no entity into one, as if merging it."""
        undo = (entity, None, entity.first, len(entity.members))
        node.entity = entity
        entity.members.append(node)
        if before(node.span, entity.first):
            entity.first = node.span
        return undo

    def merge(self, a: Entity, b: Entity) -> Merge:
        """Make two entities one; the heavier keeps its id."""
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
        del self._by_id[b.id]
        return undo

    def unmerge(self, undo: Merge) -> None:
        """Take back a merge, if all that came after it has been taken back."""
        kept, absorbed, first, size = undo
        kept.first = first
        if absorbed is None:
            kept.members.pop().entity = None
            return
        del kept.members[size:]
        kept.starts -= absorbed.starts
        for other, facts in absorbed.cannot.items():
            approach(kept, other, facts)
        self.restore(absorbed)

    def divide(self, entity: Entity, parts: Iterable[list[Node]]) -> list[Entity]:
        """Replace an entity by its parts. What is known of the parts is for the caller to say anew."""
        self.discard(entity)
        divided = []
        for part in parts:
            new = Entity(next(self._ids), part, min((node.span for node in part), key=document_order))
            self.restore(new)
            divided.append(new)
        return divided

    def discard(self, entity: Entity) -> None:
        """Take an entity out; its nodes are then in none."""
        for other in entity.cannot:
            del other.cannot[entity]
        for node in entity.members:
            node.entity = None
        del self._by_id[entity.id]

    def restore(self, entity: Entity) -> None:
        """Put an entity in, or back if all that came after it was taken out has been taken back."""
        self._by_id[entity.id] = entity
        for node in entity.members:
            node.entity = entity
        for other, facts in entity.cannot.items():
            other.cannot[entity] = facts


def part(a: Entity, b: Entity) -> None:
    """One more fact says that two entities differ."""
    a.cannot[b] = b.cannot[a] = a.cannot.get(b, 0) + 1


def approach(a: Entity, b: Entity, facts: int = 1) -> None:
    """So many facts fewer say that two entities differ."""
    left = a.cannot[b] - facts
    if left:
        a.cannot[b] = b.cannot[a] = left
    else:
        del a.cannot[b], b.cannot[a]

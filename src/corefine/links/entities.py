"""A disjoint-set forest of entities, and for each entity those it cannot be.

The trees have depth one: every span points straight at its entity and an entity lists its members. Merging moves the
lighter entity into the heavier, so that a span moves at most log(n) times; unlike path compression this can be taken
back, by `unmerge` for the last merge and by `divide` for any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import NamedTuple

from corefine.document import Span, document_order
from corefine.links.facts import before


class Entity:
    """Spans known to be one entity.

    members    in no particular order
    first      the member that comes first in the document
    starts     how many facts say that the entity has no mention before `first`
    cannot     entities it cannot be because facts say so, and how many do
    """

    __slots__ = ("cannot", "first", "id", "members", "starts")

    def __init__(self, number: int, members: list[Span]) -> None:
        self.id = number
        self.members = members
        self.first = members[0]
        self.starts = 0
        self.cannot: dict[Entity, int] = {}


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


class Merge(NamedTuple):
    """What it takes to undo a merge: the entities, and the kept one's first span and size before.

    `absorbed` is None if the kept one took in a span that was in no entity.
    """

    kept: Entity
    absorbed: Entity | None
    first: Span
    size: int


class Entities:
    """The forest: which spans are one entity, and which entities are known to differ."""

    __slots__ = ("_by_id", "_ids", "_of", "find")

    def __init__(self) -> None:
        self._of: dict[Span, Entity] = {}
        self._by_id: dict[int, Entity] = {}
        self._ids = count()
        self.find = self._of.get
        """The entity of a span, or None."""

    def __iter__(self) -> Iterator[Entity]:
        return iter(self._by_id.values())

    def by_id(self, number: int) -> Entity:
        return self._by_id[number]

    def make(self, members: list[Span]) -> Entity:
        """A new entity of spans that are in none."""
        entity = Entity(next(self._ids), members)
        self._put(entity)
        if len(members) > 1:
            entity.first = min(members, key=document_order)
        return entity

    def admit(self, entity: Entity, span: Span) -> Merge:
        """Take a span that is in no entity into one, as if merging it."""
        undo = Merge(entity, None, entity.first, len(entity.members))
        self._of[span] = entity
        entity.members.append(span)
        if before(span, entity.first):
            entity.first = span
        return undo

    def merge(self, a: Entity, b: Entity) -> Merge:
        """Make two entities one; the heavier keeps its id."""
        if len(a.members) + len(a.cannot) < len(b.members) + len(b.cannot):
            a, b = b, a
        undo = Merge(a, b, a.first, len(a.members))
        of = self._of
        for span in b.members:
            of[span] = a
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
            del self._of[kept.members.pop()]
            return
        del kept.members[size:]
        self._put(absorbed)
        kept.starts -= absorbed.starts
        for other, facts in absorbed.cannot.items():
            self.approach(kept, other, facts)
            other.cannot[absorbed] = facts

    def divide(self, entity: Entity, parts: Iterable[list[Span]]) -> list[Entity]:
        """Replace an entity by its parts. What is known of the parts is for the caller to say anew."""
        self.discard(entity)
        return [self.make(part) for part in parts]

    def discard(self, entity: Entity) -> None:
        """Take an entity out; its spans are then in none."""
        for other in entity.cannot:
            del other.cannot[entity]
        for span in entity.members:
            del self._of[span]
        del self._by_id[entity.id]

    def restore(self, entity: Entity) -> None:
        """Take back a discard, if all that came after it has been taken back."""
        self._put(entity)
        for other, facts in entity.cannot.items():
            other.cannot[entity] = facts

    def _put(self, entity: Entity) -> None:
        self._by_id[entity.id] = entity
        for span in entity.members:
            self._of[span] = entity

    @staticmethod
    def part(a: Entity, b: Entity) -> None:
        """One more fact says that two entities differ."""
        a.cannot[b] = b.cannot[a] = a.cannot.get(b, 0) + 1

    @staticmethod
    def approach(a: Entity, b: Entity, facts: int = 1) -> None:
        """So many facts fewer say that two entities differ."""
        left = a.cannot[b] - facts
        if left:
            a.cannot[b] = b.cannot[a] = left
        else:
            del a.cannot[b], b.cannot[a]

"""The closure of facts, updated with every fact. `Links` is its public interface.

Must-link is an equivalence relation. If x cannot be y, no mention of x's entity can be in y's entity. If the first
mention of an entity is known, no earlier span belongs to it. Two different first mentions for one entity are a
contradiction.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable

from corefine.document import Span
from corefine.errors import ContradictionError
from corefine.links.assertions import AnswerId, Assertion, Cannot, First, Must, NotAMention, Relation
from corefine.links.entities import (
    Entities,
    Entity,
    Fact,
    Node,
    UndoMerge,
    before,
    count_cannot,
    uncount_cannot,
)
from corefine.links.explanation import cannot_chain, must_chain, one_answer

MUST, CANNOT = Relation  # bound once: looking up an Enum member is slow in this hot path

Undo = UndoMerge | Entity | None
"""What a fact did to the entities besides counting: merged two, or discarded one."""


class Closure:
    """Facts, and the entities that follow from them.

    nodes    the spans that facts name. Each is in exactly one entity, unless a fact says that it is not a mention;
             its other facts then have no effect.
    said     the facts of each answer
    """

    __slots__ = ("entities", "nodes", "said")

    def __init__(self) -> None:
        self.nodes: dict[Span, Node] = {}
        self.said: dict[AnswerId, list[Fact]] = {}
        self.entities = Entities()

    def relation(self, a: Span, b: Span) -> Relation | None:
        return _relation(*self._pair(a, b))

    def add(self, answer: AnswerId, said: Iterable[tuple[type[Assertion], Span, Span]]) -> list[Fact]:
        """Add these facts, given as kind and spans, to an answer; or raise ContradictionError and change nothing."""
        nodes = self.nodes
        facts: list[Fact] = []
        undos: list[Undo] = []
        for kind, a, b in said:
            one = nodes.get(a)
            if one is None:
                one = nodes[a] = Node(a)
            other = one if b is a else nodes.get(b)
            if other is None:
                other = nodes[b] = Node(b)
            fact = Fact(kind, one, other, answer)
            if _excluded(fact):
                error = self._contradiction(fact, facts)
                for earlier, undo in zip(reversed(facts), reversed(undos), strict=True):
                    self._take_back(earlier, undo)
                self._forget_unnamed(fact)
                raise error
            undos.append(self._apply(fact))
            one.facts.append(fact)
            if other is not one:
                other.facts.append(fact)
            facts.append(fact)
        if answer in self.said:
            self.said[answer] += facts
        else:
            self.said[answer] = facts
        return facts

    def withdraw(self, answer: AnswerId) -> None:
        """Forget an answer. Takes time linear in the size of the entities that it is about."""
        facts = self.said.pop(answer)
        for fact in facts:
            _detach(fact)
        for fact in facts:
            _uncount(fact)
        for fact in facts:
            if fact.kind is NotAMention and not fact.a.denials and fact.a.entity is None:
                _recount(self.entities.make(fact.a))
        loosened = dict.fromkeys(fact.a.entity for fact in facts if fact.kind is Must)
        for entity in loosened:
            if entity is not None:
                self._divide(entity)
        for fact in facts:
            self._forget_unnamed(fact)

    def chain(self, a: Span, b: Span) -> tuple[AnswerId, ...]:
        """A shortest chain of answers that imply the relation of two spans; empty if there is no relation."""
        relation = self.relation(a, b)
        if relation is None or (relation is MUST and a == b):
            return ()
        one, other = self._pair(a, b)
        if relation is MUST:
            return must_chain(self.said, one, lambda node: node is other)
        return one_answer(one if one.denials else other, NotAMention) or cannot_chain(self.said, one, other)

    def _pair(self, a: Span, b: Span) -> tuple[Node, Node]:
        """The nodes of two spans; new ones, which are not kept, for spans that no answer names."""
        one = self.nodes.get(a) or Node(a)
        return one, one if a == b else self.nodes.get(b) or Node(b)

    def _apply(self, fact: Fact) -> Undo:
        """Update the entities with a fact that is not excluded."""
        node, entities = fact.a, self.entities
        if fact.kind is NotAMention:
            node.denials += 1
            entity = node.entity
            if entity is not None:
                entities.discard(entity)
            return entity
        a, b = node.entity, fact.b.entity
        if a is None and not node.denials:
            if fact.kind is Must and b is not None:
                return entities.admit(b, node)
            a = entities.make(node)
        if fact.kind is First:
            if a is not None:
                a.starts += 1
            return None
        if b is None and not fact.b.denials:
            if fact.kind is Must and a is not None:
                return entities.admit(a, fact.b)
            b = entities.make(fact.b)
        if a is None or b is None or a is b:
            return None  # one node is not a mention, or this was known
        if fact.kind is Must:
            return entities.merge(a, b)
        count_cannot(a, b)
        return None

    def _take_back(self, fact: Fact, undo: Undo) -> None:
        """Undo the fact added last, without a trace."""
        _detach(fact)
        if isinstance(undo, tuple):
            self.entities.unmerge(undo)
        _uncount(fact)
        if isinstance(undo, Entity):
            self.entities.restore(undo)
        self._forget_unnamed(fact)

    def _forget_unnamed(self, fact: Fact) -> None:
        """Drop the nodes of a removed fact that no other fact names."""
        for node in (fact.a, fact.b):
            if not node.facts:
                self.nodes.pop(node.span, None)
                if node.entity is not None:
                    self.entities.discard(node.entity)

    def _divide(self, entity: Entity) -> None:
        """Replace an entity that lost a must-link by the parts that are still connected."""
        left = set(entity.members)
        parts = []
        for start in entity.members:
            if start not in left:
                continue
            left.remove(start)
            part = [start]
            for node in part:  # grows during the loop
                for fact in node.facts:
                    if fact.kind is Must and (other := fact.other(node)) in left:
                        left.remove(other)
                        part.append(other)
            parts.append(part)
        if len(parts) > 1:
            for new in self.entities.divide(entity, parts):
                _recount(new)

    def _contradiction(self, fact: Fact, own: list[Fact]) -> ContradictionError:
        """The error for an excluded fact that follows these of the same answer."""
        answer = fact.answer
        own = [*self.said.get(answer, ()), *own]
        said = ChainMap({answer: own}, self.said)
        if _contradicts(own, fact):
            chain: tuple[AnswerId, ...] = ()
        elif fact.kind is NotAMention:
            chain = one_answer(fact.a, Must)
        elif fact.kind is Cannot:
            chain = must_chain(said, fact.a, lambda node: node is fact.b, answer)
        elif fact.kind is First:
            chain = must_chain(said, fact.a, lambda node: before(node.span, fact.a.span), answer)
        else:
            denied = fact.a if fact.a.denials else fact.b
            chain = one_answer(denied, NotAMention) or cannot_chain(said, fact.a, fact.b, answer)
        if not chain:
            return ContradictionError(f"answer {answer!r} contradicts itself on whether {fact.assertion()}", ())
        names = ", ".join(map(repr, chain))
        answers, which = ("answer", "it") if len(chain) == 1 else ("answers", "one of them")
        return ContradictionError(
            f"answer {answer!r} says that {fact.assertion()}, which contradicts {answers} {names}. "
            f"Withdraw {which}, or give another answer.",
            chain,
        )


def _relation(one: Node, other: Node) -> Relation | None:
    if one.denials or other.denials:
        return CANNOT
    a, b = one.entity, other.entity
    if one is other or (a is b and a is not None):
        return MUST
    if a is not None and b is not None and b in a.cannot:
        return CANNOT
    # Two entities differ if one is known to start after the other's first mention. A span without an entity stands
    # for itself.
    if a is not None and a.starts and before(other.span if b is None else b.first, a.first):
        return CANNOT
    if b is not None and b.starts and before(one.span if a is None else a.first, b.first):
        return CANNOT
    return None


def _excluded(fact: Fact) -> bool:
    """Whether the opposite of a fact is known."""
    if fact.kind is Must:
        return _relation(fact.a, fact.b) is CANNOT
    entity = fact.a.entity
    if entity is None:
        return False
    if fact.kind is Cannot:
        return entity is fact.b.entity
    if fact.kind is First:
        return entity.first != fact.a.span
    return len(entity.members) > 1


def _contradicts(facts: Iterable[Fact], fact: Fact) -> bool:
    """Whether these facts alone, which do not contradict each other, exclude another."""
    alone = Closure()
    alone.add(fact.answer, [(each.kind, each.a.span, each.b.span) for each in facts])
    return _excluded(Fact(fact.kind, *alone._pair(fact.a.span, fact.b.span), fact.answer))


def _detach(fact: Fact) -> None:
    """Remove a fact from its nodes."""
    fact.a.facts.remove(fact)
    if fact.b is not fact.a:
        fact.b.facts.remove(fact)


def _uncount(fact: Fact) -> None:
    """Undo the counting of a fact."""
    a, b = fact.a.entity, fact.b.entity
    if fact.kind is NotAMention:
        fact.a.denials -= 1
    elif a is None or b is None:
        return  # one node is not a mention
    elif fact.kind is Cannot:
        uncount_cannot(a, b)
    elif fact.kind is First:
        a.starts -= 1


def _recount(entity: Entity) -> None:
    """Count the facts on the members of a new entity."""
    for node in entity.members:
        for fact in node.facts:
            if fact.kind is First:
                entity.starts += 1
            elif fact.kind is Cannot and (other := fact.other(node).entity) is not None:
                count_cannot(entity, other)

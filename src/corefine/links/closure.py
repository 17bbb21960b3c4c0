"""The closure of facts, kept one fact at a time; `Links` is its public face.

Must-link is an equivalence; if x cannot be y, nothing that is x can be anything that is y; an entity that starts at a
mention has none before it. All facts that start an entity are about its first mention, or they would contradict.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable

from corefine.document import Span
from corefine.errors import ContradictionError
from corefine.links.assertions import AnswerId, Relation
from corefine.links.entities import Entities, Entity, Merge, approach, differ, part
from corefine.links.explanation import cannot_chain, must_chain, one_answer
from corefine.links.facts import DIFFERENT, NO_MENTION, SAME, STARTS, Claim, Fact, Node, before

MUST, CANNOT = Relation

Undo = Merge | Entity | None
"""What applying a fact did to the entities beyond counting: merged two, or discarded one."""


class Closure:
    """Facts, and the entities that follow from them.

    nodes    the spans that facts name; each is in exactly one entity, unless a fact says that it is no mention:
             other facts on it are then of no consequence
    said     what each answer says
    """

    __slots__ = ("entities", "nodes", "said")

    def __init__(self) -> None:
        self.nodes: dict[Span, Node] = {}
        self.said: dict[AnswerId, list[Fact]] = {}
        self.entities = Entities()

    def relation(self, a: Span, b: Span) -> Relation | None:
        one, other = self.nodes.get(a), self.nodes.get(b)
        if one is not None and other is not None:
            return _related(one, other)
        if (one is not None and one.denials) or (other is not None and other.denials):
            return CANNOT
        if a == b:
            return MUST
        known, stranger = (other, a) if one is None else (one, b)
        if known is None or known.entity is None or not known.entity.starts:
            return None
        return CANNOT if before(stranger, known.entity.first) else None

    def take(self, answer: AnswerId, claims: Iterable[Claim]) -> list[Fact]:
        """Let an answer say all of this, or raise ContradictionError and leave everything as it was."""
        nodes = self.nodes
        facts: list[Fact] = []
        undos: list[Undo] = []
        for kind, a, b in claims:
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
        """Forget all that an answer said; costs no more than going through the entities that it is about."""
        facts = self.said.pop(answer)
        for fact in facts:
            _strike(fact)
        for fact in facts:
            _uncount(fact)
        for fact in facts:
            if fact.kind is NO_MENTION and not fact.a.denials and fact.a.entity is None:
                _recount(self.entities.make(fact.a))
        loosened = dict.fromkeys(fact.a.entity for fact in facts if fact.kind is SAME)
        for entity in loosened:
            if entity is not None:
                self._divide(entity)
        for fact in facts:
            self._forget_unnamed(fact)

    def chain(self, a: Span, b: Span) -> tuple[AnswerId, ...]:
        """A shortest chain of answers that imply the relation of two spans; empty if there is none."""
        relation = self.relation(a, b)
        if relation is None or (relation is MUST and a == b):
            return ()
        one, other = self.nodes.get(a) or Node(a), self.nodes.get(b) or Node(b)
        if relation is MUST:
            return must_chain(self.said, one, lambda node: node is other)
        return one_answer(one if one.denials else other, NO_MENTION) or cannot_chain(self.said, one, other)

    def _apply(self, fact: Fact) -> Undo:
        """Bring the entities in line with a fact that is not excluded."""
        node, entities = fact.a, self.entities
        if fact.kind is NO_MENTION:
            node.denials += 1
            entity = node.entity
            if entity is not None:
                entities.discard(entity)
            return entity
        a, b = node.entity, fact.b.entity
        if a is None and not node.denials:
            if fact.kind is SAME and b is not None:
                return entities.admit(b, node)
            a = entities.make(node)
        if fact.kind is STARTS:
            if a is not None:
                a.starts += 1
            return None
        if b is None and not fact.b.denials:
            if fact.kind is SAME and a is not None:
                return entities.admit(a, fact.b)
            b = entities.make(fact.b)
        if a is None or b is None or a is b:
            return None  # one end is not a mention, or this was known
        if fact.kind is SAME:
            return entities.merge(a, b)
        part(a, b)
        return None

    def _take_back(self, fact: Fact, undo: Undo) -> None:
        """Undo the fact taken last, leaving no trace."""
        _strike(fact)
        if isinstance(undo, tuple):
            self.entities.unmerge(undo)
        _uncount(fact)
        if isinstance(undo, Entity):
            self.entities.restore(undo)
        self._forget_unnamed(fact)

    def _forget_unnamed(self, fact: Fact) -> None:
        """Drop the ends of a struck fact that no fact names any more."""
        for node in (fact.a, fact.b):
            if not node.facts:
                self.nodes.pop(node.span, None)
                if node.entity is not None:
                    self.entities.discard(node.entity)

    def _divide(self, entity: Entity) -> None:
        """Replace an entity that lost a must-link by the parts that still hang together."""
        left = set(entity.members)
        parts = []
        for start in entity.members:
            if start not in left:
                continue
            left.remove(start)
            hanging = [start]
            for node in hanging:  # grows while it is gone through
                for fact in node.facts:
                    if fact.kind is SAME and (other := fact.other(node)) in left:
                        left.remove(other)
                        hanging.append(other)
            parts.append(hanging)
        if len(parts) > 1:
            for new in self.entities.divide(entity, parts):
                _recount(new)

    def _contradiction(self, fact: Fact, own: list[Fact]) -> ContradictionError:
        """The error for an excluded fact, after these of the same answer, with a shortest chain of other answers."""
        answer = fact.answer
        own = [*self.said.get(answer, ()), *own]
        said = ChainMap({answer: own}, self.said)
        if _contradicts(own, fact):
            chain: tuple[AnswerId, ...] = ()
        elif fact.kind is NO_MENTION:
            chain = one_answer(fact.a, SAME)
        elif fact.kind is DIFFERENT:
            chain = must_chain(said, fact.a, lambda node: node is fact.b, answer)
        elif fact.kind is STARTS:
            chain = must_chain(said, fact.a, lambda node: before(node.span, fact.a.span), answer)
        else:
            denied = fact.a if fact.a.denials else fact.b
            chain = one_answer(denied, NO_MENTION) or cannot_chain(said, fact.a, fact.b, answer)
        if not chain:
            return ContradictionError(f"answer {answer!r} contradicts itself on whether {fact.assertion()}", ())
        names = ", ".join(map(repr, chain))
        excluded = f"answer {names} excludes" if len(chain) == 1 else f"answers {names} exclude"
        message = f"answer {answer!r} says that {fact.assertion()}, which {excluded}"
        return ContradictionError(f"{message}: withdraw one of them or answer otherwise", chain)


def _related(one: Node, other: Node) -> Relation | None:
    if one.denials or other.denials:
        return CANNOT
    a, b = one.entity, other.entity
    if one is other or (a is b and a is not None):
        return MUST
    if a is None or b is None:  # a node that is just being named
        known, stranger = (b, one) if a is None else (a, other)
        apart = known is not None and known.starts > 0 and before(stranger.span, known.first)
    else:
        apart = differ(a, b)
    return CANNOT if apart else None


def _excluded(fact: Fact) -> bool:
    """Whether the opposite of a fact is known."""
    if fact.kind is SAME:
        return _related(fact.a, fact.b) is CANNOT
    entity = fact.a.entity
    if entity is None:
        return False
    if fact.kind is DIFFERENT:
        return entity is fact.b.entity
    if fact.kind is STARTS:
        return entity.first != fact.a.span
    return len(entity.members) > 1


def _contradicts(facts: Iterable[Fact], fact: Fact) -> bool:
    """Whether these facts, which do not contradict each other, exclude another without any others."""
    alone = Closure()
    alone.take(fact.answer, [(each.kind, each.a.span, each.b.span) for each in facts])
    a, b = (alone.nodes.get(node.span) or Node(node.span) for node in (fact.a, fact.b))
    return _excluded(Fact(fact.kind, a, b, fact.answer))


def _strike(fact: Fact) -> None:
    """Take a fact off its nodes."""
    fact.a.facts.remove(fact)
    if fact.b is not fact.a:
        fact.b.facts.remove(fact)


def _uncount(fact: Fact) -> None:
    """Undo the counting of a fact: of what starts, of what differs, of what is not a mention."""
    a, b = fact.a.entity, fact.b.entity
    if fact.kind is NO_MENTION:
        fact.a.denials -= 1
    elif a is None or b is None:
        return  # one end is not a mention
    elif fact.kind is DIFFERENT:
        approach(a, b)
    elif fact.kind is STARTS:
        a.starts -= 1


def _recount(entity: Entity) -> None:
    """Count anew, from the facts on its members, what a new entity starts with and cannot be."""
    for node in entity.members:
        for fact in node.facts:
            if fact.kind is STARTS:
                entity.starts += 1
            elif fact.kind is DIFFERENT and (other := fact.other(node).entity) is not None:
                part(entity, other)

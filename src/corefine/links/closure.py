"""The closure of facts, kept one fact at a time; `Links` is its public face.

Must-link is an equivalence; if x cannot be y, nothing that is x can be anything that is y; an entity that starts at a
mention has none before it. All facts that start an entity are about its first mention, or they would contradict.
"""

from __future__ import annotations

from corefine.document import Span
from corefine.links.assertions import Answer, Relation
from corefine.links.entities import Entities, Entity, Merge, differ
from corefine.links.explanation import NOBODY, cannot_chain, must_chain
from corefine.links.facts import Book, Fact, Kind, before

Undo = Merge | Entity | None
"""What `Closure.add` did to the entities beyond counting: merged two, or discarded one."""


class Closure:
    """Facts, and the entities that follow from them.

    A span that any fact names is in exactly one entity, unless a fact says that it is no mention. Other facts on such
    a span stay in the book and are of no consequence.
    """

    __slots__ = ("book", "entities", "no_mentions")

    def __init__(self) -> None:
        self.book = Book()
        self.entities = Entities()
        self.no_mentions: dict[Span, int] = {}  # how many facts say so

    def relation(self, a: Span, b: Span) -> Relation | None:
        if self.no_mentions and (a in self.no_mentions or b in self.no_mentions):
            return Relation.CANNOT
        one, other = self.entities.find(a), self.entities.find(b)
        if one is not None and other is not None:
            if one is other:
                return Relation.MUST
            return Relation.CANNOT if differ(one, other) else None
        if a == b:
            return Relation.MUST
        known, stranger = (one, b) if one is not None else (other, a)
        if known is not None and known.starts and before(stranger, known.first):
            return Relation.CANNOT
        return None

    def excludes(self, fact: Fact) -> bool:
        """Whether the opposite of the fact is known."""
        if fact.kind is Kind.SAME:
            return self.relation(fact.a, fact.b) is Relation.CANNOT
        entity = self.entities.find(fact.a)
        if entity is None:
            return False
        if fact.kind is Kind.DIFFERENT:
            return entity is self.entities.find(fact.b)
        if fact.kind is Kind.STARTS:
            return entity.first != fact.a
        return len(entity.members) > 1

    def add(self, fact: Fact) -> Undo:
        """Enter a fact that is not excluded, and bring the entities in line."""
        self.book.add(fact)
        entities, no_mentions = self.entities, self.no_mentions
        if fact.kind is Kind.NO_MENTION:
            no_mentions[fact.a] = no_mentions.get(fact.a, 0) + 1
            entity = entities.find(fact.a)
            if entity is not None:
                entities.discard(entity)
            return entity
        a, b = entities.find(fact.a), entities.find(fact.b)
        if fact.kind is Kind.SAME and a is not b:
            if a is None and b is not None:
                return entities.admit(b, fact.a)
            if b is None and a is not None:
                return entities.admit(a, fact.b)
        if a is None and fact.a not in no_mentions:
            a = entities.make([fact.a])
        if b is None and fact.b not in no_mentions:
            b = a if fact.a == fact.b else entities.make([fact.b])
        if a is None or b is None:
            return None  # of no consequence while one end is not a mention
        if fact.kind is Kind.SAME:
            return None if a is b else entities.merge(a, b)
        if fact.kind is Kind.DIFFERENT:
            entities.part(a, b)
        else:
            a.starts += 1
        return None

    def take_back(self, fact: Fact, undo: Undo) -> None:
        """Undo the fact added last, leaving no trace."""
        self.book.remove(fact)
        if isinstance(undo, Merge):
            self.entities.unmerge(undo)
        elif fact.kind is Kind.NO_MENTION:
            self._readmit(fact.a)
            if undo is not None:
                self.entities.restore(undo)
        else:
            self._uncount(fact)
        self._forget(fact.a)
        self._forget(fact.b)

    def withdraw(self, answer: Answer) -> None:
        """Remove all facts of an answer; costs no more than going through the entities that they touch."""
        facts = list(self.book.of_answer(answer))
        for fact in facts:
            self.book.remove(fact)
        self.book.close(answer)
        for fact in facts:
            self._uncount(fact)
        for fact in facts:
            if fact.kind is Kind.NO_MENTION and self._readmit(fact.a) and self.book.names(fact.a):
                self._recount(self.entities.make([fact.a]))
        loosened = {self.entities.find(fact.a): None for fact in facts if fact.kind is Kind.SAME}
        for entity in loosened:
            if entity is not None:
                self._divide(entity)
        for fact in facts:
            self._forget(fact.a)
            self._forget(fact.b)

    def _uncount(self, fact: Fact) -> None:
        """Undo the counting of a fact that says where an entity starts or that two differ."""
        a, b = self.entities.find(fact.a), self.entities.find(fact.b)
        if a is None or b is None:
            return  # one end is not a mention
        if fact.kind is Kind.DIFFERENT:
            self.entities.approach(a, b)
        elif fact.kind is Kind.STARTS:
            a.starts -= 1

    def _readmit(self, span: Span) -> bool:
        """One fact fewer says that the span is no mention; whether it was the last."""
        self.no_mentions[span] -= 1
        if self.no_mentions[span]:
            return False
        del self.no_mentions[span]
        return True

    def _divide(self, entity: Entity) -> None:
        """Replace an entity that lost a must-link by the parts that still hang together."""
        left = set(entity.members)
        parts = []
        while left:
            part = [left.pop()]
            for span in part:  # grows while it is gone through
                for fact in self.book.of_span(span):
                    if fact.kind is Kind.SAME and (other := fact.other(span)) in left:
                        left.remove(other)
                        part.append(other)
            parts.append(part)
        if len(parts) > 1:
            for new in self.entities.divide(entity, parts):
                self._recount(new)

    def _recount(self, entity: Entity) -> None:
        """Count anew, from the facts on its members, what a new entity starts with and cannot be."""
        for span in entity.members:
            for fact in self.book.of_span(span):
                if fact.kind is Kind.STARTS:
                    entity.starts += 1
                elif fact.kind is Kind.DIFFERENT:
                    other = self.entities.find(fact.other(span))
                    if other is not None:
                        self.entities.part(entity, other)

    def _forget(self, span: Span) -> None:
        """Discard the entity of a span that no fact names any more."""
        if not self.book.names(span) and (entity := self.entities.find(span)) is not None:
            self.entities.discard(entity)

    def chain(self, a: Span, b: Span, relation: Relation, free: Answer = NOBODY) -> tuple[Answer, ...]:
        """A shortest chain of answers for a relation that is known; `free` costs nothing and is not named."""
        if relation is Relation.MUST:
            return must_chain(self.book, a, lambda span: span == b, free)
        for span in (a, b):
            if span in self.no_mentions:
                return self._one_answer(span, Kind.NO_MENTION, free)
        entity = self.entities.find(b)
        far = frozenset((b,)) if entity is None else frozenset(entity.members)
        return cannot_chain(self.book, a, b, far, free)

    def chain_against(self, fact: Fact) -> tuple[Answer, ...]:
        """A shortest chain of answers that exclude the fact, other than its own; empty if its own by itself does."""
        if fact.kind is Kind.SAME and self._contradicts_own(fact):
            return ()
        if fact.kind is Kind.SAME:
            return self.chain(fact.a, fact.b, Relation.CANNOT, fact.answer)
        if fact.kind is Kind.DIFFERENT:
            return self.chain(fact.a, fact.b, Relation.MUST, fact.answer)
        if fact.kind is Kind.STARTS:
            return must_chain(self.book, fact.a, lambda span: before(span, fact.a), fact.answer)
        return self._one_answer(fact.a, Kind.SAME, fact.answer)

    def _contradicts_own(self, fact: Fact) -> bool:
        """Whether what the answer of the fact said before excludes it without any other answer."""
        alone = Closure()
        alone.book.open(fact.answer)
        for own in self.book.of_answer(fact.answer):
            alone.add(own)
        return alone.excludes(fact)

    def _one_answer(self, span: Span, kind: Kind, free: Answer) -> tuple[Answer, ...]:
        """The first answer that states such a fact on the span; none is needed if the free one does."""
        answers = [fact.answer for fact in self.book.of_span(span) if fact.kind is kind]
        return () if free in answers else tuple(answers[:1])

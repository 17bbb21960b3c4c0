"""Links: what answers say about the mentions of one document, and all that follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corefine.document import Cluster, Span, document_order
from corefine.errors import InvalidSpanError, UnknownAnswerError
from corefine.links.assertions import AnswerId, Assertion, First, Link, Must, NotAMention, Relation
from corefine.links.closure import Closure
from corefine.links.entities import Entity, Fact, Node, before


class Change:
    """What an answer, or its withdrawal, touched.

    The spans are collected when asked for, so an answer about a large entity costs no more than one about a small.
    Read later, they may include spans that this change did not touch.
    """

    __slots__ = ("_also", "_touched")

    def __init__(self, touched: Sequence[Entity | Node], also: frozenset[Span] = frozenset()) -> None:
        self._touched = touched
        self._also = also

    @property
    def entities(self) -> frozenset[int]:
        """The ids of the touched entities, right after the change."""
        return frozenset(each.id for each in self._touched if isinstance(each, Entity))

    @property
    def spans(self) -> frozenset[Span]:
        """The touched spans. Every relation that changed has at least one end among them."""
        touched = dict.fromkeys(self._touched)
        return self._also.union(*(each.spans() if isinstance(each, Entity) else (each.span,) for each in touched))


class Links:
    """Must-links and cannot-links between spans of one document, closed after every answer.

    infer_first    whether "f is the first appearance of m's entity" also says that the entity has no mention before f,
                   and not only that f and m are the same entity

    Every span that an answer names is in exactly one entity, alone if nothing links it, unless it is not a mention.
    """

    def __init__(self, *, infer_first: bool = False) -> None:
        self.infer_first = infer_first
        self._closure = Closure()

    # Answers

    def add(self, answer: AnswerId, *assertions: Assertion) -> Change:
        """Add an answer that asserts all of these, or add them to an answer given before.

        Raises InvalidSpanError for an assertion that makes no sense and ContradictionError for one that earlier answers
        exclude. The links are then unchanged.
        """
        facts: list[tuple[type[Assertion], Span, Span]] = []
        for said in assertions:
            if isinstance(said, Link):
                if said.a == said.b:
                    raise InvalidSpanError(f"a link is between two mentions, but {said.a} is given twice")
                facts.append((type(said), said.a, said.b))
            elif isinstance(said, NotAMention) or said.first == said.mention:
                facts.append((type(said), said.mention, said.mention))
            elif before(said.mention, said.first):
                raise InvalidSpanError(f"the first appearance {said.first} comes after the mention {said.mention}")
            else:
                facts.append((Must, said.first, said.mention))
                if self.infer_first:
                    facts.append((First, said.first, said.first))
        return Change(_touched(self._closure.add(answer, facts)))

    def withdraw(self, answer: AnswerId) -> Change:
        """Take back an answer, as if it had never been given. Takes time linear in the entities that it touched."""
        closure = self._closure
        if answer not in closure.said:
            raise UnknownAnswerError(f"there is no answer {answer!r} to withdraw, or it was withdrawn before")
        spans = Change(_touched(closure.said[answer])).spans
        closure.withdraw(answer)
        entities = dict.fromkeys(self._entity(span) for span in spans)
        return Change([entity for entity in entities if entity is not None], spans)

    def answers(self) -> list[AnswerId]:
        """The standing answers, in the order given."""
        return list(self._closure.said)

    # What follows from them

    def relation(self, a: Span, b: Span) -> Relation | None:
        """What is known of two spans. A span that is not a mention is CANNOT with everything, even with itself."""
        return self._closure.relation(a, b)

    def explain(self, a: Span, b: Span) -> tuple[AnswerId, ...]:
        """A shortest chain of answers that alone imply `relation(a, b)`, in order from `a` to `b`.

        Empty if nothing is known, and for a span with itself.
        """
        return self._closure.chain(a, b)

    def is_mention(self, span: Span) -> bool:
        """False if an answer says that the span is not a mention."""
        node = self._closure.nodes.get(span)
        return node is None or not node.denials

    def has_no_antecedent(self, span: Span) -> bool:
        """Whether the span is known to be the first of its entity, or not to be a mention."""
        entity = self._entity(span)
        if entity is None:
            return not self.is_mention(span)
        return entity.starts > 0 and entity.first == span

    def spans(self) -> list[Span]:
        """Every span that an answer names, mention or not, in no particular order."""
        return list(self._closure.nodes)

    # Entities

    def entities(self) -> list[Cluster]:
        """All entities in document order, including those of one span."""
        return sorted(
            map(_cluster, self._closure.entities.by_id.values()), key=lambda cluster: document_order(cluster[0])
        )

    def entity_of(self, span: Span) -> Cluster | None:
        """The entity of a span, in document order. None if no answer names the span or it is not a mention."""
        entity = self._entity(span)
        return None if entity is None else _cluster(entity)

    def entity_id(self, span: Span) -> int | None:
        """The number of a span's entity; None where `entity_of` is.

        It stays the same as long as no `Change` names it, and is never used again. A merged entity has one of the two
        numbers; the parts of a divided entity have new ones.
        """
        entity = self._entity(span)
        return None if entity is None else entity.id

    def members(self, entity_id: int) -> Cluster:
        """The spans of an entity in document order."""
        return _cluster(self._closure.entities.by_id[entity_id])

    def cannot_entities(self, entity_id: int) -> list[int]:
        """The entities that cannot-links set apart from an entity. What follows from first appearances is left out."""
        return [other.id for other in self._closure.entities.by_id[entity_id].cannot]

    def first(self, entity_id: int) -> Span:
        """The member that comes first in the document."""
        return self._closure.entities.by_id[entity_id].first

    def known_pairs(self, spans: Iterable[Span]) -> int:
        """The number of pairs with a known relation, with at least one mention in the entity of one of these spans.

        What follows from first appearances is left out.
        """
        entities = {entity for span in spans if (entity := self._entity(span)) is not None}
        pairs = 0
        for entity in entities:
            size = len(entity.members)
            others = (other for other in entity.cannot if other not in entities or entity.id < other.id)
            pairs += size * (size - 1) // 2 + size * sum(len(other.members) for other in others)
        return pairs

    def _entity(self, span: Span) -> Entity | None:
        node = self._closure.nodes.get(span)
        return None if node is None else node.entity


def _touched(facts: Iterable[Fact]) -> list[Entity | Node]:
    """The entities that facts are about, and the nodes without an entity."""
    return [node.entity or node for fact in facts for node in (fact.a, fact.b)]


def _cluster(entity: Entity) -> Cluster:
    return tuple(sorted(entity.spans(), key=document_order))

"""Links: what answers say about the mentions of one document, closed under what follows.

An answer that the closure excludes raises and changes nothing. Any answer can be withdrawn; the links are then as if
it had never been given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corefine.document import Cluster, Document, Span, document_order
from corefine.errors import OutsideError, UnknownAnswerError
from corefine.links.assertions import AnswerId, Assertion, First, NotAMention, Relation
from corefine.links.closure import Closure
from corefine.links.entities import Entity, differ, pairs_apart, pairs_within
from corefine.links.facts import DIFFERENT, SAME, Claim, Fact, Node, before, claims_of, link


class Change:
    """What an answer, or its withdrawal, touched.

    `spans` are gathered when asked for, so that an answer about a large entity costs no more than one about a small.
    Asked for after later answers, they may be more than was touched, never fewer.
    """

    __slots__ = ("_also", "_touched")

    def __init__(self, touched: Sequence[Entity | Node], also: frozenset[Span] = frozenset()) -> None:
        self._touched = touched
        self._also = also

    @property
    def entities(self) -> frozenset[int]:
        """The ids of the touched entities, as they were right after the change."""
        return frozenset(each.id for each in self._touched if isinstance(each, Entity))

    @property
    def spans(self) -> frozenset[Span]:
        """The touched spans: every relation that changed has at least one end among them."""
        touched = dict.fromkeys(self._touched)
        return self._also.union(*(each.spans() if isinstance(each, Entity) else (each.span,) for each in touched))


class Links:
    """Must-links and cannot-links between spans of one document, kept closed one answer at a time.

    document       if given, a span outside it is refused
    infer_first    whether "f is the first appearance of m's entity" also says that the entity has no mention
                   before f, and not only that f and m are one entity

    Every span that an answer names is in exactly one entity, alone if nothing links it, unless it is not a mention.
    """

    def __init__(self, document: Document | None = None, *, infer_first: bool = False) -> None:
        self._document = document
        self.infer_first = infer_first
        self._closure = Closure()

    # Answers

    def must(self, a: Span, b: Span, *, answer: AnswerId) -> Change:
        """Take an answer: `a` and `b` are one entity."""
        return self._take(answer, [link(SAME, a, b)])

    def cannot(self, a: Span, b: Span, *, answer: AnswerId) -> Change:
        """Take an answer: `a` and `b` are two entities."""
        return self._take(answer, [link(DIFFERENT, a, b)])

    def first_of(self, first: Span, mention: Span, *, answer: AnswerId) -> Change:
        """Take an answer: `first`, an earlier span or `mention` itself, is the first of the entity of `mention`."""
        return self.assert_all(answer, (First(first, mention),))

    def not_a_mention(self, mention: Span, *, answer: AnswerId) -> Change:
        """Take an answer: `mention` refers to nothing."""
        return self.assert_all(answer, (NotAMention(mention),))

    def assert_all(self, answer: AnswerId, assertions: Iterable[Assertion]) -> Change:
        """Take an answer that asserts all of these, or none of them; to an answer given before they are added.

        Raises OutsideError for what cannot be meant and ContradictionError for what is excluded by what was said; the
        links are then as they were.
        """
        claims: list[Claim] = []
        for assertion in assertions:
            claims += claims_of(assertion, infer_first=self.infer_first)
        return self._take(answer, claims)

    def _take(self, answer: AnswerId, claims: list[Claim]) -> Change:
        if self._document is not None:
            _check_inside(self._document, claims)
        return Change(_touched(self._closure.take(answer, claims)))

    def withdraw(self, answer: AnswerId) -> Change:
        """Take an answer back; costs no more than going through the entities it touched."""
        closure = self._closure
        if answer not in closure.said:
            raise UnknownAnswerError(f"there is no answer {answer!r} to withdraw, or it was withdrawn before")
        spans = Change(_touched(closure.said[answer])).spans
        closure.withdraw(answer)
        entities = dict.fromkeys(self._entity(span) for span in spans)
        return Change([entity for entity in entities if entity is not None], spans)

    def answers(self) -> list[AnswerId]:
        """The answers that stand, in the order given."""
        return list(self._closure.said)

    # What follows from them

    def relation(self, a: Span, b: Span) -> Relation | None:
        """What is known of two spans. A span that is not a mention is CANNOT with everything, itself included."""
        return self._closure.relation(a, b)

    def explain(self, a: Span, b: Span) -> tuple[AnswerId, ...]:
        """A shortest chain of answers that by themselves imply `relation(a, b)`, in order from `a` to `b`.

        Empty where nothing is known, and for a span with itself.
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

    # Entities

    def entities(self) -> list[Cluster]:
        """All entities in document order, those of one span included."""
        return _clusters(self._closure.entities)

    def entity_of(self, span: Span) -> Cluster | None:
        """The spans of an entity in document order; None if no answer names the span or it is not a mention."""
        entity = self._entity(span)
        return None if entity is None else _cluster(entity)

    def conflicts(self, span: Span) -> list[Cluster]:
        """The entities that the span cannot be, in document order."""
        if not self.is_mention(span):
            return self.entities()
        entity = self._entity(span)
        if entity is not None:
            return _clusters(self._conflicting(entity))
        others = self._closure.entities
        return _clusters(other for other in others if other.starts and before(span, other.first))

    def entity_id(self, span: Span) -> int | None:
        """A number for the entity of a span; None where `entity_of` is.

        It stays as long as no `Change` names it and is never used for another entity. When entities are merged one
        keeps its number; when one is divided, the parts get new ones.
        """
        entity = self._entity(span)
        return None if entity is None else entity.id

    def members(self, entity_id: int) -> Cluster:
        """The spans of an entity in document order."""
        return _cluster(self._closure.entities.by_id(entity_id))

    def cannot_ids(self, entity_id: int) -> set[int]:
        """The entities that an entity cannot be, whether answers say so or it follows from first appearances."""
        return {other.id for other in self._conflicting(self._closure.entities.by_id(entity_id))}

    def said_apart(self, entity_id: int) -> list[int]:
        """The entities that answers set apart from an entity; what first appearances add to that is left out."""
        return [other.id for other in self._closure.entities.by_id(entity_id).cannot]

    def first(self, entity_id: int) -> Span:
        """The member that comes first in the document."""
        return self._closure.entities.by_id(entity_id).first

    def floor(self, entity_id: int) -> Span | None:
        """The first span of an entity if it is known that no mention comes before it, else None."""
        entity = self._closure.entities.by_id(entity_id)
        return entity.first if entity.starts else None

    def spans(self) -> list[Span]:
        """Every span that an answer names, mention or not, in no particular order."""
        return list(self._closure.nodes)

    def known_pairs(self, spans: Iterable[Span]) -> int:
        """How many pairs answers have related that have an end in the entity of one of these spans."""
        touched = {entity for span in spans if (entity := self._entity(span)) is not None}
        return sum(pairs_within(entity) + pairs_apart(entity, touched) for entity in touched)

    def _conflicting(self, entity: Entity) -> list[Entity]:
        return [other for other in self._closure.entities if other is not entity and differ(entity, other)]

    def _entity(self, span: Span) -> Entity | None:
        node = self._closure.nodes.get(span)
        return None if node is None else node.entity


def _touched(facts: Iterable[Fact]) -> list[Entity | Node]:
    """The entities that facts are about, as they are now, and the nodes that are in none."""
    return [node.entity or node for fact in facts for node in (fact.a, fact.b)]


def _check_inside(document: Document, claims: Iterable[Claim]) -> None:
    for _, *spans in claims:
        for span in spans:
            if not document.holds(span):
                raise OutsideError(f"span {span} is outside document {document.key} of {len(document)} tokens")


def _cluster(entity: Entity) -> Cluster:
    return tuple(sorted(entity.spans(), key=document_order))


def _clusters(entities: Iterable[Entity]) -> list[Cluster]:
    return sorted(map(_cluster, entities), key=lambda cluster: document_order(cluster[0]))

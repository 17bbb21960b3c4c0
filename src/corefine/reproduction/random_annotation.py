"""A random annotation of one document, as the discrete protocol gives it; what the closures are timed on.

Entities are as unequal as in long texts: mentions join them by a Pitman-Yor process, a new entity or an old one in
proportion to its size. DISCOUNT and STRENGTH are set so that 1,600 mentions look like the first 1,600 of the novels of
OpenBoek (means of 100 seeds, and of its 9 texts):

                                                    here   OpenBoek
    share of all mentions in the largest entity    15.6 %    18.3 %
    in the second, in the third                     8.5, 5.3  9.2, 4.8
    entities that have one mention                 74.7 %    73.8 %
    mean size of the entity of a mention           80.7      82.7
    entities                                        467       606

Mentions are asked about in random order, each once. The model proposes the nearest antecedent among the WINDOW
mentions before it in ACCURACY of the cases where there is one, and else any other of these that is not yet excluded.
A mention whose antecedent follows from earlier answers is not asked about. A yes is one link; a no is two, the
cannot-link and the first appearance of the entity, which may be the mention itself. About four in ten answers are yes.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from random import Random

from corefine.document import Span
from corefine.links import Assertion, Cannot, First, Links, Must, Relation

DISCOUNT = 0.74
STRENGTH = 4.0
ACCURACY = 0.7
WINDOW = 100
TRIES = 100
"""After so many excluded proposals there is nothing left to ask about a mention."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """Mentions of a document in order, and what was asserted about them, one link at a time."""

    mentions: tuple[Span, ...]
    links: tuple[Assertion, ...]


def annotation(*, mentions: int, links: int, seed: int) -> Annotation:
    """So many links about a document of so many mentions; fewer if all questions are answered before."""
    random = Random(seed)
    spans = tuple(Span(2 * place, 2 * place) for place in range(mentions))
    annotator = _Annotator(spans, entities_of(mentions, random), random)
    asserted: list[Assertion] = []
    for mention in random.sample(range(1, mentions), mentions - 1):
        if len(asserted) >= links:
            break
        asserted += annotator.ask(mention)
    return Annotation(spans, tuple(asserted[:links]))


def entities_of(mentions: int, random: Random) -> list[int]:
    """The entity of each mention."""
    entity_of: list[int] = []
    sizes: list[int] = []
    for place in range(mentions):
        if random.random() * (place + STRENGTH) < STRENGTH + DISCOUNT * len(sizes):
            entity_of.append(len(sizes))
            sizes.append(1)
            continue
        while True:  # an old entity with probability proportional to its size - DISCOUNT
            entity = entity_of[random.randrange(place)]
            if random.random() * sizes[entity] < sizes[entity] - DISCOUNT:
                break
        entity_of.append(entity)
        sizes[entity] += 1
    return entity_of


class _Annotator:
    """Model and person in one: proposes an antecedent and answers, keeping track of what follows."""

    def __init__(self, spans: tuple[Span, ...], entity_of: list[int], random: Random) -> None:
        self._spans = spans
        self._entity_of = entity_of
        self._members: dict[int, list[int]] = {}
        for place, entity in enumerate(entity_of):
            self._members.setdefault(entity, []).append(place)
        self._random = random
        self._links = Links()

    def ask(self, mention: int) -> list[Assertion]:
        """What the answer about a mention asserts; nothing if there is nothing to ask."""
        proposed = None if self._is_settled(mention) else self._proposed(mention)
        if proposed is None:
            return []
        entity = self._entity_of[mention]
        antecedent, span = self._spans[proposed], self._spans[mention]
        if self._entity_of[proposed] == entity:
            said: list[Assertion] = [Must(antecedent, span)]
        else:
            said = [Cannot(antecedent, span), First(self._spans[self._members[entity][0]], span)]
        self._links.add(mention, *said)
        return said

    def _is_settled(self, mention: int) -> bool:
        span = self._spans[mention]
        entity = self._links.entity_id(span)
        return entity is not None and self._links.first(entity) < span

    def _proposed(self, mention: int) -> int | None:
        start = max(0, mention - WINDOW)
        members = self._members[self._entity_of[mention]]
        earlier = bisect_left(members, mention)
        near = bool(earlier) and members[earlier - 1] >= start
        if near and self._random.random() < ACCURACY:
            return members[earlier - 1]
        for _ in range(TRIES):
            place = self._random.randrange(start, mention)
            excluded = self._links.relation(self._spans[place], self._spans[mention]) is Relation.CANNOT
            if not excluded and self._entity_of[place] != self._entity_of[mention]:
                return place
        return None

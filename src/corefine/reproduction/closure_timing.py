"""Microseconds to take one more link: ours, the paper's Algorithm 1, and the closure from scratch.

All three take the same links, one at a time: those of a random annotation of a document with as many mentions as links.
The last 100 links are timed, in processor time, and the fastest of several replays counts. Some links say that a
mention is the first of its entity. The two others must then exclude every earlier mention as a pair of its own.

The annotation resembles one of a long text. Mentions join entities by a Pitman-Yor process: a new entity, or an old one
in proportion to its size. DISCOUNT and STRENGTH make 1,600 mentions look like the first 1,600 of the novels of OpenBoek
(means of 100 seeds, and of its 9 texts):

                                                    here   OpenBoek
    share of all mentions in the largest entity    15.6 %    18.3 %
    in the second, in the third                     8.5, 5.3  9.2, 4.8
    entities that have one mention                 74.7 %    73.8 %
    mean size of the entity of a mention           80.7      82.7
    entities                                        467       606

Mentions are asked about in random order, each once. If the nearest antecedent is among the WINDOW mentions before it,
the model proposes it in ACCURACY of the cases. Otherwise it proposes another of these mentions that is not yet
excluded. A mention whose antecedent follows from earlier answers is not asked about. A yes is one link. A no is two:
the cannot-link, and the first appearance of the entity. About four in ten answers are yes.
"""

from __future__ import annotations

import gc
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from random import Random

from corefine.document import Span
from corefine.links import Assertion, Cannot, First, Links, Must, Relation
from corefine.links.reference import Algorithm1, FromScratch, PairClosure

LAST = 100
"""How many links are timed, at the end of an annotation."""

SIZES = (100, 200, 400, 800, 1_600)
"""Links at which the report compares the three."""
SCRATCH_TIMED = 2
"""Links that the report times from scratch; each takes a second or more at 1,600."""

DISCOUNT = 0.74
STRENGTH = 4.0
ACCURACY = 0.7
WINDOW = 100
TRIES = 100
"""How many excluded proposals it takes until a mention is not asked about."""

ClosureTimes = dict[str, list[tuple[int, float]]]
"""For each method, the number of links and the milliseconds to take one more."""

Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class RandomLinks:
    """The mentions of a document in order, and links between them in the order in which they are asserted."""

    mentions: tuple[Span, ...]
    links: tuple[Assertion, ...]


def closure_times(sizes: Iterable[int] = SIZES) -> ClosureTimes:
    """Time all three at each size."""
    times: ClosureTimes = {"ours": [], "Algorithm 1": [], "from scratch": []}
    for size in sizes:
        made = random_links(size, seed=0)
        times["ours"].append((size, ours_us(made, replays=3) / 1000))
        times["Algorithm 1"].append((size, algorithm1_us(made, replays=1) / 1000))
        times["from scratch"].append((size, scratch_us(made, SCRATCH_TIMED) / 1000))
    return times


def ours_us(made: RandomLinks, *, replays: int = 9) -> float:
    """Microseconds that one of the last links takes here."""

    def replay() -> float:
        links = Links()
        return _time_last(made, lambda number, link: partial(links.add, number, link))

    return min(replay() for _ in range(replays))


def algorithm1_us(made: RandomLinks, *, replays: int = 5) -> float:
    """Microseconds that one of the last links takes with the paper's Algorithm 1."""

    def replay() -> float:
        closure = Algorithm1(made.mentions)
        us = _time_last(made, lambda _, link: partial(closure.add, link))
        _check_agrees(closure, made)
        return us

    return min(replay() for _ in range(replays))


def scratch_us(made: RandomLinks, timed: int) -> float:
    """Microseconds that one of the last links takes from scratch; only `timed` of them are timed."""
    closure = FromScratch(made.mentions)
    start = len(made.links) - min(LAST, len(made.links))
    step = max(1, (len(made.links) - start) // timed)
    chosen = set(range(len(made.links) - 1, start - 1, -step)[:timed])
    spent = 0.0
    with _no_garbage_collection():
        for number, link in enumerate(made.links):
            if number in chosen:
                spent += _time([partial(closure.add, link)])
            else:
                closure.note(link)
    _check_agrees(closure, made)
    return spent / len(chosen)


def _time_last(made: RandomLinks, call_for: Callable[[int, Assertion], Call]) -> float:
    """Take all links; return the mean microseconds of the last ones."""
    numbered = list(enumerate(made.links))
    with _no_garbage_collection():
        for number, link in numbered[:-LAST]:
            call_for(number, link)()
        last = [call_for(number, link) for number, link in numbered[-LAST:]]
        return _time(last) / len(last)


def _time(calls: Iterable[Call]) -> float:
    """Microseconds of processor time for all calls; other processes disturb it less than the clock."""
    start = time.process_time_ns()
    for call in calls:
        call()
    return (time.process_time_ns() - start) / 1000


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """As `timeit` does, since a collection would count for whichever link it happens to interrupt."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _check_agrees(closure: PairClosure, made: RandomLinks, pairs: int = 2_000) -> None:
    """Raise unless a closure has the same result as ours on random pairs."""
    links = Links()
    for number, link in enumerate(made.links):
        links.add(number, link)
    random = Random(0)
    for _ in range(pairs):
        a, b = random.choice(made.mentions), random.choice(made.mentions)
        if links.relation(a, b) is not closure.relation(a, b):
            raise RuntimeError(f"{type(closure).__name__} and ours differ on {a} and {b}")


def random_links(links: int, *, seed: int, mentions: int | None = None) -> RandomLinks:
    """A random annotation with this many links, or fewer if all questions are answered before.

    mentions    of the document; by default as many as links
    """
    random = Random(seed)
    spans = tuple(Span(2 * place, 2 * place) for place in range(mentions or links))
    annotator = _Annotator(spans, random_entities(len(spans), random), random)
    asserted: list[Assertion] = []
    for mention in random.sample(range(1, len(spans)), len(spans) - 1):
        if len(asserted) >= links:
            break
        asserted += annotator.ask(mention)
    return RandomLinks(spans, tuple(asserted[:links]))


def random_entities(mentions: int, random: Random) -> list[int]:
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
    """Proposes antecedents as a model would, and answers as a person would."""

    def __init__(self, spans: tuple[Span, ...], entity_of: list[int], random: Random) -> None:
        self._spans = spans
        self._entity_of = entity_of
        self._members: dict[int, list[int]] = {}
        for place, entity in enumerate(entity_of):
            self._members.setdefault(entity, []).append(place)
        self._random = random
        self._links = Links()

    def ask(self, mention: int) -> list[Assertion]:
        """What the answer about a mention asserts; nothing if it need not be asked about."""
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
        if earlier and members[earlier - 1] >= start and self._random.random() < ACCURACY:
            return members[earlier - 1]
        for _ in range(TRIES):
            place = self._random.randrange(start, mention)
            excluded = self._links.relation(self._spans[place], self._spans[mention]) is Relation.CANNOT
            if not excluded and self._entity_of[place] != self._entity_of[mention]:
                return place
        return None

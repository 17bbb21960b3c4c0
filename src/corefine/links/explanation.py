"""The shortest chain of answers that implies a relation.

A breadth-first search on mentions, in which one step is one answer: all that an answer says by itself may be used
for one step. A must-link follows SAME facts; a cannot-link follows them from one mention, crosses over once (by a
DIFFERENT fact, or because one entity starts after a mention of the other), and follows them to the other mention.

Counting steps counts answers as long as the facts of an answer share a mention, as in both protocols. For an answer
that says unconnected things the chain is still sufficient and names it once, but a chain of fewer answers may exist
(finding it is the minimum-label path problem, which is NP-hard).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from corefine.links.assertions import AnswerId
from corefine.links.facts import DIFFERENT, SAME, STARTS, Fact, Kind, Node, before

Said = Mapping[AnswerId, Sequence[Fact]]
"""What each answer says."""

NOBODY: AnswerId = object()
"""No answer: who is on it stands at a mention and may take up any answer."""


class Stop(NamedTuple):
    """Where the search is: at a mention, before or after crossing over, using an answer or none."""

    node: Node
    crossed: bool
    using: AnswerId


Step = tuple[Stop, AnswerId]
"""Where to, and which answer it costs (NOBODY: nothing)."""


def must_chain(said: Said, start: Node, found: Callable[[Node], bool], free: AnswerId = NOBODY) -> tuple[AnswerId, ...]:
    """Answers by which `start` is one entity with the nearest mention that `found` accepts.

    The answer `free` costs nothing and is not named.
    """
    return _search(_Walk(said, {}), start, found, free)


def cannot_chain(said: Said, start: Node, goal: Node, free: AnswerId = NOBODY) -> tuple[AnswerId, ...]:
    """Answers by which `start` is another entity than `goal`, likewise."""
    far = dict.fromkeys((goal,) if goal.entity is None else goal.entity.members)
    return _search(_Walk(said, far), start, lambda node: node is goal, free)


def one_answer(node: Node, kind: Kind) -> tuple[AnswerId, ...]:
    """The first answer that states such a fact on the node, or none."""
    return tuple(fact.answer for fact in node.facts if fact.kind is kind)[:1]


def _search(walk: _Walk, start: Node, found: Callable[[Node], bool], free: AnswerId) -> tuple[AnswerId, ...]:
    """Answers used on a shortest way; empty if there is no way."""
    at_start = Stop(start, False, NOBODY)
    came_from: dict[Stop, Stop] = {}
    queue = deque([(at_start, at_start)])
    while queue:
        stop, last = queue.popleft()
        if stop in came_from:
            continue
        came_from[stop] = last
        if stop.using is NOBODY and stop.crossed == bool(walk.far) and found(stop.node):
            return _answers(came_from, stop, free)
        for target, cost in walk.steps(stop):
            if cost is NOBODY or cost == free:
                queue.appendleft((target, stop))
            else:
                queue.append((target, stop))
    return ()


def _answers(came_from: dict[Stop, Stop], stop: Stop, free: AnswerId) -> tuple[AnswerId, ...]:
    used = []
    while came_from[stop] is not stop:
        if stop.using is not NOBODY and stop.using != free:
            used.append(stop.using)
        stop = came_from[stop]
    return tuple(dict.fromkeys(reversed(used)))


class _Walk:
    """The graph that is searched; `far` is the entity to cross over to, empty if there is none."""

    def __init__(self, said: Said, far: dict[Node, None]) -> None:
        self.far = far
        self._said = said
        self._by_node: dict[AnswerId, dict[Node, list[Fact]]] = {}
        starts = [fact for node in far for fact in node.facts if fact.kind is STARTS]
        self._far_starts = dict.fromkeys(fact.answer for fact in starts)
        self._far_first = starts[0].a if starts else None  # they are all about one mention
        self._crossed_by_start = False

    def steps(self, stop: Stop) -> Iterator[Step]:
        return self._take_up(stop) if stop.using is NOBODY else self._follow(stop)

    def _take_up(self, stop: Stop) -> Iterator[Step]:
        node, crossed, _ = stop
        for answer in dict.fromkeys(fact.answer for fact in node.facts):
            yield Stop(node, crossed, answer), answer
        first = self._far_first
        if first is not None and not crossed and not self._crossed_by_start and before(node.span, first.span):
            self._crossed_by_start = True  # nobody who comes later comes cheaper
            for answer in self._far_starts:
                yield Stop(first, True, answer), answer

    def _follow(self, stop: Stop) -> Iterator[Step]:
        node, crossed, answer = stop
        yield Stop(node, crossed, NOBODY), NOBODY
        for fact in self._facts(answer).get(node, ()):
            if fact.kind is SAME:
                yield Stop(fact.other(node), crossed, answer), NOBODY
            elif fact.kind is DIFFERENT and not crossed and fact.other(node) in self.far:
                yield Stop(fact.other(node), True, answer), NOBODY
            elif fact.kind is STARTS and not crossed and not self._crossed_by_start:
                earlier = [mention for mention in self.far if before(mention.span, node.span)]
                self._crossed_by_start = bool(earlier)
                yield from ((Stop(mention, True, answer), NOBODY) for mention in earlier)

    def _facts(self, answer: AnswerId) -> dict[Node, list[Fact]]:
        """What an answer says, by whom it is about."""
        facts = self._by_node.get(answer)
        if facts is None:
            facts = self._by_node[answer] = {}
            for fact in self._said[answer]:
                facts.setdefault(fact.a, []).append(fact)
                if fact.b is not fact.a:
                    facts.setdefault(fact.b, []).append(fact)
        return facts

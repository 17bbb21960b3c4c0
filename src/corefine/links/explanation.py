"""The shortest chain of answers that implies a relation.

The search is breadth-first over mentions. Using an answer is one step; everything that this answer says can then be
used at no further cost. A must-link follows `Must` facts. A cannot-link follows them from one mention, crosses once to
the entity of the other (by a `Cannot` fact, or because one entity starts after a mention of the other), and follows
them to the other mention.

The chain is shortest if the facts of each answer share a mention, as in all protocols. For an answer that says
unconnected things the chain still suffices and names it once, but a chain of fewer answers may exist. (Finding it is
the minimum-label path problem, which is NP-hard.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from corefine.links.assertions import AnswerId, Assertion, Cannot, First, Must
from corefine.links.entities import Fact, Node, before

Said = Mapping[AnswerId, Sequence[Fact]]
"""The facts of each answer."""

NO_ANSWER: AnswerId = object()
"""Stands for "no answer is being used"."""


class _Place(NamedTuple):
    """A state of the search: a mention, before or after crossing, and the answer that is being used."""

    node: Node
    crossed: bool
    using: AnswerId


_Steps = Iterator[tuple[_Place, AnswerId]]
"""Places to go to, each with the answer that it costs; NO_ANSWER costs nothing."""


def must_chain(
    said: Said, start: Node, found: Callable[[Node], bool], free: AnswerId = NO_ANSWER
) -> tuple[AnswerId, ...]:
    """The fewest answers that link `start` to a mention `found` accepts.

    The answer `free` costs nothing and is not named.
    """
    return _search(_Graph(said, {}), start, found, free)


def cannot_chain(said: Said, start: Node, goal: Node, free: AnswerId = NO_ANSWER) -> tuple[AnswerId, ...]:
    """The fewest answers by which `start` is not the same entity as `goal`."""
    far = dict.fromkeys((goal,) if goal.entity is None else goal.entity.members)
    return _search(_Graph(said, far), start, lambda node: node is goal, free)


def one_answer(node: Node, kind: type[Assertion]) -> tuple[AnswerId, ...]:
    """The first answer with a fact of this kind on the node, if there is one."""
    return tuple(fact.answer for fact in node.facts if fact.kind is kind)[:1]


def _search(graph: _Graph, start: Node, found: Callable[[Node], bool], free: AnswerId) -> tuple[AnswerId, ...]:
    """The answers on a shortest path, empty if there is no path."""
    source = _Place(start, False, NO_ANSWER)
    came_from: dict[_Place, _Place] = {}
    queue = deque([(source, source)])
    while queue:
        place, last = queue.popleft()
        if place in came_from:
            continue
        came_from[place] = last
        if place.using is NO_ANSWER and place.crossed == bool(graph.far) and found(place.node):
            break
        for target, cost in graph.steps(place):
            if cost is NO_ANSWER or cost == free:
                queue.appendleft((target, place))
            else:
                queue.append((target, place))
    else:
        return ()
    used = []
    while came_from[place] is not place:
        if place.using is not NO_ANSWER and place.using != free:
            used.append(place.using)
        place = came_from[place]
    return tuple(dict.fromkeys(reversed(used)))


class _Graph:
    """The graph to search. `far` is the entity to cross to, empty if there is none."""

    def __init__(self, said: Said, far: dict[Node, None]) -> None:
        self.far = far
        self._said = said
        self._by_node: dict[AnswerId, dict[Node, list[Fact]]] = {}
        starts = [fact for node in far for fact in node.facts if fact.kind is First]
        self._far_starts = dict.fromkeys(fact.answer for fact in starts)
        self._far_first = starts[0].a if starts else None  # all are about the same mention
        self._crossed_by_start = False

    def steps(self, place: _Place) -> _Steps:
        return self._take_up(place) if place.using is NO_ANSWER else self._use(place)

    def _take_up(self, place: _Place) -> _Steps:
        """Use an answer about this mention, or one that says that the far entity starts after it."""
        node, crossed, _ = place
        for answer in dict.fromkeys(fact.answer for fact in node.facts):
            yield _Place(node, crossed, answer), answer
        first = self._far_first
        if first is not None and not crossed and not self._crossed_by_start and before(node.span, first.span):
            self._crossed_by_start = True  # once is enough: a later crossing is not shorter
            for answer in self._far_starts:
                yield _Place(first, True, answer), answer

    def _use(self, place: _Place) -> _Steps:
        """Follow what the answer says, or stop using it."""
        node, crossed, answer = place
        yield _Place(node, crossed, NO_ANSWER), NO_ANSWER
        for fact in self._facts(answer).get(node, ()):
            if fact.kind is Must:
                yield _Place(fact.other(node), crossed, answer), NO_ANSWER
            elif fact.kind is Cannot and not crossed and fact.other(node) in self.far:
                yield _Place(fact.other(node), True, answer), NO_ANSWER
            elif fact.kind is First and not crossed and not self._crossed_by_start:
                earlier = [mention for mention in self.far if before(mention.span, node.span)]
                self._crossed_by_start = bool(earlier)
                yield from ((_Place(mention, True, answer), NO_ANSWER) for mention in earlier)

    def _facts(self, answer: AnswerId) -> dict[Node, list[Fact]]:
        """The facts of an answer, by node."""
        facts = self._by_node.get(answer)
        if facts is None:
            facts = self._by_node[answer] = {}
            for fact in self._said[answer]:
                for node in {fact.a: None, fact.b: None}:
                    facts.setdefault(node, []).append(fact)
        return facts

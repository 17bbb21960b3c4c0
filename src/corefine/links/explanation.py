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


class _SearchState(NamedTuple):
    """A state of the search: a mention, before or after crossing, and the answer that is being used."""

    node: Node
    crossed: bool
    using: AnswerId


_Steps = Iterator[tuple[_SearchState, AnswerId]]
"""States to go to, each with the answer that it costs; NO_ANSWER costs nothing."""


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
    source = _SearchState(start, False, NO_ANSWER)
    came_from: dict[_SearchState, _SearchState] = {}
    queue = deque([(source, source)])
    while queue:
        state, last = queue.popleft()
        if state in came_from:
            continue
        came_from[state] = last
        if state.using is NO_ANSWER and state.crossed == bool(graph.far) and found(state.node):
            break
        for target, cost in graph.steps(state):
            if cost is NO_ANSWER or cost == free:
                queue.appendleft((target, state))
            else:
                queue.append((target, state))
    else:
        return ()
    used = []
    while came_from[state] is not state:
        if state.using is not NO_ANSWER and state.using != free:
            used.append(state.using)
        state = came_from[state]
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

    def steps(self, state: _SearchState) -> _Steps:
        return self._start_answer(state) if state.using is NO_ANSWER else self._use(state)

    def _start_answer(self, state: _SearchState) -> _Steps:
        """Start to use an answer about this mention, or one that says that the far entity starts after it."""
        node, crossed, _ = state
        for answer in dict.fromkeys(fact.answer for fact in node.facts):
            yield _SearchState(node, crossed, answer), answer
        first = self._far_first
        if first is not None and not crossed and not self._crossed_by_start and before(node.span, first.span):
            self._crossed_by_start = True  # once is enough: a later crossing is not shorter
            for answer in self._far_starts:
                yield _SearchState(first, True, answer), answer

    def _use(self, state: _SearchState) -> _Steps:
        """Follow what the answer says, or stop using it."""
        node, crossed, answer = state
        yield _SearchState(node, crossed, NO_ANSWER), NO_ANSWER
        for fact in self._facts(answer).get(node, ()):
            if fact.kind is Must:
                yield _SearchState(fact.other(node), crossed, answer), NO_ANSWER
            elif fact.kind is Cannot and not crossed and fact.other(node) in self.far:
                yield _SearchState(fact.other(node), True, answer), NO_ANSWER
            elif fact.kind is First and not crossed and not self._crossed_by_start:
                earlier = [mention for mention in self.far if before(mention.span, node.span)]
                self._crossed_by_start = bool(earlier)
                yield from ((_SearchState(mention, True, answer), NO_ANSWER) for mention in earlier)

    def _facts(self, answer: AnswerId) -> dict[Node, list[Fact]]:
        """The facts of an answer, by node."""
        facts = self._by_node.get(answer)
        if facts is None:
            facts = self._by_node[answer] = {}
            for fact in self._said[answer]:
                for node in {fact.a: None, fact.b: None}:
                    facts.setdefault(node, []).append(fact)
        return facts

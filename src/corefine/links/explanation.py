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
from collections.abc import Callable, Iterator
from typing import NamedTuple

from corefine.document import Span
from corefine.links.assertions import Answer
from corefine.links.facts import Book, Fact, Kind, before

NOBODY: Answer = object()
"""No answer: a walker on it stands at a mention and may take up any answer."""


class Node(NamedTuple):
    """Where the search is: at a mention, before or after crossing over, using an answer or none."""

    span: Span
    crossed: bool
    using: Answer


Step = tuple[Node, Answer]
"""Where to, and which answer it costs (NOBODY: nothing)."""


def must_chain(book: Book, start: Span, found: Callable[[Span], bool], free: Answer = NOBODY) -> tuple[Answer, ...]:
    """Answers by which `start` is one entity with the nearest mention that `found` accepts."""
    return _search(_Walk(book, frozenset()), Node(start, False, NOBODY), found, free)


def cannot_chain(
    book: Book, start: Span, goal: Span, far: frozenset[Span], free: Answer = NOBODY
) -> tuple[Answer, ...]:
    """Answers by which `start` is another entity than `goal`, whose entity is `far`."""
    return _search(_Walk(book, far), Node(start, False, NOBODY), lambda span: span == goal, free)


def _search(walk: _Walk, start: Node, found: Callable[[Span], bool], free: Answer) -> tuple[Answer, ...]:
    """Answers used on a shortest way; `free` costs nothing and is not named. Empty if there is no way."""
    came_from: dict[Node, Node] = {}
    queue = deque([(start, start)])
    while queue:
        node, parent = queue.popleft()
        if node in came_from:
            continue
        came_from[node] = parent
        if node.using is NOBODY and node.crossed == bool(walk.far) and found(node.span):
            return _answers(came_from, node, free)
        for target, cost in walk.steps(node):
            if cost is NOBODY or cost == free:
                queue.appendleft((target, node))
            else:
                queue.append((target, node))
    return ()


def _answers(came_from: dict[Node, Node], node: Node, free: Answer) -> tuple[Answer, ...]:
    used = []
    while came_from[node] is not node:
        if node.using is not NOBODY and node.using != free:
            used.append(node.using)
        node = came_from[node]
    return tuple(dict.fromkeys(reversed(used)))


class _Walk:
    """The graph that is searched."""

    def __init__(self, book: Book, far: frozenset[Span]) -> None:
        self.far = far
        self._book = book
        self._said: dict[Answer, dict[Span, list[Fact]]] = {}
        # All facts that start an entity are about its first mention, so these are about one span.
        starts = [fact for span in far for fact in book.of_span(span) if fact.kind is Kind.STARTS]
        self._far_starts = dict.fromkeys(fact.answer for fact in starts)
        self._far_first = starts[0].a if starts else None
        self._crossed_to_start = False
        self._crossed_from_start = False

    def steps(self, node: Node) -> Iterator[Step]:
        return self._take_up(node) if node.using is NOBODY else self._follow(node)

    def _take_up(self, node: Node) -> Iterator[Step]:
        span, crossed, _ = node
        for answer in dict.fromkeys(fact.answer for fact in self._book.of_span(span)):
            yield Node(span, crossed, answer), answer
        first = self._far_first
        if first is not None and not crossed and not self._crossed_to_start and before(span, first):
            self._crossed_to_start = True  # nobody who comes later comes cheaper
            for answer in self._far_starts:
                yield Node(first, True, answer), answer

    def _follow(self, node: Node) -> Iterator[Step]:
        span, crossed, answer = node
        yield Node(span, crossed, NOBODY), NOBODY
        for fact in self._by_span(answer).get(span, ()):
            if fact.kind is Kind.SAME:
                yield Node(fact.other(span), crossed, answer), NOBODY
            elif crossed:
                continue
            elif fact.kind is Kind.DIFFERENT and fact.other(span) in self.far:
                yield Node(fact.other(span), True, answer), NOBODY
            elif fact.kind is Kind.STARTS:
                yield from ((Node(mention, True, answer), NOBODY) for mention in self._far_before(span, answer))
        first = self._far_first
        if first is not None and not crossed and answer in self._far_starts and before(span, first):
            yield Node(first, True, answer), NOBODY

    def _far_before(self, start: Span, answer: Answer) -> Iterator[Span]:
        """Mentions of the far entity before `start`: all of them once, then only those the answer goes on from."""
        mentions = self._by_span(answer) if self._crossed_from_start else self.far
        self._crossed_from_start = True
        return (mention for mention in mentions if mention in self.far and before(mention, start))

    def _by_span(self, answer: Answer) -> dict[Span, list[Fact]]:
        said = self._said.get(answer)
        if said is None:
            said = self._said[answer] = {}
            for fact in self._book.of_answer(answer):
                for span in {fact.a, fact.b}:
                    said.setdefault(span, []).append(fact)
        return said

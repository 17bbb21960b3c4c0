"""Two closures that materialise every pair: references for the tests and the benchmark, used nowhere else.

`Algorithm1` is the paper's incremental algorithm; `FromScratch` is what the paper compares it with, which derives all
pairs anew after every link. Both work on a universe of spans fixed beforehand, because first appearances and spans that
are no mentions exclude pairs with spans that no answer names. They do not know answers, so nothing can be withdrawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable

from corefine.document import Span, document_order
from corefine.errors import ContradictionError
from corefine.links.assertions import Assertion, Cannot, First, Must, NotAMention, Relation

Pairs = dict[Span, set[Span]]
"""A symmetric relation: for each span, those that it holds with."""


class PairClosure(ABC):
    """Must-link and cannot-link as pairs.

    musts      a mention is also with itself; a span that is not a mention is not
    cannots    a span that is not a mention is also with itself
    """

    def __init__(self, universe: Iterable[Span], *, infer_first: bool = False) -> None:
        self.universe = sorted(universe, key=document_order)
        self.musts: Pairs = {span: {span} for span in self.universe}
        self.cannots: Pairs = {span: set() for span in self.universe}
        self._infer_first = infer_first
        self._position = {span: position for position, span in enumerate(self.universe)}

    def relation(self, a: Span, b: Span) -> Relation | None:
        if b in self.musts[a]:
            return Relation.MUST
        return Relation.CANNOT if b in self.cannots[a] else None

    def take(self, assertion: Assertion) -> None:
        """Add what is asserted; a contradiction raises and leaves the pairs as they were."""
        if isinstance(assertion, Must):
            self.must(assertion.a, assertion.b)
        elif isinstance(assertion, Cannot):
            self.cannot(assertion.a, assertion.b)
        elif isinstance(assertion, First):
            self.first_of(assertion.first, assertion.mention)
        else:
            self.not_a_mention(assertion.mention)

    @abstractmethod
    def must(self, a: Span, b: Span) -> None: ...

    @abstractmethod
    def cannot(self, a: Span, b: Span) -> None: ...

    @abstractmethod
    def first_of(self, first: Span, mention: Span) -> None: ...

    @abstractmethod
    def not_a_mention(self, mention: Span) -> None: ...

    def _earlier(self, span: Span) -> list[Span]:
        return self.universe[: self._position[span]]

    def _starts(self, first: Span, mention: Span) -> bool:
        return first == mention or self._infer_first


class Algorithm1(PairClosure):
    """The paper's Algorithm 1: with every link, the pairs that newly follow from it are added.

    The pairs are indexed by mention and added a set at a time, which the paper's own code does not do; it is the
    quickest form of the algorithm that we know of.
    """

    def must(self, a: Span, b: Span) -> None:
        musts, cannots = self.musts, self.cannots
        if b in cannots[a]:
            raise _contradiction(Must(a, b))
        if b in musts[a]:
            return
        ours, theirs = set(musts[a]), set(musts[b])
        not_us, not_them = set(cannots[a]), set(cannots[b])
        _add_product(musts, ours, theirs)
        _add_product(cannots, ours, not_them)
        _add_product(cannots, theirs, not_us)

    def cannot(self, a: Span, b: Span) -> None:
        if b in self.musts[a]:
            raise _contradiction(Cannot(a, b))
        if b not in self.cannots[a]:
            _add_product(self.cannots, self.musts[a], self.musts[b])

    def first_of(self, first: Span, mention: Span) -> None:
        """The must-link, and a cannot-link with every earlier span of the universe."""
        starts = self._starts(first, mention)
        if starts and not self.musts[first].union(self.musts[mention]).isdisjoint(self._earlier(first)):
            raise _contradiction(First(first, mention))
        if first != mention:
            self.must(first, mention)
        if starts:
            for span in self._earlier(first):
                self.cannot(span, first)

    def not_a_mention(self, mention: Span) -> None:
        if len(self.musts[mention]) > 1:
            raise _contradiction(NotAMention(mention))
        self.musts[mention].clear()
        _add_product(self.cannots, {mention}, self.universe)


class FromScratch(PairClosure):
    """All links so far, closed anew under the paper's equations 3 and 4 whenever one is added."""

    def __init__(self, universe: Iterable[Span], *, infer_first: bool = False) -> None:
        super().__init__(universe, infer_first=infer_first)
        self._must_links: list[tuple[Span, Span]] = []
        self._cannot_links: list[tuple[Span, Span]] = []

    def must(self, a: Span, b: Span) -> None:
        self._extend(Must(a, b))

    def cannot(self, a: Span, b: Span) -> None:
        self._extend(Cannot(a, b))

    def first_of(self, first: Span, mention: Span) -> None:
        self._extend(First(first, mention))

    def not_a_mention(self, mention: Span) -> None:
        self._extend(NotAMention(mention))

    def note(self, assertion: Assertion) -> None:
        """Add to the links what is asserted, and leave closing them to the next assertion that is taken."""
        if isinstance(assertion, Must):
            self._must_links.append((assertion.a, assertion.b))
        elif isinstance(assertion, Cannot):
            self._cannot_links.append((assertion.a, assertion.b))
        elif isinstance(assertion, NotAMention):
            self._cannot_links += [(assertion.mention, span) for span in self.universe]
        else:
            first, mention = assertion.first, assertion.mention
            if first != mention:
                self._must_links.append((first, mention))
            if self._starts(first, mention):
                self._cannot_links += [(span, first) for span in self._earlier(first)]

    def _extend(self, said: Assertion) -> None:
        before = len(self._must_links), len(self._cannot_links)
        self.note(said)
        musts, cannots = self._closed()
        if any(not musts[span].isdisjoint(cannots[span]) for span in self.universe):
            del self._must_links[before[0] :], self._cannot_links[before[1] :]
            raise _contradiction(said)
        self.musts, self.cannots = musts, cannots

    def _closed(self) -> tuple[Pairs, Pairs]:
        cannots: Pairs = {span: set() for span in self.universe}
        for a, b in self._cannot_links:
            _add_product(cannots, (a,), (b,))
        musts: Pairs = {span: set() if span in cannots[span] else {span} for span in self.universe}
        for a, b in self._must_links:
            _add_product(musts, (a,), (b,))
        _saturate(musts, musts)  # equation 3
        _saturate(cannots, musts)  # equation 4
        return musts, cannots


def _add_product(pairs: Pairs, left: Collection[Span], right: Collection[Span]) -> None:
    """Add every pair of one from the left and one from the right."""
    for span in left:
        pairs[span].update(right)
    for span in right:
        pairs[span].update(left)


def _saturate(pairs: Pairs, musts: Pairs) -> None:
    """Give every span all that holds for what it is must-linked with, until nothing is added."""
    growing = True
    while growing:
        growing = False
        for span, own in pairs.items():
            found = set().union(*(pairs[other] for other in musts[span])) - own
            if found:
                growing = True
                _add_product(pairs, (span,), found)


def _contradiction(assertion: Assertion) -> ContradictionError:
    return ContradictionError(f"that {assertion} contradicts what was said before", ())

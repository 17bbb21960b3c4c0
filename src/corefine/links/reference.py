"""Two closures that store every pair: references for the tests and the benchmark, used nowhere else.

`Algorithm1` is the paper's incremental algorithm. `FromScratch` is what the paper compares it with: it derives all
pairs again after every link. Both work on a fixed set of spans, because first appearances and spans that are not
mentions exclude pairs with spans that no answer names. They do not know answers, so nothing can be withdrawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable

from corefine.document import Span, document_order
from corefine.errors import ContradictionError
from corefine.links.assertions import Assertion, Cannot, First, Must, NotAMention, Relation

Pairs = dict[Span, set[Span]]
"""A symmetric relation: for each span, those related to it."""


class PairClosure(ABC):
    """Must-links and cannot-links as pairs.

    musts      holds each mention with itself, but no span that is not a mention
    cannots    holds each span that is not a mention with itself
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

    @abstractmethod
    def add(self, assertion: Assertion) -> None:
        """Add an assertion. A contradiction raises and leaves the pairs as they were."""

    def _excluded_by(self, assertion: First) -> list[Span]:
        """The spans that come before the entity if the assertion says where it starts."""
        first = assertion.first
        starts = first == assertion.mention or self._infer_first
        return self.universe[: self._position[first]] if starts else []


class Algorithm1(PairClosure):
    """The paper's Algorithm 1: every link adds the pairs that newly follow from it.

    The pairs are indexed by mention and added a set at a time, which the paper's own code does not do. It is the
    fastest form of the algorithm that we know of.
    """

    def add(self, assertion: Assertion) -> None:
        match assertion:
            case Must(a, b):
                self.must(a, b)
            case Cannot(a, b):
                self.cannot(a, b)
            case First(first, mention):
                excluded = self._excluded_by(assertion)
                if not self.musts[first].union(self.musts[mention]).isdisjoint(excluded):
                    raise _contradiction(assertion)
                if first != mention:
                    self.must(first, mention)
                for span in excluded:
                    self.cannot(span, first)
            case NotAMention(mention):
                if len(self.musts[mention]) > 1:
                    raise _contradiction(assertion)
                self.musts[mention].clear()
                _add_product(self.cannots, {mention}, self.universe)

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


class FromScratch(PairClosure):
    """All links so far, closed again under the paper's equations 3 and 4 whenever one is added."""

    def __init__(self, universe: Iterable[Span], *, infer_first: bool = False) -> None:
        super().__init__(universe, infer_first=infer_first)
        self._must_links: list[tuple[Span, Span]] = []
        self._cannot_links: list[tuple[Span, Span]] = []

    def add(self, assertion: Assertion) -> None:
        before = len(self._must_links), len(self._cannot_links)
        self.note(assertion)
        musts, cannots = self._closed()
        if any(not musts[span].isdisjoint(cannots[span]) for span in self.universe):
            del self._must_links[before[0] :], self._cannot_links[before[1] :]
            raise _contradiction(assertion)
        self.musts, self.cannots = musts, cannots

    def note(self, assertion: Assertion) -> None:
        """Add the links of an assertion, but close them only when the next one is added."""
        match assertion:
            case Must(a, b):
                self._must_links.append((a, b))
            case Cannot(a, b):
                self._cannot_links.append((a, b))
            case First(first, mention):
                if first != mention:
                    self._must_links.append((first, mention))
                self._cannot_links += [(span, first) for span in self._excluded_by(assertion)]
            case NotAMention(mention):
                self._cannot_links += [(mention, span) for span in self.universe]

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
    """Add every pair of one span from the left and one from the right."""
    for span in left:
        pairs[span].update(right)
    for span in right:
        pairs[span].update(left)


def _saturate(pairs: Pairs, musts: Pairs) -> None:
    """Give every span all pairs of the spans it is must-linked with, until nothing is added."""
    growing = True
    while growing:
        growing = False
        for span, own in pairs.items():
            found = set().union(*(pairs[other] for other in musts[span])) - own
            if found:
                growing = True
                _add_product(pairs, (span,), found)


def _contradiction(assertion: Assertion) -> ContradictionError:
    return ContradictionError(f"that {assertion} contradicts earlier links", ())

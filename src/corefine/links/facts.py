"""Assertions taken apart into facts of four kinds, and the book that keeps them by answer and by span."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from corefine.document import Span
from corefine.errors import OutsideError
from corefine.links.assertions import Answer, Assertion, Cannot, First, Must


class Kind(Enum):
    SAME = "same"  # a and b are one entity
    DIFFERENT = "different"  # a and b are two
    STARTS = "starts"  # the entity of a (= b) has no mention before a
    NO_MENTION = "no mention"  # a (= b) is none


class Fact:
    """One thing one answer says; facts are compared by identity."""

    __slots__ = ("a", "answer", "b", "kind")

    def __init__(self, kind: Kind, a: Span, b: Span, answer: Answer) -> None:
        self.kind = kind
        self.a = a
        self.b = b
        self.answer = answer

    def other(self, span: Span) -> Span:
        """The end of the fact that is not `span`."""
        return self.b if self.a == span else self.a


def before(a: Span, b: Span) -> bool:
    """Whether `a` comes before `b` in document order; spans of one hull are ordered by their parts."""
    return a < b or (not b < a and a.parts < b.parts)


def facts_of(assertion: Assertion, answer: Answer, *, infer_first: bool) -> list[Fact]:
    """The facts an assertion consists of; one that cannot be meant raises OutsideError."""
    if isinstance(assertion, Must):
        return [link(Kind.SAME, assertion.a, assertion.b, answer)]
    if isinstance(assertion, Cannot):
        return [link(Kind.DIFFERENT, assertion.a, assertion.b, answer)]
    mention = assertion.mention
    if not isinstance(assertion, First):
        return [Fact(Kind.NO_MENTION, mention, mention, answer)]
    first = assertion.first
    if first == mention:
        return [Fact(Kind.STARTS, mention, mention, answer)]
    if before(mention, first):
        raise OutsideError(f"{first} comes after {mention}: a first appearance is the mention itself or before it")
    same = Fact(Kind.SAME, first, mention, answer)
    return [same, Fact(Kind.STARTS, first, first, answer)] if infer_first else [same]


def link(kind: Kind, a: Span, b: Span, answer: Answer) -> Fact:
    """A must-link or cannot-link between two mentions."""
    if a == b:
        raise OutsideError(f"a link is between two mentions, but {a} is given twice")
    return Fact(kind, a, b, answer)


class Book:
    """All facts that stand, by answer and by span."""

    __slots__ = ("_of_answer", "_of_span")

    def __init__(self) -> None:
        self._of_answer: dict[Answer, list[Fact]] = {}
        self._of_span: dict[Span, list[Fact]] = {}

    def open(self, answer: Answer) -> None:
        """Know an answer, even if it says nothing."""
        self._of_answer[answer] = []

    def close(self, answer: Answer) -> None:
        """Forget an answer whose facts have been removed."""
        del self._of_answer[answer]

    def add(self, fact: Fact) -> None:
        """Enter a fact of an open answer."""
        self._of_answer[fact.answer].append(fact)
        of_span = self._of_span
        for span in (fact.a,) if fact.a is fact.b else (fact.a, fact.b):
            if span in of_span:
                of_span[span].append(fact)
            else:
                of_span[span] = [fact]

    def remove(self, fact: Fact) -> None:
        self._of_answer[fact.answer].remove(fact)
        for span in {fact.a, fact.b}:
            facts = self._of_span[span]
            facts.remove(fact)
            if not facts:
                del self._of_span[span]

    def of_answer(self, answer: Answer) -> Sequence[Fact]:
        return self._of_answer[answer]

    def of_span(self, span: Span) -> Sequence[Fact]:
        return self._of_span.get(span, ())

    def spans(self) -> Iterator[Span]:
        """Every span that an answer names."""
        return iter(self._of_span)

    def names(self, span: Span) -> bool:
        """Whether any answer names the span."""
        return span in self._of_span

    def __contains__(self, answer: Answer) -> bool:
        return answer in self._of_answer

    def __iter__(self) -> Iterator[Answer]:
        """The answers, in the order given."""
        return iter(self._of_answer)

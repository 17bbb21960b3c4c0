"""Assertions taken apart into facts of four kinds, and the spans that facts are about."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from corefine.document import Span
from corefine.errors import OutsideError
from corefine.links.assertions import AnswerId, Assertion, Cannot, First, Must, NotAMention

if TYPE_CHECKING:
    from corefine.links.entities import Entity


class Kind(Enum):
    SAME = "same"  # a and b are one entity
    DIFFERENT = "different"  # a and b are two
    STARTS = "starts"  # the entity of a (= b) has no mention before a
    NO_MENTION = "no mention"  # a (= b) is none


SAME, DIFFERENT, STARTS, NO_MENTION = Kind  # members looked up in their class cost as much as a dictionary access each


Claim = tuple[Kind, Span, Span]
"""A fact that nobody has stated yet."""


class Node:
    """A span that answers name.

    entity     what it belongs to; None if it is not a mention
    facts      all that are about it
    denials    how many of them say that it is not a mention
    """

    __slots__ = ("denials", "entity", "facts", "span")

    def __init__(self, span: Span) -> None:
        self.span = span
        self.entity: Entity | None = None
        self.facts: list[Fact] = []
        self.denials = 0


class Fact:
    """One thing one answer says. Facts and nodes are compared by identity."""

    __slots__ = ("a", "answer", "b", "kind")

    def __init__(self, kind: Kind, a: Node, b: Node, answer: AnswerId) -> None:
        self.kind = kind
        self.a = a
        self.b = b
        self.answer = answer

    def other(self, node: Node) -> Node:
        """The end of the fact that is not this one."""
        return self.b if self.a is node else self.a

    def assertion(self) -> Assertion:
        """The fact in the words of assertions."""
        if self.kind is SAME:
            return Must(self.a.span, self.b.span)
        if self.kind is DIFFERENT:
            return Cannot(self.a.span, self.b.span)
        return First(self.a.span, self.a.span) if self.kind is STARTS else NotAMention(self.a.span)


def before(a: Span, b: Span) -> bool:
    """Whether `a` comes before `b` in document order; spans of one hull are ordered by their parts."""
    return a < b or (not b < a and a.parts < b.parts)


def link(kind: Kind, a: Span, b: Span) -> Claim:
    """The claim of a must-link or cannot-link; OutsideError if it is not between two spans."""
    if a == b:
        raise OutsideError(f"a link is between two mentions, but {a} is given twice")
    return kind, a, b


def claims_of(assertion: Assertion, *, infer_first: bool) -> list[Claim]:
    """The claims an assertion consists of; one that cannot be meant raises OutsideError."""
    if isinstance(assertion, Must):
        return [link(SAME, assertion.a, assertion.b)]
    if isinstance(assertion, Cannot):
        return [link(DIFFERENT, assertion.a, assertion.b)]
    mention = assertion.mention
    if not isinstance(assertion, First):
        return [(NO_MENTION, mention, mention)]
    first = assertion.first
    if first == mention:
        return [(STARTS, mention, mention)]
    if before(mention, first):
        raise OutsideError(f"{first} comes after {mention}: a first appearance is the mention itself or before it")
    same = (SAME, first, mention)
    return [same, (STARTS, first, first)] if infer_first else [same]

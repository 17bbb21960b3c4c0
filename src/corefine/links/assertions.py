"""What an answer can assert about mentions, and what is then known of two of them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from corefine.document import Span

AnswerId = Hashable
"""The caller's name for an answer, such as its number."""


class Relation(Enum):
    """What is known of two mentions. Functions return None where nothing is known."""

    MUST = "must-link"
    CANNOT = "cannot-link"


@dataclass(frozen=True, slots=True)
class Link:
    """A link between two spans: a `Must` or a `Cannot`."""

    a: Span
    b: Span

    @property
    def spans(self) -> tuple[Span, Span]:
        return self.a, self.b


class Must(Link):
    """`a` and `b` are the same entity."""

    __slots__ = ()
    name: ClassVar[str] = "must"

    def __str__(self) -> str:
        return f"{self.a} is the same entity as {self.b}"


class Cannot(Link):
    """`a` and `b` are different entities."""

    __slots__ = ()
    name: ClassVar[str] = "cannot"

    def __str__(self) -> str:
        return f"{self.a} is not the same entity as {self.b}"


@dataclass(frozen=True, slots=True)
class First:
    """`first` is the first appearance of the entity of `mention`. The two may be the same span."""

    first: Span
    mention: Span
    name: ClassVar[str] = "first"

    @property
    def spans(self) -> tuple[Span, Span]:
        return self.first, self.mention

    def __str__(self) -> str:
        return f"{self.first} is the first appearance of the entity of {self.mention}"


@dataclass(frozen=True, slots=True)
class NotAMention:
    """`mention` refers to nothing."""

    mention: Span
    name: ClassVar[str] = "not-a-mention"

    @property
    def spans(self) -> tuple[Span]:
        return (self.mention,)

    def __str__(self) -> str:
        return f"{self.mention} is not a mention"


Assertion = Must | Cannot | First | NotAMention
"""What one answer says of one or two spans. `name` is its name in JSON."""

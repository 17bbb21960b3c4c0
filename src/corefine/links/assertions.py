"""What an answer may assert about mentions, and what then holds between two of them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum

from corefine.document import Span

Answer = Hashable
"""Whatever the caller names an answer by."""


class Relation(Enum):
    """What is known of two mentions; where nothing is, functions return None."""

    MUST = "must-link"
    CANNOT = "cannot-link"


@dataclass(frozen=True, slots=True)
class Must:
    """`a` and `b` are one entity."""

    a: Span
    b: Span

    def __str__(self) -> str:
        return f"{self.a} is the same entity as {self.b}"


@dataclass(frozen=True, slots=True)
class Cannot:
    """`a` and `b` are two entities."""

    a: Span
    b: Span

    def __str__(self) -> str:
        return f"{self.a} is another entity than {self.b}"


@dataclass(frozen=True, slots=True)
class First:
    """`first` is the first appearance of the entity of `mention`; the two may be one."""

    first: Span
    mention: Span

    def __str__(self) -> str:
        return f"{self.first} is the first appearance of the entity of {self.mention}"


@dataclass(frozen=True, slots=True)
class NotAMention:
    """`mention` refers to nothing."""

    mention: Span

    def __str__(self) -> str:
        return f"{self.mention} is not a mention"


Assertion = Must | Cannot | First | NotAMention

"""Spans as brackets on tokens, as CoNLL-2012 and CorefUD have them.

A bracket opens or closes a span of an entity. A closing bracket closes the span that was opened last, so spans of one
entity that cross each other cannot be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from corefine.document import Span

_BRACKET = re.compile(r"\([^()|]*\)?|[^()|]+\)?|\)")


def brackets(cell: str) -> list[str]:
    """The brackets of a cell from left to right: `(1`, `1)` or `(1)`, with or without `|` between them.

    Anything else in the cell is returned as it is.
    """
    inner = cell[1:-1]
    if "(" in inner or ")" in inner or "|" in cell:
        return _BRACKET.findall(cell)
    return [cell]


def crossing(spans: Iterable[Span]) -> set[Span]:
    """Spans of one entity that cross an earlier one. Brackets can express the others."""
    left_out: set[Span] = set()
    ends: list[int] = []
    spans = list(spans)
    if all(left.end < right.start for left, right in pairwise(spans)):  # nearly always
        return left_out
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        # a span that ends where this one starts is closed first
        while ends and ends[-1] <= span.start and ends[-1] < span.end:
            ends.pop()
        if ends and ends[-1] < span.end:
            left_out.add(span)
        else:
            ends.append(span.end)
    return left_out


def cells(mentions: Sequence[tuple[int, int, str, str]], size: int, join: str) -> list[str]:
    """The cell of each of `size` places. A mention is (first place, last place, opening name, closing name).

    Closing brackets come first, then opening ones from the widest mention to the narrowest, then mentions of one
    place. Where nothing opens, mentions of one place come first.
    """
    opening: dict[int, list[str]] = {}
    closing: dict[int, list[str]] = {}
    alone: dict[int, list[str]] = {}
    for start, end, opens, closes in sorted(mentions, key=lambda m: (m[0], -m[1])):
        if start == end:
            alone.setdefault(start, []).append(f"({opens})")
        else:
            opening.setdefault(start, []).append(f"({opens}")
            closing.setdefault(end, []).append(f"{closes})")
    written = [""] * size
    for place in {*opening, *closing, *alone}:
        first = opening.get(place, [])
        last = closing.get(place, [])[::-1]
        single = alone.get(place, [])
        written[place] = join.join([*last, *first, *single] if first else [*single, *last])
    return written

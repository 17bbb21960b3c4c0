"""Matches the brackets in the values of `Entity` attributes into mentions.

`(e1-person-1` opens a mention of entity e1, `e1)` closes it, and `(e1-person-1)` is a mention of a single node.
`global.Entity` says what the fields of an opening bracket are. A discontinuous mention has a pair of brackets for each
part: `(e1[1/2]` and `e1[1/2])`, `(e1[2/2]` and `e1[2/2])`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from corefine.formats.brackets import brackets

DEFAULT_FIELDS = "eid-etype-head-other"
_PART = re.compile(r"(.+)\[(\d{1,6})/(\d{1,6})\]", re.ASCII | re.DOTALL)

Complain = Callable[[str, int], None]
"""Called with what is wrong, and the number of the value."""


class Divided(NamedTuple):
    """A discontinuous mention: entity, opening bracket, and the values where each part is opened and closed."""

    entity: str
    bracket: str
    parts: tuple[tuple[int, int], ...]


class Matched(NamedTuple):
    """The mentions in the order in which they are closed.

    entities                        in the order of their first brackets
    labels, openings, closings      of each continuous mention its entity, and the numbers of the values where it is
                                    opened and closed; plain lists, because tuples would take a third more time
    brackets                        opening brackets that are not the whole value, by their place in these lists
    divided                         the discontinuous mentions
    """

    entities: list[str]
    labels: list[str]
    openings: list[int]
    closings: list[int]
    brackets: dict[int, str]
    divided: list[Divided]


@lru_cache(maxsize=100)
def id_field(fields: str) -> int:
    """Which field of an opening bracket names the entity, counted from 0."""
    names = fields.split("-")
    return next((names.index(name) for name in ("eid", "GRP") if name in names), 0)


def entity_of(body: str, field: int) -> str:
    """What this field of an opening bracket says; an empty string if there is no such field."""
    return (body.split("-")[field:] or [""])[0]


def body_of(bracket: str) -> str:
    """The content of an opening bracket."""
    return bracket[1:-1] if bracket[-1:] == ")" else bracket[1:]


def match(values: Sequence[str], fields: str, complain: Complain) -> Matched:
    """The mentions that the values, in document order, open and close."""
    matcher = _Matcher(id_field(fields), complain)
    matcher.read(values)
    for entity, left in matcher.opened.items():
        for opening in left:
            complain(f"entity {entity} is opened here but not closed", matcher.number_of(opening))
    matched = matcher.matched()
    if any("]" in entity for entity in matched.entities):
        return _put_together(matched, values, complain)
    return matched


class _Matcher:
    """Goes through the values once.

    An opening is the number of a value that is one opening bracket. One that shares its value with other brackets is
    -1 for the first of `shared`, -2 for the second, and so on.
    """

    def __init__(self, field: int, complain: Complain) -> None:
        self.field = field
        self.complain = complain
        self.opened: dict[str, list[int]] = {}
        self.labels: list[str] = []
        self.openings: list[int] = []
        self.closings: list[int] = []
        self.shared: list[tuple[int, str]] = []

    def read(self, values: Sequence[str]) -> None:
        """Match the brackets of all values."""
        opened, labels, openings, closings = self.opened, self.labels, self.openings, self.closings
        nothing: list[int] = []  # of all entities that nothing has opened yet: most have one mention of one word
        for number, value in enumerate(values):
            # nearly all values are one bracket of an entity named in the first field: they take a short way
            end = value.find(")")
            if value[:1] == "(":
                closed = end == len(value) - 1
                if (closed or end < 0) and self.field == 0 and value.find("(", 1) < 0:
                    hyphen = value.find("-")
                    entity = value[1:hyphen] if hyphen > 0 else body_of(value)
                    if entity:
                        if closed:
                            labels.append(entity)
                            openings.append(number)
                            closings.append(number)
                            if entity not in opened:
                                opened[entity] = nothing
                        elif waiting := opened.get(entity):
                            waiting.append(number)
                        else:
                            opened[entity] = [number]
                        continue
            elif end == len(value) - 1 and (waiting := opened.get(value[:-1])):
                labels.append(value[:-1])
                openings.append(waiting.pop())
                closings.append(number)
                continue
            for bracket in brackets(value):
                self._add(bracket, number)

    def _add(self, bracket: str, number: int) -> None:
        """Add one of the brackets of this value."""
        closed = bracket[-1:] == ")"
        if bracket[:1] == "(":
            if not (entity := entity_of(body_of(bracket), self.field)):
                self.complain(f"{bracket[:50]!r} does not name its entity in field {self.field + 1}", number)
                return
            self.shared.append((number, bracket))
            self.opened[entity] = [*self.opened.get(entity, ()), -len(self.shared)]
            if closed:
                self._close(entity, number)
        elif closed and self.opened.get(bracket[:-1]):
            self._close(bracket[:-1], number)
        elif closed and len(bracket) > 1:
            self.complain(f"entity {bracket[:-1]} is closed here but not open", number)
        else:
            self.complain(f"{bracket[:50]!r} is not a bracket", number)

    def _close(self, entity: str, number: int) -> None:
        self.labels.append(entity)
        self.openings.append(self.opened[entity].pop())
        self.closings.append(number)

    def number_of(self, opening: int) -> int:
        """The number of the value of an opening."""
        return opening if opening >= 0 else self.shared[-1 - opening][0]

    def matched(self) -> Matched:
        shared = self.shared
        found = [(place, opening) for place, opening in enumerate(self.openings) if opening < 0] if shared else []
        for place, opening in found:
            self.openings[place] = self.number_of(opening)
        opening_brackets = {place: shared[-1 - opening][1] for place, opening in found}
        return Matched(list(self.opened), self.labels, self.openings, self.closings, opening_brackets, [])


def _put_together(pieces: Matched, values: Sequence[str], complain: Complain) -> Matched:
    """Join the parts of discontinuous mentions. A part belongs to the mention that has waited longest for it."""
    entities = dict.fromkeys(found[1] if (found := _PART.fullmatch(label)) else label for label in pieces.entities)
    joined = Matched(list(entities), [], [], [], {}, [])
    waiting: dict[tuple[str, int, int], deque[Divided]] = {}
    for place, (label, opening, closing) in enumerate(
        zip(pieces.labels, pieces.openings, pieces.closings, strict=True)
    ):
        bracket = pieces.brackets.get(place, values[opening])
        found = _PART.fullmatch(label)
        if found is None:
            if place in pieces.brackets:
                joined.brackets[len(joined.labels)] = bracket
            joined.labels.append(label)
            joined.openings.append(opening)
            joined.closings.append(closing)
            continue
        entity, index, total = found[1], int(found[2]), int(found[3])
        before: tuple[tuple[int, int], ...] = ()
        if index == 1:
            bracket = bracket.replace(label, entity, 1)
        elif queue := waiting.get((entity, total, index)):
            _, bracket, before = queue.popleft()
        else:
            complain(f"part {index} of {total} of a mention of entity {entity}, without part {index - 1}", opening)
            continue
        mention = Divided(entity, bracket, (*before, (opening, closing)))
        if index < total:
            waiting.setdefault((entity, total, index + 1), deque()).append(mention)
        else:
            joined.divided.append(mention)
    for (entity, total, index), left in waiting.items():
        for _, _, parts in left:
            complain(f"a mention of entity {entity} lacks part {index} of {total}", parts[0][0])
    return joined

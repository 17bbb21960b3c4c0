"""The values of `Entity` attributes, matched into mentions.

A value is brackets: `(e1-person-1` opens a mention of entity e1, `e1)` closes it, `(e1-person-1)` is one of a single
node. `global.Entity` says what the fields of an opening bracket are. A discontinuous mention has a pair of brackets for
each part: `(e1[1/2]` and `e1[1/2])`, `(e1[2/2]` and `e1[2/2])`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from corefine.formats.brackets import brackets

DEFAULT_FIELDS = "eid-etype-head-other"
_PART = re.compile(r"(.+)\[(\d{1,6})/(\d{1,6})\]", re.ASCII | re.DOTALL)

Whole = tuple[str, str, int, int]
"""Entity, what stands in the opening bracket, and the numbers of the values where it is opened and closed."""

Divided = tuple[str, str, tuple[tuple[int, int], ...]]
"""The same of a discontinuous mention: where each part is opened and closed."""

Complain = Callable[[str, int], None]
"""Takes what is wrong, and the number of the value where."""


def place_of_id(fields: str) -> int:
    """Which field of a bracket names the entity."""
    names = fields.split("-")
    return next((names.index(name) for name in ("eid", "GRP") if name in names), 0)


class Matched(NamedTuple):
    """The mentions in the order in which they are closed, and the entities in the order of their first brackets."""

    entities: list[str]
    whole: list[Whole]
    divided: list[Divided]


def match(values: Sequence[str], fields: str, complain: Complain) -> Matched:
    """The mentions that the values, in document order, open and close."""
    matching = _Matching(fields, complain)
    first = matching.place == 0
    mentions, opened = matching.mentions, matching.opened
    for number, value in enumerate(values):
        # nearly all values are one bracket of an entity named in the first field; these lines are for them
        if value[:1] == "(" and first:
            closed = value[-1] == ")"
            body = value[1:-1] if closed else value[1:]
            if "(" not in body and ")" not in body:
                entity = body.partition("-")[0]
                if entity:
                    if entity not in opened:
                        opened[entity] = []
                    if closed:
                        mentions.append((entity, body, number, number))
                    else:
                        opened[entity].append((body, number))
                    continue
        elif value[-1:] == ")":
            waiting = opened.get(value[:-1])
            if waiting:
                mentions.append((value[:-1], *waiting.pop(), number))
                continue
        for bracket in brackets(value):
            matching.take(bracket, number)
    matching.end()
    if any("]" in entity for entity in opened):
        return _put_together(opened, mentions, complain)
    return Matched(list(opened), mentions, [])


class _Matching:
    """Brackets on their way to mentions."""

    def __init__(self, fields: str, complain: Complain) -> None:
        self.fields = fields
        self.place = place_of_id(fields)
        self.complain = complain
        self.mentions: list[Whole] = []
        self.opened: dict[str, list[tuple[str, int]]] = {}

    def take(self, bracket: str, number: int) -> None:
        """Add a bracket of the value of this number."""
        closed = bracket[-1:] == ")"
        if bracket[:1] == "(":
            self._open(bracket, closed, number)
            return
        entity = bracket[:-1]
        if closed and self.opened.get(entity):
            self.mentions.append((entity, *self.opened[entity].pop(), number))
        elif closed and entity:
            self.complain(f"entity {entity} is closed here but not open", number)
        else:
            self.complain(f"{bracket[:50]!r} is no bracket", number)

    def _open(self, bracket: str, closed: bool, number: int) -> None:
        body = bracket[1:-1] if closed else bracket[1:]
        entity = (body.split("-")[self.place :] or ("",))[0]
        if not entity:
            what = f"{bracket[:50]!r} does not name its entity in field {self.place + 1} of {self.fields}"
            self.complain(what, number)
            return
        waiting = self.opened.setdefault(entity, [])
        if closed:
            self.mentions.append((entity, body, number, number))
        else:
            waiting.append((body, number))

    def end(self) -> None:
        for entity, left in self.opened.items():
            for _, number in left:
                self.complain(f"entity {entity} is opened here but not closed", number)


def _put_together(labels: Iterable[str], pieces: Sequence[Whole], complain: Complain) -> Matched:
    """Join discontinuous mentions from their parts: a part belongs to the mention that has waited longest for it."""
    mentions: list[Whole] = []
    divided: list[Divided] = []
    waiting: dict[tuple[str, int, int], deque[Divided]] = {}
    for piece in pieces:
        label, body, opening, closing = piece
        found = _PART.fullmatch(label)
        if found is None:
            mentions.append(piece)
            continue
        entity, index, total = found[1], int(found[2]), int(found[3])
        before: tuple[tuple[int, int], ...] = ()
        if index == 1:
            body = body.replace(label, entity, 1)
        elif queue := waiting.get((entity, total, index)):
            _, body, before = queue.popleft()
        else:
            complain(f"part {index} of {total} of a mention of entity {entity}, without part {index - 1}", opening)
            continue
        mention = (entity, body, (*before, (opening, closing)))
        if index < total:
            waiting.setdefault((entity, total, index + 1), deque()).append(mention)
        else:
            divided.append(mention)
    for (entity, total, index), left in waiting.items():
        for _, _, parts in left:
            complain(f"a mention of entity {entity} lacks part {index} of {total}", parts[0][0])
    entities = dict.fromkeys(found[1] if (found := _PART.fullmatch(label)) else label for label in labels)
    return Matched(list(entities), mentions, divided)

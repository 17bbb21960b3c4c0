"""Matches the brackets in the values of `Entity` attributes into mentions.

`(e1-person-1` opens a mention of entity e1, `e1)` closes it, and `(e1-person-1)` is a mention of a single node.
`global.Entity` says what the fields of an opening bracket are. A discontinuous mention has a pair of brackets for each
part: `(e1[1/2]` and `e1[1/2])`, `(e1[2/2]` and `e1[2/2])`.
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
"""Entity, content of the opening bracket, and the numbers of the values where the mention is opened and closed."""

Divided = tuple[str, str, tuple[tuple[int, int], ...]]
"""The same for a discontinuous mention, with one pair of numbers for each part."""

Complain = Callable[[str, int], None]
"""Is called with what is wrong, and the number of the value."""


class Matched(NamedTuple):
    """The mentions in the order in which they are closed, and the entities in the order of their first brackets."""

    entities: list[str]
    whole: list[Whole]
    divided: list[Divided]


def id_field(fields: str) -> int:
    """Which field of an opening bracket names the entity, counted from 0."""
    names = fields.split("-")
    return next((names.index(name) for name in ("eid", "GRP") if name in names), 0)


def entity_of(body: str, field: int) -> str:
    """What this field of an opening bracket says; an empty string if there is no such field."""
    return (body.split("-")[field:] or [""])[0]


def match(values: Sequence[str], fields: str, complain: Complain) -> Matched:
    """The mentions that the values, in document order, open and close."""
    field = id_field(fields)
    mentions: list[Whole] = []
    opened: dict[str, list[tuple[str, int]]] = {}
    for number, value in enumerate(values):
        # nearly all values are one bracket of an entity named in the first field: they take a short way
        if value[:1] == "(" and field == 0:
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
            _match_one(bracket, number, field, opened, mentions, complain)
    for entity, left in opened.items():
        for _, number in left:
            complain(f"entity {entity} is opened here but not closed", number)
    if any("]" in entity for entity in opened):
        return _put_together(opened, mentions, complain)
    return Matched(list(opened), mentions, [])


def _match_one(
    bracket: str,
    number: int,
    field: int,
    opened: dict[str, list[tuple[str, int]]],
    mentions: list[Whole],
    complain: Complain,
) -> None:
    """Add one bracket of the value of this number to what is opened, or to the mentions."""
    closed = bracket[-1:] == ")"
    if bracket[:1] == "(":
        body = bracket[1:-1] if closed else bracket[1:]
        if not (entity := entity_of(body, field)):
            complain(f"{bracket[:50]!r} does not name its entity in field {field + 1}", number)
            return
        waiting = opened.setdefault(entity, [])
        if closed:
            mentions.append((entity, body, number, number))
        else:
            waiting.append((body, number))
    elif closed and opened.get(bracket[:-1]):
        mentions.append((bracket[:-1], *opened[bracket[:-1]].pop(), number))
    elif closed and len(bracket) > 1:
        complain(f"entity {bracket[:-1]} is closed here but not open", number)
    else:
        complain(f"{bracket[:50]!r} is not a bracket", number)


def _put_together(labels: Iterable[str], pieces: Sequence[Whole], complain: Complain) -> Matched:
    """Join the parts of discontinuous mentions. A part belongs to the mention that has waited longest for it."""
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

"""Mentions given by character offsets and joined by links, as in annotation tools.

`clusters` makes entities of them, `still_true` and `missing_links` turn entities back into links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from corefine.document import Cluster, Span
from corefine.formats.source import Source
from corefine.formats.tokens import Characters, Tokens

SAME = re.compile(r"coref.*|ident|identity|identical|equiv.*|same.*|anaphor.*|antecedent.*", re.IGNORECASE)
"""The names of relations that say "the same entity"."""

Regions = Mapping[str, tuple[Sequence[Characters], int | None]]
"""Identifier -> its characters, part by part, and its line in the file."""


class LinkedIds:
    """Identifiers joined into groups: `of` has the group of each."""

    def __init__(self, ids: Iterable[str]) -> None:
        self.of = {id_: [id_] for id_ in ids}

    def join(self, ids: Sequence[str]) -> None:
        for other in ids[1:]:
            small, big = sorted((self.of[ids[0]], self.of[other]), key=len)
            if small is not big:
                big += small
                self.of.update(dict.fromkeys(small, big))


def clusters(
    source: Source, words: Tokens, regions: Regions, links: Iterable[Sequence[str]]
) -> tuple[dict[str, list[Span]], dict[str, Span]]:
    """Entities, each by one of its identifiers, and the span of each identifier."""
    groups = LinkedIds(regions)
    for ids in links:
        groups.join([id_ for id_ in ids if id_ in regions])
    found: dict[str, list[Span]] = {}
    places: dict[str, Span] = {}
    owner: dict[Span, str] = {}
    # a span may be marked several times with different types; marks without links follow the one with links
    for id_ in sorted(regions, key=lambda i: len(groups.of[i]) == 1):
        parts, line = regions[id_]
        group = groups.of[id_]
        span = words.span(parts)
        if span is None:
            source.fault(f"{id_} holds only white space, and was left out", line=line, fatal=False)
            continue
        places[id_] = span
        if span in owner and (len(group) == 1 or owner[span] == group[0]):
            continue
        owner.setdefault(span, group[0])
        found.setdefault(group[0], []).append(span)
    return found, places


def still_true(
    clusters: Sequence[Cluster], ids: Mapping[Span, Sequence[str]], links: Sequence[Sequence[str]]
) -> tuple[LinkedIds, list[bool]]:
    """The source's links that still join mentions of one entity, and the groups of identifiers that they join."""
    entity = {id_: n for n, cluster in enumerate(clusters) for span in cluster for id_ in ids.get(span, ())}
    groups = LinkedIds(entity)
    for marks in ids.values():
        groups.join([id_ for id_ in marks if id_ in entity])
    true = []
    for linked in links:
        true.append(bool(linked) and linked[0] in entity and len({entity.get(id_) for id_ in linked}) == 1)
        if true[-1]:
            groups.join(linked)
    return groups, true


def missing_links(
    clusters: Sequence[Cluster], ids: Mapping[Span, Sequence[str]], groups: LinkedIds
) -> Iterator[tuple[Span, Span]]:
    """A mention and an earlier one, for each link that must be added so that every entity is connected."""
    for cluster in clusters:
        before: Span | None = None
        for span in cluster:
            if span not in ids:
                continue
            if before is not None and groups.of[ids[span][0]] is not groups.of[ids[before][0]]:
                groups.join([ids[before][0], ids[span][0]])
                yield span, before
            before = span


def characters(span: Span, offsets: Sequence[Characters]) -> Characters:
    """The [start, end) characters of a span's hull."""
    return offsets[span.start][0], offsets[span.end][1]


def utf16(text: str) -> list[int] | None:
    """For each offset in a text its offset in UTF-16, as Java and JavaScript count; None if they are all equal."""
    if text.isascii() or all(character <= "\uffff" for character in text):
        return None
    places = [0]
    for character in text:
        places.append(places[-1] + (2 if character > "\uffff" else 1))
    return places

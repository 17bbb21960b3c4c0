"""The mentions that the CoNLL-U writer writes: a document's clusters, with what its `extra` says about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from zlib import crc32

from corefine.document import Document, Span
from corefine.formats.brackets import crossing
from corefine.formats.conllu.extra import ConlluExtra, Parts
from corefine.formats.conllu.matching import entity_of, id_field

Noted = tuple[Parts, str]
"""What `extra` says about a mention: its nodes, and the content of its opening bracket."""


@dataclass(frozen=True, slots=True)
class WrittenMention:
    """A mention to write: its entity's name, the fields before and after that name, and its nodes."""

    entity: str
    before: str
    after: str
    parts: Parts

    @classmethod
    def of(cls, body: str, entity: str, field: int, parts: Parts) -> WrittenMention:
        """From the content of an opening bracket, with the entity renamed."""
        fields = body.split("-")
        before = fields[:field] + [""] * (field - len(fields))
        return cls(entity, "".join(f"{f}-" for f in before), "".join(f"-{f}" for f in fields[field + 1 :]), parts)

    def brackets(self) -> Iterator[tuple[str, str, str, str]]:
        """First node, last node, opening bracket and closing bracket of each part."""
        for number, (first, last) in enumerate(self.parts, start=1):
            name = f"{self.entity}[{number}/{len(self.parts)}]" if len(self.parts) > 1 else self.entity
            yield first, last, f"{self.before}{name}{self.after}", name


def mentions_to_write(
    document: Document, extra: ConlluExtra, position: Mapping[str, int]
) -> tuple[list[WrittenMention], int]:
    """The mentions that can be written, and the number of those that cannot. `position` orders the nodes."""
    by_entity: dict[str, list[WrittenMention]] = {}
    for mention in all_mentions(document, extra):
        by_entity.setdefault(mention.entity, []).append(mention)
    mentions = [mention for group in by_entity.values() for mention in _nesting(group, position)]
    return mentions, sum(map(len, by_entity.values())) - len(mentions)


def _nesting(group: Sequence[WrittenMention], position: Mapping[str, int]) -> Iterator[WrittenMention]:
    """The mentions of an entity that do not cross others of it. Discontinuous ones must follow each other."""
    places = [[Span(position[first], position[last]) for first, last in mention.parts] for mention in group]
    unfit = crossing(span for spans in places for span in spans)
    end = -1
    for spans, mention in sorted(zip(places, group, strict=True), key=lambda pair: pair[0]):
        if unfit.intersection(spans) or (len(spans) > 1 and spans[0].start <= end):
            continue
        if len(spans) > 1:
            end = spans[-1].end
        yield mention


def all_mentions(document: Document, extra: ConlluExtra) -> Iterator[WrittenMention]:
    field = id_field(extra.fields)
    noted: dict[Span, Noted] = {}
    without_span: list[tuple[Noted, Span | None]] = []  # zero mentions, and those that differ only in empty nodes
    for parts, surface, body in sorted(extra.mentions, key=lambda mention: "z" in str(mention[0])):
        if surface is None or surface in noted:
            without_span.append(((parts, body), surface))
        else:
            noted[surface] = (parts, body)
    names = _names(document, noted, extra, field)
    for cluster, name in zip(document.clusters, names, strict=True):
        sibling = next((noted[span][1] for span in cluster if span in noted), "")
        for span in cluster:
            parts, body = noted.get(span) or _new(document, span, sibling, extra.fields.split("-"), field)
            yield WrittenMention.of(body, name, field, parts)
    mentions = {span for cluster in document.clusters for span in cluster}
    for (parts, body), surface in without_span:
        if surface is None or surface in mentions:
            yield WrittenMention.of(body, entity_of(body, field), field, parts)


def _new(document: Document, span: Span, sibling: str, fields: Sequence[str], field: int) -> Noted:
    """For a mention that `extra` does not know. It takes the fields before the name from another of its entity."""
    values = (sibling.split("-")[:field] + [""] * len(fields))[: len(fields)]
    if "head" in fields:
        head = _head(document, span)
        values[fields.index("head")] = str(head) if head > 1 or len(span.parts) > 1 else ""
    while len(values) > field + 1 and not values[-1]:
        values.pop()
    return [(str(part.start), str(part.end)) for part in span.parts], "-".join(values)


def _head(document: Document, span: Span) -> int:
    """Which word of the span, from 1, is nearest to the root of its sentence: the first, if there is no tree."""
    parents = document.layers.get("head")
    if parents is None:
        return 1
    starts = (*document.sentence_starts, len(document))

    def depth(token: int) -> int:
        sentence = document.sentence_of(Span(token, token))
        start, size = starts[sentence], starts[sentence + 1] - starts[sentence]
        number, steps = token - start + 1, 0
        while 1 <= number <= size and steps < size:  # a cycle is not a tree
            parent = parents[start + number - 1]
            number, steps = int(parent) if parent.isascii() and parent.isdigit() else 0, steps + 1
        return steps

    words = [token for part in span.parts for token in range(part.start, part.end + 1)]
    return min(range(len(words)), key=lambda place: depth(words[place])) + 1


def _names(document: Document, noted: Mapping[Span, Noted], extra: ConlluExtra, field: int) -> list[str]:
    """A name for each cluster: the one that most of its mentions had, or a new one."""
    votes: list[tuple[int, int, str]] = []
    for number, cluster in enumerate(document.clusters):
        cast = Counter(entity_of(noted[span][1], field) for span in cluster if span in noted)
        votes += [(-count_, number, name) for name, count_ in cast.items() if name]
    names: dict[int, str] = {}
    given: set[str] = set()
    for _, number, name in sorted(votes):
        if number not in names and name not in given:
            names[number] = name
            given.add(name)
    # a GRP is unique in its document, but an eid must be unique in the whole file
    used = {entity_of(body, field) for _, _, body in extra.mentions}
    ending = "" if "GRP" in extra.fields.split("-") else f"x{crc32(document.key.encode()):x}"
    fresh = (name for number in count(1) if (name := f"e{number}{ending}") not in used)
    return [names[number] if number in names else next(fresh) for number in range(len(document.clusters))]

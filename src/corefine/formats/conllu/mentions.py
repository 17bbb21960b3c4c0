"""Which brackets the CoNLL-U writer puts where: a document's clusters, and what a reader left in `extra` about them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from zlib import crc32

from corefine.document import Document, Span
from corefine.errors import InputError
from corefine.formats.brackets import crossing
from corefine.formats.conllu.details import NAME, OWN_FIELDS, Parts, surface_of
from corefine.formats.conllu.entities import place_of_id

_ID = re.compile(r"\d+[-.]\d+", re.ASCII)
_UNFIT = re.compile(r"[()|\t\n\r]")

Known = tuple[Parts, str]
"""The nodes of a mention and what stands in its opening bracket."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a reader left in `extra`, checked; see `conllu_details`."""

    fields: str
    declared: bool
    comments: list[list[str]]
    rows: list[tuple[int, int, str, str]]
    mentions: list[tuple[Parts, Span | None, str]]

    @classmethod
    def of(cls, document: Document) -> Kept:
        content = document.extra.get(NAME, {})
        try:
            rows = [(int(sentence), int(after), id_, rest) for sentence, after, id_, rest in content.get("rows", ())]
            for row in rows:
                _check_row(document, *row)
            mentions = []
            for place, body in content.get("mentions", ()):
                parts: Parts = [(first, last) for first, last in (part.split("-") for part in place.split("+"))]
                surface = surface_of(parts, rows, document.sentence_starts)
                if _UNFIT.search(body) or (surface is not None and not document.holds(surface)):
                    raise ValueError(f"a mention {body!r} at {place}")
                mentions.append((parts, surface, body))
            comments = [[line for line in lines if line.startswith("#")] for lines in content.get("comments", ())]
            return cls(_fit(content.get("global", OWN_FIELDS)), "global" in content, comments, rows, mentions)
        except (TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            what = f"document {document.key}: extra[{NAME!r}] is not what a CoNLL-U reader leaves there"
            raise InputError(f"{what}: {error}") from error


def _check_row(document: Document, sentence: int, after: int, id_: str, rest: str) -> None:
    starts = (*document.sentence_starts, len(document))
    inside = 0 <= sentence < len(starts) - 1 and 0 <= after <= starts[sentence + 1] - starts[sentence]
    if not (inside and _ID.fullmatch(id_) and rest.count("\t") == 8 and "\n" not in rest and "\r" not in rest):
        raise ValueError(f"a row {id_!r} of sentence {sentence}")


def _fit(fields: str) -> str:
    if _UNFIT.search(fields):
        raise ValueError(f"fields {fields!r}")
    return fields


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention to be written: its entity's name, what stands before and after that name, and its nodes."""

    entity: str
    before: str
    after: str
    parts: Parts

    @classmethod
    def of(cls, body: str, entity: str, place: int, parts: Parts) -> Mention:
        """From what stood in the bracket, with the entity renamed."""
        fields = body.split("-")
        before = fields[:place] + [""] * (place - len(fields))
        return cls(entity, "".join(f"{f}-" for f in before), "".join(f"-{f}" for f in fields[place + 1 :]), parts)

    def brackets(self) -> Iterator[tuple[str, str, str, str]]:
        """First node, last node, what opens and what closes, for each part."""
        for number, (first, last) in enumerate(self.parts, start=1):
            name = f"{self.entity}[{number}/{len(self.parts)}]" if len(self.parts) > 1 else self.entity
            yield first, last, f"{self.before}{name}{self.after}", name


def written(document: Document, kept: Kept, position: Mapping[str, int]) -> tuple[list[Mention], int]:
    """The mentions that can be written, and the number of those that cannot. `position` orders the nodes."""
    by_entity: dict[str, list[Mention]] = {}
    for mention in _all(document, kept):
        by_entity.setdefault(mention.entity, []).append(mention)
    mentions: list[Mention] = []
    left_out = 0
    for group in by_entity.values():
        fit = list(_nesting(group, position))
        mentions += fit
        left_out += len(group) - len(fit)
    return mentions, left_out


def _nesting(group: Sequence[Mention], position: Mapping[str, int]) -> Iterator[Mention]:
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


def _all(document: Document, kept: Kept) -> Iterator[Mention]:
    place = place_of_id(kept.fields)
    known, free = _sorted_out(kept)
    names = _names(document, known, kept, place)
    for cluster, name in zip(document.clusters, names, strict=True):
        sibling = next((known[span][1] for span in cluster if span in known), "")
        for span in cluster:
            parts, body = known.get(span) or _new(span, sibling, kept.fields.split("-"), place)
            yield Mention.of(body, name, place, parts)
    mentions = {span for cluster in document.clusters for span in cluster}
    for (parts, body), surface in free:
        if surface is None or surface in mentions:
            yield Mention.of(body, _entity(body, place), place, parts)


def _new(span: Span, sibling: str, fields: Sequence[str], place: int) -> Known:
    """For a mention of which nothing is known: fields up to the name are those of another of its entity."""
    values = (sibling.split("-")[:place] + [""] * len(fields))[: len(fields)]
    if "head" in fields and len(span.parts) > 1:
        values[fields.index("head")] = "1"
    while len(values) > place + 1 and not values[-1]:
        values.pop()
    return [(str(part.start), str(part.end)) for part in span.parts], "-".join(values)


def _sorted_out(kept: Kept) -> tuple[dict[Span, Known], list[tuple[Known, Span | None]]]:
    """What is known of mentions on the surface; and zero mentions, and others that only empty nodes tell apart."""
    known: dict[Span, Known] = {}
    free: list[tuple[Known, Span | None]] = []
    for parts, surface, body in sorted(kept.mentions, key=lambda mention: "z" in str(mention[0])):
        if surface is None or surface in known:
            free.append(((parts, body), surface))
        else:
            known[surface] = (parts, body)
    return known, free


def _entity(body: str, place: int) -> str:
    return (body.split("-")[place:] or [""])[0]


def _names(document: Document, known: Mapping[Span, Known], kept: Kept, place: int) -> list[str]:
    """A name for each cluster: that of most of its mentions, or a new one."""
    votes: list[tuple[int, int, str]] = []
    for number, cluster in enumerate(document.clusters):
        cast = Counter(_entity(known[span][1], place) for span in cluster if span in known)
        votes += [(-count_, number, name) for name, count_ in cast.items() if name]
    names: dict[int, str] = {}
    used = {_entity(body, place) for _, _, body in kept.mentions}
    given: set[str] = set()
    for _, number, name in sorted(votes):
        if number not in names and name not in given:
            names[number] = name
            given.add(name)
    # a name counts within the document where the field is GRP, but within the whole file where it is eid
    ending = "" if "GRP" in kept.fields.split("-") else f"x{crc32(document.key.encode()):x}"
    fresh = (name for number in count(1) if (name := f"e{number}{ending}") not in used)
    return [names[number] if number in names else next(fresh) for number in range(len(document.clusters))]

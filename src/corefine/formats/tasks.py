"""Tasks of annotation tools (Prodigy, Label Studio, doccano): a text, marked spans, relations between them.

Every marked span is a mention, and relations of the kind "coreference" join mentions to entities. Labels, identifiers,
other relations and unknown fields are kept in `extra` and written back. The tools preserve every field of a task, so
what does not fit into a task (tokens, sentences, speakers, layers) is stored in a field `corefine`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from corefine.document import Document, Span, SplitSpan
from corefine.errors import DocumentError, InputError
from corefine.formats import losses as lost
from corefine.formats import standoff
from corefine.formats.expresses import ANY, Expresses
from corefine.formats.fields import WrongError, as_list, as_pair, flat, get_field, json_records
from corefine.formats.source import Source
from corefine.formats.tokens import Characters, Tokens, divided, overlapping, text_of, tokenise

CARRIER = "corefine"
"""The field of a task for what does not fit into it."""

EXPRESSES = Expresses(
    crossing=True, text=True, speakers="token", genre=True, language=True, part=True, layers=ANY, attributes="labels"
)


@dataclass(slots=True)
class Task:
    """One task as it was read.

    regions      identifier -> [start, end) characters
    labels       identifier -> label
    quotes       identifier -> what the tool says the text of the region is
    links        identifiers that relations of the kind "coreference" join, and those relations as they are
    others       other relations as they are
    carried      the field `corefine`
    tokens       the tool's own tokens, if it has any
    """

    name: str
    text: str
    line: int
    regions: dict[str, Characters] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    quotes: dict[str, str] = field(default_factory=dict)
    links: list[tuple[tuple[str, str], Any]] = field(default_factory=list)
    others: list[tuple[tuple[str, str], Any]] = field(default_factory=list)
    carried: Any = None
    tokens: Tokens | None = None
    fields: dict[str, Any] = field(default_factory=dict)

    def relate(self, label: str | None, ends: tuple[str, str], raw: Any) -> None:
        """Add a relation. One without a label counts as coreference."""
        same = label is None or standoff.SAME.fullmatch(label)
        (self.links if same else self.others).append((ends, raw))


About = Callable[[dict[str, Any]], tuple[object, Any]]
"""From a record: the name that it gives its document, if any, and its field `corefine`."""

Make = Callable[[Source, dict[str, Any], str, int], Task | None]
"""From a source, a record, the document's name and the line: the task, or None if it is left out."""


def read_tasks(source: Source, format: str, about: About, make: Make) -> Iterator[Document]:
    """The documents of a file of tasks."""
    for number, (line, record) in enumerate(json_records(source), start=1):
        said, carried = about(record)
        name = said if isinstance(said, str) else f"{source.stem}-{record.get('id', number)}"
        part = carried.get("part") if isinstance(carried, dict) else 0
        part = part if type(part) is int else 0
        source.begin(name, part, line)
        try:
            task = make(source, record, name, line)
            document = None if task is None else _document(source, task, format, part)
        except (WrongError, DocumentError) as wrong:
            source.fault(str(wrong), line=line)
            continue
        if document is not None:
            yield document


def _document(source: Source, task: Task, format: str, part: int) -> Document | None:
    """The document of a task, or None if it is unreadable."""
    _check(source, task)
    carried = task.carried if isinstance(task.carried, dict) else {}
    cuts = sorted({at for region in task.regions.values() for at in region})
    words, fields = _words(source, task, carried, cuts)
    regions = {id_: ([region], task.line) for id_, region in task.regions.items()}
    clusters, places = standoff.clusters(source, words, regions, [ends for ends, _ in task.links])
    if task.others and not task.links:
        kinds = ", ".join(sorted({str(_label(raw)) for _, raw in task.others}))[:100]
        what = f"no relation is called coreference (there are {kinds}): they were kept, but join no mentions"
        source.fault(what, line=task.line, fatal=False)
    kept = {
        "mention labels": [[str(place), id_, task.labels.get(id_, "")] for id_, place in sorted(places.items())],
        "links": [[*ends, raw] for ends, raw in task.links],
        "other relations": [[*ends, raw] for ends, raw in task.others],
        "fields": task.fields,
    }
    if not any(task.labels.values()) and not task.links:
        del kept["mention labels"]
    fields["extra"] = {**fields.get("extra", {}), format: {name: value for name, value in kept.items() if value}}
    if not fields["extra"][format]:
        del fields["extra"][format]
    fields |= {"part": part, "text": task.text, "offsets": words.offsets}
    return source.document(task.name, words.tokens, words.sentence_starts, clusters, **fields)


def _label(raw: Any) -> Any:
    found = raw
    if isinstance(raw, dict):
        found = next((raw[name] for name in ("label", "labels", "type") if raw.get(name)), "?")
    return found[0] if isinstance(found, list) and found else found


def _check(source: Source, task: Task) -> None:
    """Report regions outside the text and quotations that differ; count characters as the tool did."""
    places = standoff.utf16(task.text)
    if places is not None and task.quotes:
        agree = sum(task.text[slice(*task.regions[id_])] == quote for id_, quote in task.quotes.items())
        back = {place: number for number, place in enumerate(places)}
        moved = {i: (back.get(a, a), back.get(z, z)) for i, (a, z) in task.regions.items()}
        if sum(task.text[slice(*moved[id_])] == quote for id_, quote in task.quotes.items()) > agree:
            task.regions = moved  # the tool counts as JavaScript does
    _find_quotes(source, task)
    size = len(task.text)
    for id_, (start, end) in list(task.regions.items()):
        if not 0 <= start < end <= size:
            what = f"characters {start}-{end} of {id_} are outside the text of {size} characters, or none"
            source.fault(what, line=task.line, mendable=True)
            del task.regions[id_]
    for ends, _ in task.links:
        for missing in [id_ for id_ in ends if id_ not in task.regions]:
            source.fault(f"{missing} is linked but is not marked", line=task.line, mendable=True)


def _find_quotes(source: Source, task: Task) -> None:
    """Move a region to the place of the text that it quotes, if there is only one; otherwise report it."""
    for id_, quote in list(task.quotes.items()):
        start, end = task.regions[id_]
        actual = task.text[max(start, 0) : max(end, 0)]
        if quote.split() == actual.split():
            continue
        what = f"{id_} quotes {quote[:50]!r}, but its offsets {start}-{end} hold {actual[:50]!r}"
        if quote.strip() and task.text.count(quote) == 1:
            begin = task.text.index(quote)
            task.regions[id_] = begin, begin + len(quote)
            what += f"; it was found at {begin}-{begin + len(quote)}"
        source.fault(what, line=task.line, fatal=False)


def _words(source: Source, task: Task, carried: dict[str, Any], cuts: Sequence[int]) -> tuple[Tokens, dict[str, Any]]:
    """The tokens of a task and the other fields of its document: carried along, the tool's own, or found by rules."""
    fields: dict[str, Any] = {}
    language: str | None = None
    try:
        language = get_field(carried, "lang", str, None)
        words = _carried_words(carried, task.text)
        if words is None:
            words = task.tokens or tokenise(task.text, language or source.language)
        before = words
        words = divided(words, cuts, task.text)
        fields = _fields(carried, before, words)
    except InputError as error:
        source.fault(str(error), line=task.line)
        words = tokenise(task.text, None, cuts=cuts)
    except WrongError as wrong:
        source.fault(f"the field {CARRIER} does not fit the text and was ignored: {wrong}", line=task.line, fatal=False)
        words = tokenise(task.text, source.language, cuts=cuts)
    return words, fields | {"language": language}


def _carried_words(carried: dict[str, Any], text: str) -> Tokens | None:
    if "offsets" not in carried:
        return None
    offsets = tuple(as_pair(pair, "offsets") for pair in as_list(carried["offsets"], "offsets"))
    starts = tuple(as_list(carried.get("sentence_starts"), "sentence_starts"))
    ordered = all(0 <= a <= z <= len(text) for a, z in offsets) and list(offsets) == sorted(offsets)
    if not ordered or not all(type(start) is int for start in starts):
        raise WrongError("offsets are outside the text or out of order")
    tokens = tuple(text[start:end] for start, end in offsets)
    if "tokens" in carried:
        tokens = tuple(flat(carried["tokens"], "tokens", len(offsets), str))
    return Tokens(tokens, offsets, starts)


def _fields(carried: dict[str, Any], before: Tokens, words: Tokens) -> dict[str, Any]:
    """Speakers and layers, with those of a divided token for each of its parts."""
    size = len(before.tokens)
    starts = [start for start, _ in before.offsets]
    origin = range(size) if words is before else [max(bisect_right(starts, a) - 1, 0) for a, _ in words.offsets]
    fields: dict[str, Any] = {"genre": get_field(carried, "genre", str, None)}
    if carried.get("speakers") is not None:
        speakers = flat(carried["speakers"], "speakers", size, (str, type(None)))
        fields["speakers"] = tuple(speakers[token] for token in origin)
    layers = {
        layer: flat(cells, f"layer {layer}", size, str)
        for layer, cells in get_field(carried, "layers", dict, {}).items()
    }
    fields["layers"] = {layer: tuple(cells[token] for token in origin) for layer, cells in layers.items()}
    fields["extra"] = dict(get_field(carried, "extra", dict, {}))
    return fields


# Writing


def carried(document: Document, format: str, *, own: Tokens | None = None) -> dict[str, Any]:
    """The content of the field `corefine`. `own` are the tool's own tokens, with sentences by rules."""
    text, offsets = text_of(document)
    again = own or _again(document, text, offsets)
    record: dict[str, Any] = {"part": document.part or None}
    if (again.offsets, again.sentence_starts) != (tuple(offsets), document.sentence_starts):
        record |= {"offsets": offsets, "sentence_starts": document.sentence_starts}
    if document.tokens != tuple(text[start:end] for start, end in offsets):
        record |= {"offsets": offsets, "sentence_starts": document.sentence_starts, "tokens": document.tokens}
    record["speakers"] = document.speakers
    record |= {"genre": document.genre, "lang": document.language, "layers": dict(document.layers) or None}
    record["extra"] = {name: value for name, value in document.extra.items() if name != format} or None
    return {name: value for name, value in record.items() if value is not None}


def _again(document: Document, text: str, offsets: Sequence[Characters]) -> Tokens:
    cuts = {at for span in document.mentions for at in standoff.characters(span, offsets)}
    try:
        return divided(tokenise(text, document.language), sorted(cuts), text)
    except InputError:
        return Tokens((), (), ())


def mentions_of(document: Document, offsets: Sequence[Characters]) -> list[tuple[Span, Characters]]:
    """The mentions that are written, with their characters. A discontinuous one is its hull, if that is free."""
    taken = {span for span in document.mentions if not isinstance(span, SplitSpan)}
    found = []
    for span in document.mentions:
        start, end = standoff.characters(span, offsets)
        if (not isinstance(span, SplitSpan) or span.hull not in taken) and start < end:
            taken.add(span.hull)
            found.append((span, (start, end)))
    return found


def kept(document: Document, format: str) -> dict[str, Any]:
    """What a reader left in `extra`, or nothing."""
    content = document.extra.get(format)
    return dict(content) if isinstance(content, dict) else {}


def kept_fields(document: Document, format: str) -> dict[str, Any]:
    """The fields of the task that a reader did not know."""
    found = kept(document, format).get("fields")
    return dict(found) if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class Written:
    """Identifiers and labels of the mentions to write, and their relations.

    ids          span -> identifiers, the first of which new relations use
    relations    relations of the source that still hold, as they were
    missing      mention and earlier mention, for new relations
    """

    ids: dict[Span, list[str]]
    labels: dict[str, str]
    relations: list[Any]
    missing: list[tuple[Span, Span]]


def written(document: Document, format: str, mentions: Mapping[Span, Characters], new: str) -> Written:
    """What to write. A new mention gets an identifier that begins with `new`."""
    extra = kept(document, format)
    known: dict[str, list[tuple[str, str]]] = {}
    for place, id_, label in lost.entries(extra, "mention labels", 3):
        known.setdefault(str(place), []).append((str(id_), str(label)))
    used = {id_ for marks in known.values() for id_, _ in marks}
    fresh = (f"{new}{number}" for number in range(1, len(used) + len(mentions) + 2))
    ids: dict[Span, list[str]] = {}
    labels: dict[str, str] = {}
    for span in mentions:
        marks = known.get(str(span)) or [(next(id_ for id_ in fresh if id_ not in used), "")]
        used.update(id_ for id_, _ in marks)
        ids[span] = [id_ for id_, _ in marks]
        labels |= dict(marks)
    links = [(link, [str(link[0]), str(link[1])]) for link in lost.entries(extra, "links", 3)]
    groups, true = standoff.still_true(document.clusters, ids, [ends for _, ends in links])
    relations = [link[2] for (link, _), is_true in zip(links, true, strict=True) if is_true]
    present = set(labels)
    others = lost.entries(extra, "other relations", 3)
    relations += [raw for start, end, raw in others if {str(start), str(end)} <= present]
    return Written(ids, labels, relations, list(standoff.missing_links(document.clusters, ids, groups)))


def losses(document: Document) -> Counter[str]:
    """What a task loses despite the field `corefine`."""
    text, offsets = text_of(document)
    blank = sum(not text[slice(*standoff.characters(span, offsets))].strip() for span in document.mentions)
    return lost.count(
        discontinuous_mentions=lost.split_mentions(document),
        mentions_of_white_space=blank,
        overlapping_tokens=overlapping(offsets),
        texts_without_offsets=document.text is not None and document.offsets is None,
    )

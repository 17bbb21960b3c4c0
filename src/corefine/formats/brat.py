"""brat standoff: a text (`.txt`) and beside it annotations that point into its characters (`.ann`).

Every `T` line is a mention. `*` lines, and relations whose type begins with "Coref" or is Ident, Identity or Equiv,
join mentions to entities. LitBank has its entities as types instead: a second `T` line over the span of each mention
has a type such as `the_prince-3`, which all mentions of an entity share. A token is divided where a mention begins or
ends inside it. Identifiers, types and all other annotations are kept, and written back as long as the mentions that
they point to exist.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from corefine.document import Document, Span
from corefine.errors import InputError
from corefine.formats import losses as lost
from corefine.formats import standoff
from corefine.formats.expresses import Expresses
from corefine.formats.source import Source
from corefine.formats.text import name_and_part
from corefine.formats.tokens import Characters, Tokens, splitting_losses, text_of, tokenise

NAME = "brat"
TYPE = "Mention"
"""The type of mentions that were not read from brat."""

EXPRESSES = Expresses(crossing=True, discontinuous=True, tokens=False, text=True, part=True, attributes="mention types")

_SAME = re.compile(r"coref.*|ident|identity|equiv", re.IGNORECASE)
_CHAIN = re.compile(r".+-\d+")
_REFERENCE = re.compile(r"\bT\d+\b", re.ASCII)
_TYPE = re.compile(r"\S+")
_FRAGMENT = re.compile(r"(\d{1,12}) (\d{1,12})", re.ASCII)
_LINE_BREAKS = re.compile(r"[\r\n]+")


class _Mention(NamedTuple):
    id: str
    type: str
    parts: tuple[Characters, ...]
    line: int


def read(source: Source) -> Iterator[Document]:
    if source.path is None:
        raise InputError("brat standoff is two files, .txt and .ann: give a path, not a stream")
    text_path, annotation_path = pair(source.path)
    text_source = source.beside(text_path)
    source = source.beside(annotation_path)
    for path in (text_path, annotation_path):
        if not path.is_file():
            source.fault(f"{path} is missing: .txt and .ann belong together", document=None)
            return
    name, part = name_and_part(source.stem)
    text_source.begin(name, part)
    source.begin(name, part)
    text = text_source.whole()
    reader = _Annotations(source, text)
    words = tokenise(text, source.language, cuts=reader.cuts(), sentence_a_line=True)
    clusters = reader.clusters(words)
    document = source.document(
        name, words.tokens, words.sentence_starts, clusters, part=part, text=text, offsets=words.offsets
    )
    if document is None or text_source.broken:
        return
    if render(document) != "".join(f"{line}\n" for line in reader.lines):
        document = replace(document, extra={NAME: reader.extra()})
    yield document


def pair(path: Path) -> tuple[Path, Path]:
    """The text and the annotation file, whichever of them was given, packed or not."""
    base = path.with_suffix("") if path.suffix == ".gz" else path
    found = []
    for suffix in (".txt", ".ann"):
        wanted = base.with_suffix(suffix)
        zipped = wanted.with_name(wanted.name + ".gz")
        found.append(zipped if zipped.exists() and (path.suffix == ".gz" or not wanted.exists()) else wanted)
    return found[0], found[1]


class _Annotations:
    """The lines of an `.ann` file."""

    def __init__(self, source: Source, text: str) -> None:
        self.source = source
        self.text = text
        self.lines: list[str] = []
        self.mentions: dict[str, _Mention] = {}
        self.links: list[tuple[str, list[str], int]] = []
        self.others: list[str] = []
        self.places: dict[str, str] = {}
        self.chains = False
        for line in source.lines():
            if line.damage:
                source.fault(line.damage, line=line.number)
            elif line.text.strip():
                self.lines.append(line.text)
                self._add(line.text, line.number)
        self._check_links()
        self._find_chains()

    def _find_chains(self) -> None:
        """Find out whether types name entities, as in LitBank. If so, spans without an entity are not mentions."""
        named = [id_ for id_, mention in self.mentions.items() if _CHAIN.fullmatch(mention.type)]
        spans = {self.mentions[id_].parts for id_ in named}
        others = {mention.parts for id_, mention in self.mentions.items() if id_ not in set(named)}
        self.chains = bool(named) and not self.links and len(spans & others) * 2 > len(spans)
        if not self.chains:
            return
        for id_, mention in list(self.mentions.items()):
            if mention.parts not in spans:
                del self.mentions[id_]
                self.others.append(next(line for line in self.lines if line.startswith(f"{id_}\t")))

    def _groups(self) -> list[list[str]]:
        """The identifiers that belong together."""
        if not self.chains:
            return [ids for _, ids, _ in self.links]
        by_type: dict[str, list[str]] = {}
        by_place: dict[tuple[Characters, ...], list[str]] = {}
        for id_, mention in self.mentions.items():
            by_place.setdefault(mention.parts, []).append(id_)
            if _CHAIN.fullmatch(mention.type):
                by_type.setdefault(mention.type, []).append(id_)
        return [*by_type.values(), *by_place.values()]

    def _add(self, text: str, line: int) -> None:
        id_, _, rest = text.partition("\t")
        kind, _, arguments = rest.partition("\t")[0].partition(" ")
        if id_.startswith("T"):
            self._add_mention(id_, kind, arguments, rest, line)
            return
        ids = [argument.rpartition(":")[2] for argument in arguments.split()]
        same = id_ == "*" or (id_.startswith("R") and _SAME.fullmatch(kind))
        if same and len(ids) > 1 and all(i.startswith("T") for i in ids):
            self.links.append((text, ids, line))
        else:
            self.others.append(text)

    def _add_mention(self, id_: str, kind: str, offsets: str, rest: str, line: int) -> None:
        fragments = [_FRAGMENT.fullmatch(fragment) for fragment in offsets.split(";")]
        parts = tuple((int(found[1]), int(found[2])) for found in fragments if found)
        if not kind or len(parts) != len(fragments):
            what = f"{id_[:20]!r} needs a type and offsets, as in Person 0 5 or Person 0 5;8 12"
            self.source.fault(what, line=line, mendable=True)
        elif id_ in self.mentions:
            self.source.fault(f"{id_} is used twice", line=line, mendable=True)
        elif not all(start < end <= len(self.text) for start, end in parts):
            what = f"offsets {offsets} of {id_} are outside the text of {len(self.text)} characters"
            self.source.fault(what, line=line, mendable=True)
        else:
            self.mentions[id_] = _Mention(id_, kind, parts, line)
            quoted = rest.partition("\t")[2]
            actual = " ".join(self.text[start:end] for start, end in parts)
            if quoted.split() != actual.split():
                what = f"{id_} quotes {quoted[:50]!r}, but its offsets hold {actual[:50]!r}"
                self.source.fault(what, line=line, fatal=False)

    def _check_links(self) -> None:
        for _, ids, line in self.links:
            for missing in [i for i in ids if i not in self.mentions]:
                self.source.fault(f"{missing} is linked but is not a mention", line=line, mendable=True)

    def cuts(self) -> Iterator[int]:
        return (at for mention in self.mentions.values() for part in mention.parts for at in part)

    def clusters(self, words: Tokens) -> dict[str, list[Span]]:
        """Entities, each by one of its identifiers."""
        regions = {id_: (mention.parts, mention.line) for id_, mention in self.mentions.items()}
        clusters, places = standoff.clusters(self.source, words, regions, self._groups())
        self.places = {id_: str(span) for id_, span in places.items()}
        return clusters

    def extra(self) -> dict[str, list[list[str]] | list[str]]:
        """What is needed to write the same annotations again."""
        return {
            "mentions": [[place, id_, self.mentions[id_].type] for id_, place in sorted(self.places.items())],
            "links": [text for text, _, _ in self.links],
            "others": self.others,
            **({"chains": ["types"]} if self.chains else {}),
        }


def losses(document: Document) -> Counter[str]:
    _, offsets = text_of(document)
    mentions = [span for cluster in document.clusters for span in cluster]
    cuts = [at for span in mentions for part in span.parts for at in (offsets[part.start][0], offsets[part.end][1])]
    return (
        splitting_losses(document, cuts=cuts, sentence_a_line=True)
        + lost.beside_text(document)
        + lost.of_extra(document, NAME)
    )


def render(document: Document) -> str:
    """The content of the `.ann` file."""
    text, offsets = text_of(document)
    kept = _kept(document)
    known: dict[str, list[tuple[str, str]]] = {}
    for place, id_, kind in lost.entries(kept, "mentions", 3):
        known.setdefault(str(place), []).append((str(id_), str(kind)))
    used = {id_ for entries in known.values() for id_, _ in entries}
    used |= {line.partition("\t")[0] for line in kept["others"]}
    fresh = (f"T{number}" for number in range(1, len(used) + 2 * sum(map(len, document.clusters)) + 2))
    chains = _chains(document, known) if kept["chains"] else {}
    lines: list[str] = []
    ids: dict[Span, list[str]] = {}
    for span in document.mentions:
        fragments = [f for part in span.parts for f in _fragments(text, offsets[part.start][0], offsets[part.end][1])]
        if not fragments:
            continue
        entries = known.get(str(span)) or [(next(i for i in fresh if i not in used), TYPE)]
        if chains:
            if not any(_CHAIN.fullmatch(kind) for _, kind in entries):
                entries = [*entries, (next(i for i in fresh if i not in used), chains[span])]
            entries = [(id_, chains[span] if _CHAIN.fullmatch(kind) else kind) for id_, kind in entries]
        ids[span] = [id_ for id_, _ in entries]
        where = ";".join(f"{start} {end}" for start, end in fragments)
        quoted = " ".join(text[start:end] for start, end in fragments).replace("\t", " ")
        lines += [f"{id_}\t{kind} {where}\t{quoted}" for id_, kind in entries]
    if not chains:
        lines += _links(document, ids, kept["links"])
    present = {id_ for entries in ids.values() for id_ in entries}
    present |= {line.partition("\t")[0] for line in kept["others"] if line.startswith("T")}
    lines += [line for line in kept["others"] if present.issuperset(_REFERENCE.findall(line))]
    return "".join(f"{line}\n" for line in lines)


def _kept(document: Document) -> dict[str, list[Any]]:
    """What a brat reader left in `extra`. Anything that cannot be from one is ignored."""
    content = document.extra.get(NAME)
    kept: dict[str, list[Any]] = {"mentions": [], "links": [], "others": [], "chains": []}
    if isinstance(content, dict):
        kept["mentions"] = [
            entry
            for entry in lost.entries(content, "mentions", 3)
            if _REFERENCE.fullmatch(str(entry[1])) and _TYPE.fullmatch(str(entry[2]))
        ]
        for field in ("links", "others", "chains"):
            kept[field] = [str(line) for line in lost.listed(content, field) if "\n" not in str(line)]
    return kept


def _chains(document: Document, known: dict[str, list[tuple[str, str]]]) -> dict[Span, str]:
    """The type that names the entity of each mention: the one that most mentions of the entity had, or a new one."""
    old = {place: kind for place, entries in known.items() for _, kind in entries if _CHAIN.fullmatch(kind)}
    number = max((int(kind.rpartition("-")[2]) for kind in old.values()), default=-1)
    given: set[str] = set()
    chains: dict[Span, str] = {}
    for cluster in document.clusters:
        votes = Counter(old[str(span)] for span in cluster if str(span) in old)
        name = next((kind for kind, _ in votes.most_common() if kind not in given), None)
        if name is None:
            number += 1
            name = f"{'_'.join(document.words(cluster[0]).split()) or 'entity'}-{number}"
        given.add(name)
        chains |= dict.fromkeys(cluster, name)
    return chains


def _fragments(text: str, start: int, end: int) -> Iterator[Characters]:
    """The parts of a mention between line breaks, where brat divides it."""
    at = start
    for found in _LINE_BREAKS.finditer(text, start, end):
        if at < found.start():
            yield at, found.start()
        at = found.end()
    if at < end:
        yield at, end


def _links(document: Document, ids: dict[Span, list[str]], kept: Sequence[str]) -> Iterator[str]:
    """The links of the source that are still true, and a `*` line for each entity that they do not connect."""
    groups, true = standoff.still_true(document.clusters, ids, [_REFERENCE.findall(line) for line in kept])
    yield from (line for line, is_true in zip(kept, true, strict=True) if is_true)
    for cluster in document.clusters:
        first = [ids[span][0] for span in cluster if span in ids]
        if first and len(groups.of[first[0]]) < sum(len(ids.get(span, ())) for span in cluster):
            yield "\t".join(("*", " ".join(("Equiv", *first))))

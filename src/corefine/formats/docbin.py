"""spaCy's DocBin (`.spacy`): docs with entities in `doc.spans`, one span group for each entity.

Groups called `coref_clusters_1`, `coref_clusters_2` and so on are read, as corefine, spaCy's experimental coreference
component and others write them, and so are groups of any name in which the word "coref" or "cluster" occurs and that
ends in a number. Without such groups, `doc._.coref_clusters` is read, as fastcoref fills it. What does not fit into a
Doc is stored in `doc.user_data`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from corefine.document import Document, Span
from corefine.formats import losses as lost
from corefine.formats.expresses import ANY, Expresses
from corefine.formats.expresses import losses as undeclared
from corefine.formats.fields import WrongError, as_list, as_pair, flat, get_field, json_value
from corefine.formats.source import Source
from corefine.formats.token_json import hulls
from corefine.formats.tokens import differing, overlapping, text_of

if TYPE_CHECKING:
    from spacy.tokens import Doc

NAME = "spacy"
KEY = "corefine"
"""The key in `doc.user_data` for what does not fit into a Doc."""

PREFIX = "coref_clusters"
_GROUP = re.compile(r".*(coref|cluster).*\d+", re.IGNORECASE)
_COREFERENCE = re.compile("coref|cluster", re.IGNORECASE)
_HEADS = re.compile(r".*head.*", re.IGNORECASE)
LAYERS = {"lemma": "lemma_", "xpos": "tag_", "upos": "pos_"}
EXPRESSES = Expresses(
    crossing=True, text=True, speakers="token", genre=True, language=True, part=True, layers=ANY, attributes="kept"
)


def read(source: Source) -> Iterator[Document]:
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    try:
        docs = list(DocBin().from_bytes(source.content()).get_docs(Vocab()))
    except Exception as error:  # spaCy raises whatever msgpack, zlib or numpy does
        source.fault(f"this is not a DocBin: {str(error)[:100]}", document=None)
        return
    for number, doc in enumerate(docs, start=1):
        about = _about(doc)
        name, part = about.get("doc_key"), about.get("part")
        if not isinstance(name, str) or not name:
            name = source.stem if len(docs) == 1 else f"{source.stem}-{number}"
        part = part if type(part) is int else 0
        source.begin(name, part)
        try:
            document = _document(source, doc, name, part, about)
        except WrongError as error:
            source.fault(str(error))
        except KeyError as error:  # of spaCy: a word or a label is a number that stands for no string
            source.fault(f"spaCy cannot read it: {str(error)[:100]}")
        else:
            if document is not None:
                yield document


def _about(doc: Doc) -> dict[str, Any]:
    """What corefine stored in the doc, or nothing."""
    along = doc.user_data.get(KEY)
    try:
        about = json_value(along) if isinstance(along, str) else {}
    except ValueError:
        about = {}
    return about if isinstance(about, dict) else {}


def _document(source: Source, doc: Doc, name: str, part: int, about: dict[str, Any]) -> Document | None:
    kept = [token for token in doc if not token.text.isspace()]
    at = {token.i: place for place, token in enumerate(kept)}
    starts = [0] if kept else []
    if doc.has_annotation("SENT_START"):
        last = -1
        for place, token in enumerate(kept):  # a sentence may begin with a token of white space
            if place and any(doc[i].is_sent_start for i in range(last + 1, token.i + 1)):
                starts.append(place)
            last = token.i
    clusters: dict[str, list[Span]] = {}
    others = []
    named = [key for key in doc.spans if _GROUP.fullmatch(key)]
    chosen = [key for key in named if not _HEADS.fullmatch(key)] or named  # heads, if there is nothing else
    for key, group in doc.spans.items():
        if key in chosen:
            clusters[key] = [span for found in group if (span := _span(found.start, found.end, at)) is not None]
        else:
            others.append(key)
    if others:
        what = f"span groups {', '.join(others)[:80]} were not read as coreference and left out"
        source.fault(what, fatal=False)
    clusters = clusters or _of_extensions(source, doc, at)
    layers = {name: tuple(getattr(token, field) for token in kept) for name, field in LAYERS.items()}
    layers = {name: cells for name, cells in layers.items() if any(cells)}
    for layer, cells in get_field(about, "layers", dict, {}).items():
        layers[layer] = tuple(flat(cells, f"layer {layer}", len(kept), str))
    fields: dict[str, Any] = {"layers": layers, "extra": get_field(about, "extra", dict, {})}
    fields |= {key: get_field(about, key, str, None) for key in ("genre", "language")}
    if about.get("speakers") is not None:
        fields["speakers"] = tuple(flat(about["speakers"], "speakers", len(kept), (str, type(None))))
    if not about.get("plain"):
        fields["text"] = get_field(about, "text", str, doc.text)
        fields["offsets"] = tuple((token.idx, token.idx + len(token)) for token in kept)
    return source.document(name, [token.text for token in kept], starts, clusters, part=part, **fields)


def _of_extensions(source: Source, doc: Doc, at: dict[int, int]) -> dict[str, list[Span]]:
    """The clusters that fastcoref's component puts into `doc._.coref_clusters`, as characters of the text."""
    data: dict[Any, Any] = doc.user_data
    held = {key[1]: value for key, value in data.items() if isinstance(key, tuple) and key[:1] == ("._.",)}
    clusters: dict[str, list[Span]] = {}
    for number, cluster in enumerate(as_list(_lists(held.pop(PREFIX, None) or []), PREFIX), start=1):
        spans = clusters[f"{PREFIX} {number}"] = []
        for pair in as_list(cluster, PREFIX):
            start, end = as_pair(pair, PREFIX)
            found = doc.char_span(start, end, alignment_mode="expand") if 0 <= start < end <= len(doc.text) else None
            if found is None:
                source.fault(f"characters {start}-{end} of {PREFIX} are outside the text", mendable=True)
            elif (span := _span(found.start, found.end, at)) is not None:
                spans.append(span)
    unread = sorted(name for name, value in held.items() if value and _COREFERENCE.search(str(name)))
    if unread:
        what = f"doc._.{', doc._.'.join(unread)} may hold coreference, which was not read"
        source.fault(what[:200], fatal=False)
    return clusters


def _lists(value: Any) -> Any:
    """The value with lists in place of tuples, which spaCy makes of them."""
    return [_lists(each) for each in value] if isinstance(value, list | tuple) else value


def _span(start: int, end: int, at: dict[int, int]) -> Span | None:
    inside = [at[token] for token in range(start, end) if token in at]
    return Span(inside[0], inside[-1]) if inside else None


def losses(document: Document) -> Counter[str]:
    text, offsets = text_of(document)
    found = undeclared(document, EXPRESSES, NAME)
    for name in list(found):
        if " of " in name or name.startswith(("field ", "extra ")):  # extra goes along
            del found[name]
    for name in ("sentence comments", "multiword tokens", "empty nodes", "zero mentions", "entity attributes",
                 "mention types", "other annotations"):  # fmt: skip
        found.pop(name, None)
    return found + lost.count(
        tokens_that_differ_from_the_text=differing(document),
        tokens_of_white_space=sum(not token.strip() for token in document.tokens),
        text_between_tokens=_between(text, offsets),
        overlapping_tokens=overlapping(offsets),
    )


def _between(text: str, offsets: Any) -> int:
    """The gaps between tokens that hold more than white space."""
    ends = [0, *(end for _, end in offsets)]
    begins = [*(start for start, _ in offsets), len(text)]
    return sum(bool(text[a:z].strip()) for a, z in zip(ends, begins, strict=True))


def render(document: Document) -> bytes:
    """A DocBin of one document."""
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab

    text, offsets = text_of(document)
    words, spaces, starts, places = _words(document, text, offsets)
    doc = Doc(Vocab(), words=words, spaces=spaces, sent_starts=list(starts) or None)
    for name, field in LAYERS.items():
        for place, cell in zip(places, document.layers.get(name, ()), strict=False):
            if field != "pos_" or cell in _UPOS:
                setattr(doc[place], field, cell)
    for number, cluster in enumerate(hulls(document), start=1):
        doc.spans[f"{PREFIX}_{number}"] = [doc[places[span.start] : places[span.end] + 1] for span in cluster]
    upos = document.layers.get("upos", ())
    own = {"lemma", "xpos"} | ({"upos"} if set(upos) <= _UPOS else set())
    token_of = {place: token for token, place in enumerate(places)}
    kept = [token_of.get(place) for place, word in enumerate(words) if word.strip()]  # what a reader takes for tokens
    about = {
        "doc_key": document.name,
        "part": document.part or None,
        "genre": document.genre,
        "language": document.language,
        "speakers": document.speakers and [document.speakers[at] if at is not None else None for at in kept],
        "plain": document.text is None or None,
        "layers": {
            name: [cells[at] if at is not None else "_" for at in kept]
            for name, cells in document.layers.items()
            if name not in own
        }
        or None,
        "extra": dict(document.extra) or None,
    }
    doc.user_data[KEY] = json.dumps({key: value for key, value in about.items() if value is not None})
    return bytes(DocBin(store_user_data=True, docs=[doc]).to_bytes())


_UPOS = frozenset("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())


def _words(document: Document, text: str, offsets: Any) -> tuple[list[str], list[bool], list[bool], list[int]]:
    """spaCy's tokens, which are the document's and white space between them, and the new index of each token."""
    words: list[str] = []
    spaces: list[bool] = []
    starts: list[bool] = []
    places: list[int] = []
    first = set(document.sentence_starts)
    at = 0

    def gap(upto: int) -> None:
        between = text[at:upto]
        if between.startswith(" ") and words:
            spaces[-1] = True
            between = between[1:]
        if between:
            spaced = between.endswith(" ") and not between.isspace()
            words.append(between.removesuffix(" ") if spaced else between)
            spaces.append(spaced)
            starts.append(False)

    for token, (start, end) in enumerate(offsets):
        gap(start)
        places.append(len(words))
        words.append(text[start:end] or document.tokens[token] or " ")
        spaces.append(False)
        starts.append(token in first)
        at = max(at, end)
    gap(len(text))
    return words, spaces, starts, places


def bundle(rendered: Iterable[str | bytes]) -> Iterator[str | bytes]:
    """One DocBin of all documents."""
    from spacy.tokens import DocBin

    every = DocBin(store_user_data=True)
    for content in rendered:
        if isinstance(content, bytes):
            every.merge(DocBin(store_user_data=True).from_bytes(content))
    yield every.to_bytes()

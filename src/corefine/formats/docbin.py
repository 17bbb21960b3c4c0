"""spaCy's DocBin (`.spacy`): docs with entities in `doc.spans`, one span group for each entity.

Groups called `coref_clusters_1`, `coref_clusters_2` and so on are read, as corefine, spaCy's experimental coreference
component and others write them, and so are groups of any name in which the word "coref" or "cluster" occurs and that
ends in a number. What does not fit into a Doc is stored in `doc.user_data`.
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
        document = _document(source, doc, number, len(docs))
        if document is not None:
            yield document


def _document(source: Source, doc: Doc, number: int, total: int) -> Document | None:
    along = doc.user_data.get(KEY)
    try:
        about = json.loads(along) if isinstance(along, str) else {}
    except ValueError:
        about = {}
    about = about if isinstance(about, dict) else {}
    name = str(about.get("doc_key") or (source.stem if total == 1 else f"{source.stem}-{number}"))
    part = about.get("part") if type(about.get("part")) is int else 0
    source.begin(name, part or 0)
    kept = [token for token in doc if not token.text.isspace()]
    at = {token.i: place for place, token in enumerate(kept)}
    starts = [0] if kept else []
    if doc.has_annotation("SENT_START"):
        starts = [place for place, token in enumerate(kept) if place == 0 or token.is_sent_start]
    clusters: dict[str, list[Span]] = {}
    others = []
    for key, group in doc.spans.items():
        if _GROUP.fullmatch(key) and not _HEADS.fullmatch(key):
            clusters[key] = [span for found in group if (span := _span(found.start, found.end, at)) is not None]
        else:
            others.append(key)
    if others:
        what = f"span groups {', '.join(others)[:80]} are not coreference and were left out"
        source.fault(what, fatal=False)
    layers = {name: tuple(getattr(token, field) for token in kept) for name, field in LAYERS.items()}
    fields: dict[str, Any] = {"layers": {name: cells for name, cells in layers.items() if any(cells)}}
    fields |= {key: about[key] for key in ("genre", "language") if isinstance(about.get(key), str)}
    if isinstance(speakers := about.get("speakers"), list) and len(speakers) == len(kept):
        fields["speakers"] = tuple(speakers)
    if isinstance(more := about.get("layers"), dict):
        fields["layers"] |= {k: tuple(v) for k, v in more.items() if isinstance(v, list) and len(v) == len(kept)}
    fields["extra"] = about["extra"] if isinstance(about.get("extra"), dict) else {}
    text = about["text"] if isinstance(about.get("text"), str) else doc.text
    offsets = tuple((token.idx, token.idx + len(token)) for token in kept)
    if not about.get("plain"):
        fields |= {"text": text, "offsets": offsets}
    return source.document(name, [token.text for token in kept], starts, clusters, part=part or 0, **fields)


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
    about = {
        "doc_key": document.name,
        "part": document.part or None,
        "genre": document.genre,
        "language": document.language,
        "speakers": document.speakers,
        "plain": document.text is None or None,
        "layers": {name: cells for name, cells in document.layers.items() if name not in own} or None,
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
            words.append(between)
            spaces.append(False)
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

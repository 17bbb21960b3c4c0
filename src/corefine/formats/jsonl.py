"""JSON lines: one document a line. This is corefine's own format, and that of several other resolvers.

    doc_key         its name; or "<name>_<part>", with the fields `name` and `part`, if the part is not 0
    sentences       lists of tokens; or `tokens`, one list; or only `text`, which is then split into tokens
    clusters        lists of [first, last] token in the document; of [start, end) characters if there is only `text`
    discontinuous   [{"cluster": number, "parts": [[first, last], ...], "hull_in_clusters": true or false}]
    speakers        in the shape of `sentences`, or one list; null if nobody speaks
    genre, lang, text, offsets, layers, extra: as in `Document`

Other fields are kept and written back. A discontinuous mention is in `clusters` as its hull, unless another mention has
that span, so that readers that do not know `discontinuous` find it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from corefine.document import Document, Span, SplitSpan, span_of
from corefine.errors import DocumentError, InputError
from corefine.formats import losses as lost
from corefine.formats.expresses import ANY, Expresses
from corefine.formats.fields import (
    WrongError,
    as_list,
    as_pair,
    as_pairs,
    flat,
    get_field,
    json_records,
    name_and_part,
    pairs_of,
)
from corefine.formats.source import Source
from corefine.formats.tokens import Tokens, tokenise

NAME = "jsonl"
NOBODY = frozenset((None, "", "-"))
FIELDS = frozenset(
    "doc_key sentences tokens clusters clusters_strings discontinuous speakers "
    "genre lang text offsets layers extra".split()
)

SURE = frozenset(("sentences", "tokens", "clusters"))
"""Fields that show that an object with a text is a document."""

EXPRESSES = Expresses(
    crossing=True,
    discontinuous=True,
    text=True,
    speakers="token",
    genre=True,
    language=True,
    part=True,
    layers=ANY,
    attributes="of all formats",
)

FOREIGN = {
    "mention_clusters": "it is PreCo's (--from preco)",
    "clusters_token_offsets": "it is Maverick's (--from maverick)",
    "relations": "it is Prodigy's or doccano's (--from prodigy, --from doccano)",
    "entities": "it is doccano's (--from doccano)",
    "spans": "it is Prodigy's (--from prodigy)",
    "corefs": "it is CoreNLP's (--from corenlp)",
}
"""Fields of other formats, and which."""

_COREFERENCE = re.compile("coref|cluster|chain|mention|relation|entit|span|anaph|antecedent", re.IGNORECASE)
_SURELY = re.compile("coref|cluster|chain|anaph|antecedent", re.IGNORECASE)

T = TypeVar("T")


def read(source: Source) -> Iterator[Document]:
    for number, (line, record) in enumerate(json_records(source), start=1):
        name, part = name_and_part(record, f"{source.stem}-{number}")
        source.begin(name, part, line)
        try:
            document = _document(source, record, name, part, line)
        except (WrongError, DocumentError) as wrong:
            source.fault(str(wrong), line=line)
            continue
        if document is not None:
            yield document


def _document(source: Source, record: dict[str, Any], name: str, part: int, line: int) -> Document | None:
    _refuse_unread(source, record, line)
    text: str | None = get_field(record, "text", str, None)
    bad = partial(source.fault, line=line, mendable=True)
    pairs = pairs_of(get_field(record, "clusters", list, []), "clusters", bad)
    fields: dict[str, Any] = {
        "part": part,
        "genre": get_field(record, "genre", str, None),
        "language": get_field(record, "lang", str, None),
        "text": text,
    }
    if text is not None and "sentences" not in record and "tokens" not in record:
        words, clusters = _from_text(source, record, text, fields["language"], pairs, line)
        fields["offsets"] = words.offsets
        tokens, starts = words.tokens, words.sentence_starts
    else:
        tokens, starts = _sentences(source, record, line)
        clusters = [[Span(*pair) for pair in cluster] for cluster in pairs]
        if "offsets" in record:
            fields["offsets"] = tuple(as_pairs(get_field(record, "offsets", list, []), "offsets"))
    _add_discontinuous(record, clusters)
    size = len(tokens)
    if record.get("speakers") is not None:
        speakers = flat(record["speakers"], "speakers", size, (str, type(None)))
        if not NOBODY.issuperset(speakers):
            fields["speakers"] = tuple(None if who in NOBODY else who for who in speakers)
    layers = get_field(record, "layers", dict, {})
    fields["layers"] = {layer: tuple(flat(cells, f"layer {layer}", size, str)) for layer, cells in layers.items()}
    fields["extra"] = _extra(record)
    return source.document(name, tokens, starts, {str(n): c for n, c in enumerate(clusters)}, **fields)


def _sentences(source: Source, record: dict[str, Any], line: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
    if "sentences" in record:
        sentences = [as_list(sentence, "sentences") for sentence in get_field(record, "sentences", list, [])]
    elif "tokens" in record:
        tokens = get_field(record, "tokens", list, [])
        sentences = [tokens] if tokens else []
    else:
        raise WrongError("the document has none of sentences, tokens and text")
    if not all(sentences):
        source.fault("a sentence without tokens, which was left out", line=line, fatal=False)
    starts: list[int] = []
    size = 0
    for sentence in filter(None, sentences):
        starts.append(size)
        size += len(sentence)
    words = tuple(chain.from_iterable(sentences))
    if not set(map(type, words)) <= {str}:
        raise WrongError("a token that is not a string")
    return words, tuple(starts)


def _from_text(
    source: Source,
    record: dict[str, Any],
    text: str,
    language: str | None,
    pairs: list[list[tuple[int, int]]],
    line: int,
) -> tuple[Tokens, list[list[Span]]]:
    """Split a text whose clusters are characters. A token ends where a mention does."""
    for cluster in pairs:
        for start, end in [(start, end) for start, end in cluster if not 0 <= start < end <= len(text)]:
            what = f"characters {start}-{end} are outside the text or in the wrong order"
            source.fault(what, line=line, mendable=True)
            cluster.remove((start, end))
    strings = record.get("clusters_strings")
    if strings is not None and strings != [[text[start:end] for start, end in c] for c in pairs]:
        source.fault("clusters_strings are not what clusters point to, and were ignored", line=line, fatal=False)
    try:
        words = tokenise(text, language or source.language, cuts=chain.from_iterable(chain.from_iterable(pairs)))
    except InputError as error:
        if language is None:  # the caller named it, not the file
            raise
        raise WrongError(str(error)) from error
    clusters: list[list[Span]] = []
    for cluster in pairs:
        spans = [words.span([pair]) for pair in cluster]
        if None in spans:
            source.fault("a mention of white space, which was left out", line=line, fatal=False)
        clusters.append([span for span in spans if span is not None])
    return words, clusters


def _add_discontinuous(record: dict[str, Any], clusters: list[list[Span]]) -> None:
    hulls: dict[int, set[Span]] = {}
    found: list[tuple[int, Span]] = []
    for entry in get_field(record, "discontinuous", list, []):
        number = entry.get("cluster") if isinstance(entry, dict) else None
        if type(number) is not int or not 0 <= number < len(clusters):
            raise WrongError("an entry of discontinuous does not name one of the clusters")
        parts = [as_pair(part, "discontinuous") for part in as_list(entry.get("parts"), "discontinuous")]
        if not parts:
            raise WrongError("an entry of discontinuous has no parts")
        found.append((number, span_of(parts)))
        if entry.get("hull_in_clusters"):
            hulls.setdefault(number, set()).add(found[-1][1].hull)
    for number, stand_ins in hulls.items():
        clusters[number] = [span for span in clusters[number] if span not in stand_ins]
    for number, span in found:
        clusters[number].append(span)


def _refuse_unread(source: Source, record: dict[str, Any], line: int) -> None:
    """Raise if there are no clusters, but a field that seems to hold coreference under another name.

    If there is a list of clusters, which is empty, the field is only reported.
    """
    if record.get("clusters"):
        return
    field = next(_unread(record), None)
    if field is None:
        return
    if "clusters" in record:
        what = f"clusters is empty, but the field {field} seems to hold coreference, which is kept and not read"
        source.fault(what, line=line, fatal=False)
        return
    hint = FOREIGN.get(field, "name its format with --from or --format, or rename the field to clusters")
    raise WrongError(f"the field {field} seems to hold coreference that JSON lines does not know: {hint}")


def _unread(record: dict[str, Any]) -> Iterator[str]:
    """Fields that seem to hold coreference under other names, also within others (`gold.clusters`)."""
    for field, value in record.items():
        if field in FIELDS or not value or not isinstance(value, list | dict):
            continue
        pairs = isinstance(value, list) and all(isinstance(each, list) for each in value)
        if _COREFERENCE.search(field) or (pairs and "link" in field.lower()):  # other links are addresses
            yield field
            continue
        inner = value if isinstance(value, list) else [value]
        for key in chain.from_iterable(each for each in inner if isinstance(each, dict)):
            if _SURELY.search(key):
                yield f"{field}.{key}"


def _extra(record: dict[str, Any]) -> dict[str, Any]:
    extra = dict(get_field(record, "extra", dict, {}))
    unknown = {field: value for field, value in record.items() if field not in FIELDS}
    return {**extra, NAME: unknown} if unknown else extra


# Writing


def losses(document: Document) -> Counter[str]:
    unfit = sum(who in ("", "-") for who in document.speakers or ())
    return lost.count(speakers_that_would_be_read_as_nobody=unfit)


def render(document: Document) -> str:
    record: dict[str, Any] = {"doc_key": document.name}
    if document.part:
        record = {"doc_key": f"{document.name}_{document.part}", "name": document.name, "part": document.part}
    extra = dict(document.extra)
    unknown = extra.pop(NAME, {})
    record.update({field: value for field, value in unknown.items() if field not in FIELDS and field not in record})
    own = {
        "genre": document.genre,
        "lang": document.language,
        "sentences": document.sentences,
        "speakers": by_sentence(document, document.speakers) if document.speakers is not None else None,
        **_clusters(document),
        "text": document.text,
        "offsets": document.offsets,
        "layers": {layer: by_sentence(document, column) for layer, column in document.layers.items()} or None,
        "extra": extra or None,
    }
    record.update({field: value for field, value in own.items() if value is not None})
    return json.dumps(record, ensure_ascii=False) + "\n"


def by_sentence(document: Document, column: Sequence[T]) -> list[Sequence[T]]:
    return [column[sentence.start : sentence.end + 1] for sentence in document.sentence_spans]


def _clusters(document: Document) -> dict[str, Any]:
    taken = {span for cluster in document.clusters for span in cluster if not isinstance(span, SplitSpan)}
    clusters: list[list[tuple[int, int]]] = []
    discontinuous: list[dict[str, Any]] = []
    for number, cluster in enumerate(document.clusters):
        clusters.append([])
        for span in cluster:
            free = span.hull not in taken
            if isinstance(span, SplitSpan):
                discontinuous.append({"cluster": number, "parts": span.parts, "hull_in_clusters": free})
            if free or not isinstance(span, SplitSpan):
                clusters[-1].append((span.start, span.end))
                taken.add(span.hull)
    return {"clusters": clusters, "discontinuous": discontinuous} if discontinuous else {"clusters": clusters}

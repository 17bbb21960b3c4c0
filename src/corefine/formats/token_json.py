"""What the JSON of other resolvers has in common: tokens in lists, and clusters of token spans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from corefine.document import Document, Span, SplitSpan
from corefine.errors import DocumentError, InputError
from corefine.formats import losses as lost
from corefine.formats.fields import WrongError, as_list, json_records, name_and_part
from corefine.formats.source import Source
from corefine.formats.tokens import sentences_by_rules

Parsed = tuple[Sequence[str], Sequence[int] | None, Sequence[Sequence[Span]]]
"""Tokens, sentence starts (None: by rules), and clusters."""

Parse = Callable[[dict[str, Any], Callable[[str], None]], Parsed]
"""Makes this of an object. What is wrong with a single mention goes to the function given."""


def read_records(
    source: Source, format: str, known: Sequence[str], parse: Parse, key: str = "doc_key"
) -> Iterator[Document]:
    """A document for each object. Fields that are not `known` are kept."""
    for number, (line, record) in enumerate(json_records(source), start=1):
        name = name_and_part({"doc_key": record.get(key, f"{source.stem}-{number}")}, "")[0]
        source.begin(name, line=line)
        try:
            tokens, starts, clusters = parse(record, partial(source.fault, line=line, mendable=True))
            if starts is None:
                starts = sentences_by_rules(tokens, source.language)
        except (WrongError, DocumentError) as wrong:
            source.fault(str(wrong), line=line)
            continue
        fields = {field: value for field, value in record.items() if field not in (*known, key)}
        labelled = {str(n): spans for n, spans in enumerate(clusters)}
        extra = {format: {"fields": fields}} if fields else {}
        document = source.document(name, tokens, starts, labelled, extra=extra)
        if document is not None:
            yield document


def strings(value: object, field: str) -> list[str]:
    """A list of tokens."""
    found = as_list(value, field)
    if not all(isinstance(token, str) for token in found):
        raise WrongError(f"{field} has a token that is not a string")
    return found


def kept_fields(document: Document, format: str) -> dict[str, Any]:
    content = document.extra.get(format)
    fields = content.get("fields") if isinstance(content, dict) else None
    return dict(fields) if isinstance(fields, dict) else {}


def hulls(document: Document) -> list[list[Span]]:
    """The clusters with plain spans only. A discontinuous mention is its hull, unless another mention has that span."""
    taken = {span for span in document.mentions if not isinstance(span, SplitSpan)}
    found: list[list[Span]] = []
    for cluster in document.clusters:
        found.append([])
        for span in cluster:
            if not isinstance(span, SplitSpan) or span.hull not in taken:
                taken.add(span.hull)
                found[-1].append(span.hull)
    return [cluster for cluster in found if cluster]


def sentence_losses(document: Document) -> Counter[str]:
    """What is lost if sentences are found again by rules."""
    try:
        again = sentences_by_rules(document.tokens, document.language)
    except InputError:
        again = sentences_by_rules(document.tokens, None)
    return lost.count(sentence_boundaries=len(set(again) ^ set(document.sentence_starts)))


def words(document: Document, span: Span) -> str:
    return " ".join(document.tokens[span.start : span.end + 1])


def flat_starts(sentences: Sequence[Sequence[str]]) -> tuple[list[str], list[int]]:
    """Tokens, and where the sentences that have any begin."""
    starts, size = [], 0
    for sentence in filter(None, sentences):
        starts.append(size)
        size += len(sentence)
    return list(chain.from_iterable(sentences)), starts

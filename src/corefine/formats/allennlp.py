"""The output of AllenNLP's coreference predictor: `document`, a list of tokens, and `clusters` of [first, last]."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from corefine.document import Document, Span
from corefine.formats.expresses import Expresses
from corefine.formats.expresses import losses as undeclared
from corefine.formats.fields import as_list, pairs_of
from corefine.formats.source import Source
from corefine.formats.token_json import Parsed, hulls, kept_fields, read_records, sentence_losses, strings

NAME = "allennlp"
FIELDS = ("document", "clusters")
EXPRESSES = Expresses(crossing=True, tokens=False)


def read(source: Source) -> Iterator[Document]:
    return read_records(source, NAME, FIELDS, _parse)


def _parse(record: dict[str, Any], bad: Callable[[str], None]) -> Parsed:
    clusters = pairs_of(as_list(record.get("clusters"), "clusters"), "clusters", bad)
    spans = [[Span(*pair) for pair in cluster] for cluster in clusters]
    return strings(record.get("document"), "document"), None, spans


def losses(document: Document) -> Counter[str]:
    return undeclared(document, EXPRESSES, NAME) + sentence_losses(document)


def render(document: Document) -> str:
    own = {"document": document.tokens, "clusters": hulls(document)}
    return json.dumps({"doc_key": document.name, **own, **kept_fields(document, NAME)}, ensure_ascii=False) + "\n"

"""The output of Maverick: `tokens`, and `clusters_token_offsets` of [first, last] token.

Clusters that it also gives as characters and as strings are read from the tokens, and written as strings.
"""

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
from corefine.formats.token_json import Parsed, hulls, kept_fields, read_records, sentence_losses, strings, words

NAME = "maverick"
FIELDS = (
    "tokens",
    "clusters_token_offsets",
    "clusters_char_offsets",
    "clusters_token_text",
    "clusters_char_text",
)
EXPRESSES = Expresses(crossing=True, tokens=False)


def read(source: Source) -> Iterator[Document]:
    return read_records(source, NAME, FIELDS, _parse)


def _parse(record: dict[str, Any], bad: Callable[[str], None]) -> Parsed:
    field = "clusters_token_offsets"
    clusters = pairs_of(as_list(record.get(field), field), field, bad)
    spans = [[Span(*pair) for pair in cluster] for cluster in clusters]
    return strings(record.get("tokens"), "tokens"), None, spans


def losses(document: Document) -> Counter[str]:
    return undeclared(document, EXPRESSES, NAME) + sentence_losses(document)


def render(document: Document) -> str:
    clusters = hulls(document)
    own = {
        "tokens": document.tokens,
        "clusters_token_offsets": clusters,
        "clusters_char_offsets": None,
        "clusters_token_text": [[words(document, span) for span in cluster] for cluster in clusters],
        "clusters_char_text": None,
    }
    return json.dumps({"doc_key": document.name, **own, **kept_fields(document, NAME)}, ensure_ascii=False) + "\n"

"""PreCo's JSON lines: `sentences`, and `mention_clusters` of [sentence, first token, token after the last]."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from corefine.document import Document, Span
from corefine.formats import losses as lost
from corefine.formats.expresses import Expresses
from corefine.formats.expresses import losses as undeclared
from corefine.formats.fields import as_list
from corefine.formats.source import Source
from corefine.formats.token_json import Parsed, flat_starts, hulls, kept_fields, read_records, strings

NAME = "preco"
FIELDS = ("sentences", "mention_clusters")
EXPRESSES = Expresses(crossing=True)


def read(source: Source) -> Iterator[Document]:
    return read_records(source, NAME, FIELDS, _parse, "id")


def _parse(record: dict[str, Any], bad: Callable[[str], None]) -> Parsed:
    sentences = [strings(sentence, "sentences") for sentence in as_list(record.get("sentences"), "sentences")]
    begins = [0]
    for sentence in sentences:
        begins.append(begins[-1] + len(sentence))
    clusters: list[list[Span]] = []
    for cluster in as_list(record.get("mention_clusters"), "mention_clusters"):
        clusters.append([])
        for mention in as_list(cluster, "mention_clusters"):
            match mention:
                case [int(number), int(start), int(end)] if 0 <= number < len(sentences):
                    if 0 <= start < end <= len(sentences[number]):
                        clusters[-1].append(Span(begins[number] + start, begins[number] + end - 1))
                    else:
                        bad(f"mention {mention} is outside its sentence")
                case _:
                    bad(f"mention {str(mention)[:50]} is not [sentence, start, end] of a sentence")
    return *flat_starts(sentences), clusters


def _crossing_sentences(document: Document) -> int:
    ends = [span.end for span in document.sentence_spans]
    return sum(span.end > ends[document.sentence_of(span)] for span in document.mentions)


def losses(document: Document) -> Counter[str]:
    over = _crossing_sentences(document)
    return undeclared(document, EXPRESSES, NAME) + lost.count(mentions_that_cross_sentences=over)


def render(document: Document) -> str:
    starts = document.sentence_starts
    ends = [span.end for span in document.sentence_spans]
    clusters = []
    for cluster in hulls(document):
        placed = [(document.sentence_of(span), span) for span in cluster]
        clusters.append([[n, s.start - starts[n], s.end - starts[n] + 1] for n, s in placed if s.end <= ends[n]])
    own = {"sentences": document.sentences, "mention_clusters": [cluster for cluster in clusters if cluster]}
    return json.dumps({"id": document.name, **kept_fields(document, NAME), **own}, ensure_ascii=False) + "\n"

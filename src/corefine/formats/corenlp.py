"""Stanford CoreNLP's JSON: `sentences` with tokens, and `corefs`, the chains, by sentence and token numbers.

The text is rebuilt from the tokens and the white space that CoreNLP records before and after them. All other annotation
(parses, dependencies, attributes of mentions) is kept, and written back as long as the mentions exist.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from corefine.document import Document, Span
from corefine.formats import losses as lost
from corefine.formats.expresses import Expresses
from corefine.formats.expresses import losses as undeclared
from corefine.formats.fields import WrongError, as_list, get_field, json_records
from corefine.formats.source import Source
from corefine.formats.token_json import hulls, kept_fields
from corefine.formats.tokens import Characters, text_of

NAME = "corenlp"
LAYERS = {"pos": "xpos", "lemma": "lemma", "ner": "ner"}
"""Fields of a token, and the layers that hold them."""

EXPRESSES = Expresses(crossing=True, text=True, speakers="token", layers=tuple(LAYERS.values()), attributes="kept")
_OF_TOKEN = frozenset(
    (*LAYERS, *"index word originalText characterOffsetBegin characterOffsetEnd before after speaker".split())
)
_NOBODY = frozenset((None, "", "PER0"))
"""CoreNLP's speaker of tokens that nobody speaks."""


def read(source: Source) -> Iterator[Document]:
    for number, (line, record) in enumerate(json_records(source), start=1):
        name = next((record[key] for key in ("docId", "docID") if isinstance(record.get(key), str)), None)
        name = name or (source.stem if number == 1 else f"{source.stem}-{number}")
        source.begin(name, line=line)
        try:
            document = _document(source, record, name, line)
        except WrongError as wrong:
            source.fault(str(wrong), line=line)
            continue
        if document is not None:
            yield document


def _document(source: Source, record: dict[str, Any], name: str, line: int) -> Document | None:
    sentences = [_tokens(sentence) for sentence in as_list(record.get("sentences"), "sentences")]
    tokens = [token for sentence in sentences for token in sentence]
    begins = [0]
    for sentence in sentences:
        begins.append(begins[-1] + len(sentence))
    starts = [begins[n] for n, sentence in enumerate(sentences) if sentence]
    clusters: dict[str, list[Span]] = {}
    attributes: list[list[Any]] = []
    for label, chain in get_field(record, "corefs", dict, {}).items():
        clusters[label] = []
        for mention in as_list(chain, "corefs"):
            try:
                span = _span(mention, sentences, begins)
            except WrongError as wrong:
                source.fault(str(wrong), line=line, mendable=True)
                continue
            clusters[label].append(span)
            attributes.append([str(span), label, mention])
            said = mention.get("text")
            actual = " ".join(token["word"] for token in tokens[span.start : span.end + 1])
            if isinstance(said, str) and said.split() != actual.split():
                what = f"a mention quotes {said[:50]!r}, but its tokens are {actual[:50]!r}"
                source.fault(what, line=line, token=span.start, fatal=False)
    said_by = [str(token["speaker"]) if token.get("speaker") is not None else None for token in tokens]
    speakers = tuple(None if who in _NOBODY else who for who in said_by)
    attributes.sort(key=lambda entry: [int(number) for number in entry[0].split("-")])
    fields: dict[str, Any] = dict(zip(("text", "offsets"), _text(tokens), strict=True))
    fields["speakers"] = speakers if any(speakers) else None
    fields["layers"] = {
        layer: tuple(str(token.get(field, "_")) for token in tokens)
        for field, layer in LAYERS.items()
        if any(field in token for token in tokens)
    }
    kept: dict[str, Any] = {
        "mention attributes": attributes,
        "sentence annotations": [{k: v for k, v in s.items() if k != "tokens"} for s in record["sentences"]],
        "token annotations": [{k: v for k, v in token.items() if k not in _OF_TOKEN} for token in tokens],
        "fields": {key: value for key, value in record.items() if key not in ("sentences", "corefs", "docId")},
    }
    for key in ("sentence annotations", "token annotations"):
        if all(set(entry) <= {"index"} for entry in kept[key]):
            del kept[key]
    extra = {NAME: {key: value for key, value in kept.items() if value}}
    words = [token["word"] for token in tokens]
    return source.document(name, words, starts, clusters, extra=extra if extra[NAME] else {}, **fields)


def _tokens(sentence: object) -> list[dict[str, Any]]:
    if not isinstance(sentence, dict):
        raise WrongError("a sentence is not an object")
    tokens = as_list(sentence.get("tokens"), "tokens")
    for token in tokens:
        if not isinstance(token, dict) or not isinstance(token.get("word"), str):
            raise WrongError("a token has no word")
    return tokens


def _span(mention: object, sentences: list[list[dict[str, Any]]], begins: list[int]) -> Span:
    """The tokens of a mention. CoreNLP counts from 1, and `endIndex` is the token after the last."""
    if not isinstance(mention, dict):
        raise WrongError("a mention is not an object")
    number, start, end = (mention.get(key) for key in ("sentNum", "startIndex", "endIndex"))
    match number, start, end:
        case int(), int(), int() if 1 <= number <= len(sentences):
            if 1 <= start < end <= len(sentences[number - 1]) + 1:
                return Span(begins[number - 1] + start - 1, begins[number - 1] + end - 2)
    raise WrongError(f"a mention at sentence {number}, tokens {start} to {end}, is outside the document")


def _text(tokens: list[dict[str, Any]]) -> tuple[str | None, tuple[Characters, ...] | None]:
    """The text and the places of the tokens, if CoreNLP gives them."""
    if not all(isinstance(token.get("originalText"), str) and "before" in token for token in tokens) or not tokens:
        return None, None
    text, offsets = "", []
    for token in tokens:
        text += str(token["before"])
        offsets.append((len(text), len(text) + len(token["originalText"])))
        text += token["originalText"]
    return text + str(tokens[-1].get("after", "")), tuple(offsets)


def losses(document: Document) -> Counter[str]:
    ends = [span.end for span in document.sentence_spans]
    return undeclared(document, EXPRESSES, NAME) + lost.count(
        mentions_that_cross_sentences=sum(s.end > ends[document.sentence_of(s)] for s in document.mentions),
        speakers_that_would_be_read_as_nobody=sum(who in ("", "PER0") for who in document.speakers or ()),
    )


def render(document: Document) -> str:
    content = document.extra.get(NAME)
    kept = content if isinstance(content, dict) else {}
    text, offsets = text_of(document)
    about = lost.listed(kept, "token annotations")
    of_sentence = lost.listed(kept, "sentence annotations")
    sentences = []
    for number, sentence in enumerate(document.sentence_spans):
        tokens = []
        for index, token in enumerate(range(sentence.start, sentence.end + 1), start=1):
            more = about[token] if token < len(about) and isinstance(about[token], dict) else {}
            tokens.append({"index": index, **_token(document, token, text, offsets), **more})
        own = of_sentence[number] if number < len(of_sentence) and isinstance(of_sentence[number], dict) else {}
        sentences.append({"index": number, **own, "tokens": tokens})
    record = {**kept_fields(document, NAME), "docId": document.name}
    return json.dumps(record | {"sentences": sentences, "corefs": _corefs(document, kept)}, ensure_ascii=False) + "\n"


def _token(document: Document, token: int, text: str, offsets: Any) -> dict[str, Any]:
    start, end = offsets[token]
    before = offsets[token - 1][1] if token else 0
    after = offsets[token + 1][0] if token + 1 < len(offsets) else len(text)
    found: dict[str, Any] = {"word": document.tokens[token], "originalText": text[start:end]}
    found |= {"characterOffsetBegin": start, "characterOffsetEnd": end}
    found |= {"before": text[before:start], "after": text[end:after]}
    found |= {field: document.layers[layer][token] for field, layer in LAYERS.items() if layer in document.layers}
    if document.speakers is not None:
        found["speaker"] = document.speakers[token] or "PER0"
    return found


def _corefs(document: Document, kept: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    known = {str(place): (str(label), about) for place, label, about in lost.entries(kept, "mention attributes", 3)}
    ends = [span.end for span in document.sentence_spans]
    chains: dict[str, list[dict[str, Any]]] = {}
    fresh = 0
    for cluster in hulls(document):
        votes = Counter(known[str(span)][0] for span in cluster if str(span) in known)
        label = next((name for name, _ in votes.most_common() if name not in chains), None)
        while label is None or label in chains:
            fresh += 1
            label = str(fresh) if str(fresh) not in {name for name, _ in known.values()} else None
        chains[label] = []
        for span in cluster:
            number = document.sentence_of(span)
            if span.end > ends[number]:
                continue
            first = document.sentence_starts[number]
            _, about = known.get(str(span), ("", {}))
            place = {"startIndex": span.start - first + 1, "endIndex": span.end - first + 2, "sentNum": number + 1}
            mention = {**(about if isinstance(about, dict) else {}), "text": document.words(span), **place}
            mention.setdefault("isRepresentativeMention", not chains[label])
            chains[label].append(mention)
    return chains

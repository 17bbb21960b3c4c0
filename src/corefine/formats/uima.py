"""UIMA CAS as XMI or JSON, read with dkpro-cassis: the exchange format of INCEpTION, DKPro and CorefAnnotator.

Coreference is a chain layer (a chain's `first` link, each link's `next`), under whatever name, or CorefAnnotator's
mentions, each with its Entity. All other annotation is kept in `extra` as CAS JSON, and written back. XMI needs a type
system: `NAME.typesystem.xml` or `TypeSystem.xml` beside it. Without one, only tokens, sentences and coreference are
read.
"""

from __future__ import annotations

import io
import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from corefine.document import Document, Span
from corefine.formats import losses as lost
from corefine.formats.expresses import Expresses
from corefine.formats.expresses import losses as undeclared
from corefine.formats.source import Source
from corefine.formats.text import name_and_part
from corefine.formats.token_json import hulls
from corefine.formats.tokens import Tokens, differing, overlapping, text_of, tokenise, without_ends
from corefine.formats.uima_types import (
    CHAIN,
    LINK,
    METADATA,
    SENTENCE,
    TOKEN,
    add_chain,
    add_type,
    basic_typesystem,
    library,
    typesystem_of,
)

if TYPE_CHECKING:
    from cassis import Cas, TypeSystem  # type: ignore[import-untyped]

XMI, JSON = "xmi", "uima-json"
KEPT = "uima"
"""The name under which `extra` holds what both formats share."""

EXPRESSES = Expresses(crossing=True, text=True, part=True, language=True, attributes="all annotation")

_TYPE = re.compile(r"[\w.]+\.(\w*Chain|\w*Link|Mention|Entity)")


# Reading


def read_xmi(source: Source) -> Iterator[Document]:
    with library() as cassis:
        name, part = name_and_part(source.stem)
        source.begin(name, part)
        data = source.content()
        typesystem, whole = typesystem_of(source, data)
        try:
            cas = cassis.load_cas_from_xmi(io.BytesIO(data), typesystem=typesystem, lenient=True)
        except Exception as error:  # lxml, attrs and cassis raise errors of many kinds
            source.fault(f"this is not readable CAS XMI: {str(error)[:100]}")
            return
        if not whole:
            what = "there is no TypeSystem.xml beside it: only tokens, sentences and coreference were read"
            source.fault(what, fatal=False)
        document = _sound(source, cas, name, part, whole)
    if document is not None:
        yield document


def read_json(source: Source) -> Iterator[Document]:
    with library() as cassis:
        name, part = name_and_part(source.stem)
        source.begin(name, part)
        try:
            cas = cassis.load_cas_from_json(io.BytesIO(source.content()))
        except Exception as error:
            source.fault(f"this is not readable CAS JSON: {type(error).__name__} {str(error)[:100]}")
            return
        document = _sound(source, cas, name, part, True)
    if document is not None:
        yield document


def _sound(source: Source, cas: Cas, name: str, part: int, whole: bool) -> Document | None:
    """The document. Features with values of the wrong type, which cassis does not check, are a fault."""
    try:
        return _document(source, cas, name, part, whole)
    except (AttributeError, TypeError, ValueError, LookupError) as error:
        source.fault(f"annotation that makes no sense: {type(error).__name__} {str(error)[:100]}")
        return None


def _is_within(mention: Any, size: int) -> bool:
    begin, end = mention.begin, mention.end
    return isinstance(begin, int) and isinstance(end, int) and 0 <= begin <= end <= size


def _document(source: Source, cas: Cas, name: str, part: int, whole: bool) -> Document | None:
    text = cas.sofa_string or ""
    kind, groups = _mentions(cas, source)
    for _, mentions in groups:
        for mention in mentions:
            if not _is_within(mention, len(text)):
                source.fault(f"a mention at {mention.begin}-{mention.end} lies outside the text", mendable=True)
        mentions[:] = [mention for mention in mentions if _is_within(mention, len(text))]
    marks = [(mention.begin, mention.end) for _, mentions in groups for mention in mentions]
    words = _words(cas, text, source, marks)
    clusters: dict[str, list[Span]] = {}
    features: dict[Span, list[Any]] = {}
    for number, (label, mentions) in enumerate(groups, start=1):
        for mention in mentions:
            span = _touched(words, mention.begin, mention.end)
            if span is None:
                source.fault(f"a mention at {mention.begin}-{mention.end} touches no token", mendable=True)
                continue
            whole_tokens = text[words.offsets[span.start][0] : words.offsets[span.end][1]]
            if text[mention.begin : mention.end].strip() != whole_tokens.strip():
                what = f"a mention covers part of the token {words.tokens[span.start]!r}; the whole token was taken"
                source.fault(what, token=span.start, fatal=False)
            clusters.setdefault(f"{label or 'chain'} {number}", []).append(span)
            said = {f.name: mention.get(f.name) for f in mention.type.features if f.rangeType.name == "uima.cas.String"}
            said = {key: value for key, value in said.items() if value}
            if said or label:
                features.setdefault(span, [str(span), label, said])
    kept: dict[str, Any] = {"mention features": [entry for _, entry in sorted(features.items())]}
    if kind is not None and kind != (CHAIN, LINK):
        kept["types"] = list(kind)
    if whole and (annotation := _rest(cas, kind)):
        kept["annotations"] = annotation
    extra = {KEPT: {key: value for key, value in kept.items() if value}}
    return source.document(
        name,
        words.tokens,
        words.sentence_starts,
        clusters,
        part=part,
        text=text,
        offsets=words.offsets,
        language=_language(cas, source),
        extra=extra if extra[KEPT] else {},
    )


def _language(cas: Cas, source: Source) -> str | None:
    languages = [getattr(about, "language", None) for about in cas.select("uima.tcas.DocumentAnnotation")]
    language = next((each for each in languages if each not in (None, "", "x-unspecified")), None)
    if language is None or isinstance(language, str):
        return language
    source.fault("a language that is not text, which was left out", fatal=False)
    return None


Groups = list[tuple[str, list[Any]]]


def _mentions(cas: Cas, source: Source) -> tuple[tuple[str, str] | None, Groups]:
    """The types that hold coreference, and for each entity its label and its mentions."""
    found: Groups = []
    kinds: list[tuple[str, str]] = []
    for type_ in cas.typesystem.get_types():
        names = {feature.name: feature.rangeType for feature in type_.all_features}
        if "first" in names and _is_link(cas.typesystem, names["first"].name):
            chains = list(cas.select(type_.name))
            if chains:
                kinds.append((type_.name, names["first"].name))
            found += [("", _chain(chain)) for chain in chains]
        elif type_.name.endswith(".Mention") and "Entity" in names:
            entities: dict[int, tuple[str, list[Any]]] = {}
            for mention in cas.select(type_.name):
                if mention.Entity is not None:
                    label = str(mention.Entity.get("Label") or "")
                    entities.setdefault(id(mention.Entity), (label, []))[1].append(mention)
            if entities:
                kinds.append((names["Entity"].name, type_.name))
            found += list(entities.values())
    if len(kinds) > 1:
        layers = ", ".join(chain.rpartition(".")[2] for chain, _ in kinds)
        source.fault(f"several layers hold coreference ({layers}): all are read as one", fatal=False)
    return (kinds[0] if kinds else None), found


def _is_link(typesystem: TypeSystem, name: str) -> bool:
    return any(feature.name == "next" for feature in typesystem.get_type(name).all_features)


def _chain(chain: Any) -> list[Any]:
    """The links of a chain. A chain that leads back to an earlier link ends there."""
    links: list[Any] = []
    seen: set[int] = set()
    link = chain.first
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        links.append(link)
        link = link.next
    return links


def _words(cas: Cas, text: str, source: Source, marks: list[tuple[int, int]]) -> Tokens:
    """The tokens of the CAS or, if it has none, tokens by rules, divided where mentions begin and end."""
    types = {type_.name.rpartition(".")[2]: type_.name for type_ in cas.typesystem.get_types()}
    tokens: list[tuple[int, int]] = []
    if "Token" in types:
        tokens = sorted({(token.begin, token.end) for token in cas.select(types["Token"])})
        tokens = [(a, z) for a, z in tokens if 0 <= a < z <= len(text) and text[a:z].strip()]
        if overlapping(tokens):
            tokens = _apart(tokens)
            source.fault("tokens overlap; of those that do, the first was kept", fatal=False)
    if not tokens:
        return tokenise(text, source.language, cuts=[at for mark in marks for at in mark])
    starts = {0}
    if "Sentence" in types:
        starts |= {bisect_left(tokens, (sentence.begin, 0)) for sentence in cas.select(types["Sentence"])}
    forms = tuple(text[a:z] for a, z in tokens)
    return Tokens(forms, tuple(tokens), tuple(sorted(start for start in starts if start < len(tokens))))


def _apart(tokens: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The tokens without those that overlap the previous one."""
    kept: list[tuple[int, int]] = []
    for token in tokens:
        if not kept or token[0] >= kept[-1][1]:
            kept.append(token)
    return kept


def _touched(words: Tokens, begin: int, end: int) -> Span | None:
    first = next((n for n, (_, z) in enumerate(words.offsets) if z > begin), len(words.offsets))
    if first < len(words.offsets) and begin == end and words.offsets[first][0] <= begin:
        return Span(first, first)
    last = first - 1
    while last + 1 < len(words.offsets) and words.offsets[last + 1][0] < end:
        last += 1
    return Span(first, last) if first <= last else None


def _rest(cas: Cas, kind: tuple[str, str] | None) -> dict[str, Any]:
    """The CAS as JSON, without coreference; empty if only tokens and sentences are left."""
    if kind is not None:
        for name in kind:
            for structure in list(cas.select(name)):
                cas.remove(structure)
    found: dict[str, Any] = json.loads(cas.to_json())
    types = {str(each.get("%TYPE")) for each in found.get("%FEATURE_STRUCTURES", ())}
    plain = {TOKEN, SENTENCE, METADATA, "uima.cas.Sofa", "uima.tcas.DocumentAnnotation"}
    return found if types - plain else {}


# Writing


def losses(document: Document) -> Counter[str]:
    text, offsets = text_of(document)
    found = undeclared(document, EXPRESSES, KEPT)
    return found + lost.count(
        tokens_that_differ_from_the_text=differing(document),
        tokens_of_white_space=sum(not text[a:z].strip() for a, z in offsets),
        texts_without_tokens=not document.tokens and bool(text.strip()),
        overlapping_tokens=overlapping(offsets),
    )


_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that XML does not allow."""


def xmi_losses(document: Document) -> Counter[str]:
    held = (text_of(document)[0], document.name, document.language or "")
    return losses(document) + lost.count(characters_that_XML_cannot_hold=len(_UNFIT.findall("".join(held))))


def _for_xml(document: Document) -> Document:
    """The document with replacements for characters that XML does not allow."""

    def fit(text: str) -> str:
        return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)

    return replace(
        document,
        name=fit(document.name),
        tokens=tuple(map(fit, document.tokens)),
        text=None if document.text is None else fit(document.text),
        language=None if document.language is None else fit(document.language),
    )


def _cas(document: Document) -> Cas:
    """The CAS to write: the one that was read, or a new one, with the document's entities."""
    content = document.extra.get(KEPT)
    kept = content if isinstance(content, dict) else {}
    if overlapping(text_of(document)[1]):  # a CAS cannot hold that: the tokens make a text of their own
        document = replace(document, text=None, offsets=None)
    text, offsets = text_of(document)
    with library() as cassis:
        cas: Any = None
        if isinstance(kept.get("annotations"), dict):
            try:
                cas = cassis.load_cas_from_json(json.dumps(kept["annotations"]))
                if cas.sofa_string != text:
                    cas = None
            except Exception:  # it may be unusable; the document is then written without it
                cas = None
        if cas is None:
            cas = cassis.Cas(typesystem=basic_typesystem())
            cas.sofa_string, cas.sofa_mime = text, "text/plain"
            if document.language is not None:
                cas.document_language = document.language
            metadata = cas.typesystem.get_type(METADATA)(begin=0, end=len(text), documentTitle=document.name)
            cas.add(metadata)
            token, sentence = cas.typesystem.get_type(TOKEN), cas.typesystem.get_type(SENTENCE)
            for start, end in offsets:
                cas.add(token(begin=start, end=end))
            for span in document.sentence_spans:
                cas.add(sentence(begin=offsets[span.start][0], end=offsets[span.end][1]))
        _add_entities(cas, document, kept, offsets)
    found: Cas = cas
    return found


def _add_entities(cas: Cas, document: Document, kept: dict[str, Any], offsets: Any) -> None:
    if not document.clusters:
        return
    kinds = [str(name) for name in lost.listed(kept, "types")]
    if len(kinds) != 2 or not all(map(_TYPE.fullmatch, kinds)):
        kinds = [CHAIN, LINK]
    if not all(map(cas.typesystem.contains_type, kinds)):
        if kinds[1].endswith(".Mention"):
            add_type(cas.typesystem, kinds[0], {"Label"}, "uima.cas.TOP")
            add_type(cas.typesystem, kinds[1], set())
            cas.typesystem.create_feature(kinds[1], "Entity", kinds[0])
        else:
            add_chain(cas.typesystem, kinds[0], kinds[1], ["referenceType", "referenceRelation"])
    group, member = map(cas.typesystem.get_type, kinds)
    known = {str(place): (label, said) for place, label, said in lost.entries(kept, "mention features", 3)}
    own = {feature.name for feature in member.all_features}
    for cluster in _solid(hulls(document), cas.sofa_string or "", offsets):
        mentions = []
        for span in cluster:
            said = known.get(str(span), ("", {}))[1]
            features = {k: v for k, v in said.items() if k in own} if isinstance(said, dict) else {}
            begin, end = offsets[span.start][0], offsets[span.end][1]
            mentions.append(member(begin=begin, end=end, **features))
        if "first" in {feature.name for feature in group.all_features}:
            for link, following in pairwise(mentions):
                link.next = following
            cas.add(group(first=mentions[0]))
        else:
            label = next((known[str(s)][0] for s in cluster if str(s) in known), "") or document.words(cluster[0])
            entity = group(Label=label)
            cas.add(entity)
            for mention in mentions:
                mention.Entity = entity
        for mention in mentions:
            cas.add(mention)


def _solid(clusters: list[list[Span]], text: str, offsets: Sequence[tuple[int, int]]) -> list[list[Span]]:
    """The mentions without white-space tokens at their ends, which readers of a CAS ignore."""
    solid = [token for token, (start, end) in enumerate(offsets) if text[start:end].strip()]
    return clusters if len(solid) == len(offsets) else without_ends(clusters, solid)


def render_xmi(document: Document) -> str:
    return _cas(_for_xml(document)).to_xmi(pretty_print=True) or ""


def render_typesystem(document: Document) -> str:
    return str(_cas(_for_xml(document)).typesystem.to_xml())


def render_json(document: Document) -> str:
    return _cas(document).to_json() or ""

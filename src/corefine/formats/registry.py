"""The formats, what each can express, and which of them a file is in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from corefine.document import Document
from corefine.formats import (
    allennlp,
    archive,
    booknlp,
    brat,
    conll,
    conllu,
    conllua,
    corenlp,
    detect,
    docbin,
    doccano,
    jsonl,
    label_studio,
    maverick,
    mmax2,
    preco,
    prodigy,
    tei,
    text,
    uima,
    webanno,
)
from corefine.formats.detect import Head
from corefine.formats.expresses import Expresses
from corefine.formats.source import Source

Render = Callable[[Document], str | bytes]
Bundle = Callable[[Iterable[str | bytes]], Iterable[str | bytes]]


def _concatenated(rendered: Iterable[str | bytes]) -> Iterable[str | bytes]:
    return rendered


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How files of one format are read and written.

    name        what options and messages call it
    title       what people call it
    endings     the endings of its files, without .gz; the first is the one for new files
    read        yields the documents of a source
    files       ending -> function that renders a document; the first is the main file, others go beside it. A format
                without any can only be read
    losses      counts by name what the format cannot express of a document
    expresses   the same as a row of the table of formats
    looks       whether the first bytes of a file look like this format; None if they cannot tell
    many        whether a file can hold several documents
    bundle      puts the rendered documents of a file together
    """

    name: str
    title: str
    endings: tuple[str, ...]
    read: Callable[[Source], Iterator[Document]]
    files: Mapping[str, Render]
    losses: Callable[[Document], Counter[str]]
    expresses: Expresses
    looks: Callable[[Head], bool] | None = None
    many: bool = True
    bundle: Bundle = _concatenated


class FormatModule(Protocol):
    """What the module of a format has."""

    NAME: str
    EXPRESSES: Expresses

    def read(self, source: Source) -> Iterator[Document]: ...

    def render(self, document: Document) -> str | bytes: ...

    def losses(self, document: Document) -> Counter[str]: ...


def _format(
    module: FormatModule,
    title: str,
    *endings: str,
    looks: Callable[[Head], bool] | None,
    beside: Mapping[str, Render] | None = None,
    many: bool = True,
    bundle: Bundle = _concatenated,
) -> Format:
    """A format whose main file has the first of these endings; `beside` it there are other files."""
    return Format(
        name=module.NAME,
        title=title,
        endings=endings,
        read=module.read,
        files={endings[0]: module.render, **(beside or {})},
        losses=module.losses,
        expresses=module.EXPRESSES,
        looks=looks,
        many=many,
        bundle=bundle,
    )


_CONLL = (".conll", ".v4_gold_conll", ".v4_auto_conll", ".key", ".response")
_CONLLUA = (".conllua", ".CONLLUA", ".key", ".sys")

_ALL = (
    _format(conll, "CoNLL-2012", *_CONLL, looks=detect.is_conll),
    _format(conllu, "CoNLL-U with CorefUD's Entity", ".conllu", looks=detect.is_conllu),
    _format(conllua, "CoNLL-UA (Universal Anaphora)", *_CONLLUA, looks=detect.is_conllua),
    _format(jsonl, "JSON lines", ".jsonl", ".jsonlines", ".json", looks=detect.is_jsonl),
    _format(brat, "brat standoff", ".ann", looks=detect.is_brat, beside={".txt": text.render}, many=False),
    _format(webanno, "WebAnno TSV 3 (INCEpTION)", ".tsv", looks=detect.is_webanno, many=False),
    Format(
        name=uima.XMI,
        title="UIMA CAS XMI (INCEpTION, CorefAnnotator)",
        endings=(".xmi",),
        read=uima.read_xmi,
        files={".xmi": uima.render_xmi, ".typesystem.xml": uima.render_typesystem},
        losses=uima.xmi_losses,
        expresses=uima.EXPRESSES,
        looks=detect.is_xmi,
        many=False,
    ),
    Format(
        name=uima.JSON,
        title="UIMA CAS JSON",
        endings=(".json",),
        read=uima.read_json,
        files={".json": uima.render_json},
        losses=uima.losses,
        expresses=uima.EXPRESSES,
        looks=detect.is_uima_json,
        many=False,
    ),
    _format(tei, "TEI XML", ".xml", ".tei", looks=detect.is_tei, many=False),
    _format(prodigy, "Prodigy", ".jsonl", looks=detect.is_prodigy),
    _format(label_studio, "Label Studio", ".json", looks=detect.is_label_studio, bundle=label_studio.bundle),
    _format(doccano, "doccano", ".jsonl", looks=detect.is_doccano),
    _format(corenlp, "CoreNLP JSON", ".json", looks=detect.is_corenlp),
    _format(preco, "PreCo", ".jsonl", ".json", looks=detect.is_preco),
    _format(maverick, "Maverick", ".jsonl", ".json", looks=detect.is_maverick),
    _format(allennlp, "AllenNLP", ".jsonl", ".json", looks=detect.is_allennlp),
    Format(
        name=booknlp.NAME,
        title="BookNLP",
        endings=(".entities", ".tokens"),
        read=booknlp.read,
        files={".entities": booknlp.render_entities, ".tokens": booknlp.render_tokens},
        losses=booknlp.losses,
        expresses=booknlp.EXPRESSES,
        looks=detect.is_booknlp,
        many=False,
    ),
    Format(
        name=mmax2.NAME,
        title="MMAX2 project",
        endings=(".mmax",),
        read=mmax2.read,
        files={},
        losses=lambda _: Counter(),
        expresses=Expresses(),
        looks=detect.is_mmax2,
        many=False,
    ),
    _format(docbin, "spaCy DocBin", ".spacy", looks=detect.is_docbin, bundle=docbin.bundle),
    Format(
        name=archive.NAME,
        title="zip archive of any of these",
        endings=(".zip",),
        read=archive.read,
        files={},
        losses=lambda _: Counter(),
        expresses=Expresses(),
        looks=detect.is_zip,
    ),
    _format(text, "plain text", ".txt", looks=None, many=False),
)

FORMATS = {format_.name: format_ for format_ in _ALL}

"""The formats, what each can express, and which of them a file is in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from corefine.document import Document
from corefine.formats import (
    allennlp,
    archive,
    booknlp,
    brat,
    conll,
    conllua,
    corenlp,
    detect,
    docbin,
    doccano,
    jsonl,
    label_studio,
    maverick,
    preco,
    prodigy,
    tei,
    text,
    uima,
    webanno,
)
from corefine.formats.conllu import extra, reader, writer
from corefine.formats.detect import Head
from corefine.formats.expresses import ANY, Expresses
from corefine.formats.source import Source

Render = Callable[[Document], str | bytes]


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
    bundle: Callable[[Iterable[str | bytes]], Iterable[str | bytes]] = _concatenated


_TASK = Expresses(
    crossing=True, text=True, speakers="token", genre=True, language=True, part=True, layers=ANY, attributes="labels"
)

_ALL = (
    Format(
        name=conll.NAME,
        title="CoNLL-2012",
        endings=(".conll", ".v4_gold_conll", ".v4_auto_conll", ".key", ".response"),
        read=conll.read,
        files={".conll": conll.render},
        losses=conll.losses,
        expresses=Expresses(speakers="token", part=True, layers=conll.LAYERS),
        looks=detect.is_conll,
    ),
    Format(
        name=extra.NAME,
        title="CoNLL-U with CorefUD's Entity",
        endings=(".conllu",),
        read=reader.read,
        files={".conllu": writer.render},
        losses=writer.losses,
        expresses=Expresses(
            discontinuous=True,
            speakers="sentence",
            genre=True,
            language=True,
            part=True,
            layers=extra.LAYERS,
            attributes="names and attributes",
        ),
        looks=detect.is_conllu,
    ),
    Format(
        name=conllua.NAME,
        title="CoNLL-UA (Universal Anaphora)",
        endings=(".conllua", ".CONLLUA", ".key", ".sys"),
        read=conllua.read,
        files={".conllua": conllua.render},
        losses=conllua.losses,
        expresses=conllua.EXPRESSES,
        looks=detect.is_conllua,
    ),
    Format(
        name=jsonl.NAME,
        title="JSON lines",
        endings=(".jsonl", ".jsonlines"),
        read=jsonl.read,
        files={".jsonl": jsonl.render},
        losses=jsonl.losses,
        expresses=Expresses(
            crossing=True,
            discontinuous=True,
            text=True,
            speakers="token",
            genre=True,
            language=True,
            part=True,
            layers=ANY,
            attributes="of all formats",
        ),
        looks=detect.is_jsonl,
    ),
    Format(
        name=brat.NAME,
        title="brat standoff",
        endings=(".ann",),
        read=brat.read,
        files={".ann": brat.render, ".txt": text.render},
        losses=brat.losses,
        expresses=Expresses(
            crossing=True, discontinuous=True, tokens=False, text=True, part=True, attributes="mention types"
        ),
        looks=detect.is_brat,
        many=False,
    ),
    Format(
        name=webanno.NAME,
        title="WebAnno TSV 3 (INCEpTION)",
        endings=(".tsv",),
        read=webanno.read,
        files={".tsv": webanno.render},
        losses=webanno.losses,
        expresses=webanno.EXPRESSES,
        looks=detect.is_webanno,
        many=False,
    ),
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
    Format(
        name=tei.NAME,
        title="TEI XML",
        endings=(".xml", ".tei"),
        read=tei.read,
        files={".xml": tei.render},
        losses=tei.losses,
        expresses=tei.EXPRESSES,
        looks=detect.is_tei,
        many=False,
    ),
    Format(
        name=prodigy.NAME,
        title="Prodigy",
        endings=(".jsonl",),
        read=prodigy.read,
        files={".jsonl": prodigy.render},
        losses=prodigy.losses,
        expresses=_TASK,
        looks=detect.is_prodigy,
    ),
    Format(
        name=label_studio.NAME,
        title="Label Studio",
        endings=(".json",),
        read=label_studio.read,
        files={".json": label_studio.render},
        losses=label_studio.losses,
        expresses=_TASK,
        looks=detect.is_label_studio,
        bundle=label_studio.bundle,
    ),
    Format(
        name=doccano.NAME,
        title="doccano",
        endings=(".jsonl",),
        read=doccano.read,
        files={".jsonl": doccano.render},
        losses=doccano.losses,
        expresses=_TASK,
        looks=detect.is_doccano,
    ),
    Format(
        name=corenlp.NAME,
        title="CoreNLP JSON",
        endings=(".json",),
        read=corenlp.read,
        files={".json": corenlp.render},
        losses=corenlp.losses,
        expresses=corenlp.EXPRESSES,
        looks=detect.is_corenlp,
    ),
    Format(
        name=preco.NAME,
        title="PreCo",
        endings=(".jsonl", ".json"),
        read=preco.read,
        files={".jsonl": preco.render},
        losses=preco.losses,
        expresses=preco.EXPRESSES,
        looks=detect.is_preco,
    ),
    Format(
        name=maverick.NAME,
        title="Maverick",
        endings=(".jsonl", ".json"),
        read=maverick.read,
        files={".jsonl": maverick.render},
        losses=maverick.losses,
        expresses=maverick.EXPRESSES,
        looks=detect.is_maverick,
    ),
    Format(
        name=allennlp.NAME,
        title="AllenNLP",
        endings=(".jsonl", ".json"),
        read=allennlp.read,
        files={".jsonl": allennlp.render},
        losses=allennlp.losses,
        expresses=allennlp.EXPRESSES,
        looks=detect.is_allennlp,
    ),
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
        name=docbin.NAME,
        title="spaCy DocBin",
        endings=(".spacy",),
        read=docbin.read,
        files={".spacy": docbin.render},
        losses=docbin.losses,
        expresses=docbin.EXPRESSES,
        looks=detect.is_docbin,
        bundle=docbin.bundle,
    ),
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
    Format(
        name=text.NAME,
        title="plain text",
        endings=(".txt",),
        read=text.read,
        files={".txt": text.render},
        losses=text.losses,
        expresses=Expresses(entities=False, singletons=False, tokens=False, text=True, part=True),
        many=False,
    ),
)

FORMATS = {format_.name: format_ for format_ in _ALL}

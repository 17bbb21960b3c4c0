"""Plain text: one document a file, split into tokens and sentences, with offsets into the text as it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from corefine.document import Document
from corefine.formats import losses as lost
from corefine.formats.naming import name_and_part
from corefine.formats.source import Source
from corefine.formats.tokens import splitting_losses, text_of, tokenise

NAME = "text"


def read(source: Source) -> Iterator[Document]:
    name, part = name_and_part(source.stem)
    source.begin(name, part)
    text = source.whole()
    words = tokenise(text, source.language)
    document = source.document(
        name, words.tokens, words.sentence_starts, {}, part=part, text=text, offsets=words.offsets
    )
    if document is not None:
        yield document


def losses(document: Document) -> Counter[str]:
    return (
        splitting_losses(document, sentence_a_line=False)
        + lost.beside_text(document)
        + lost.of_extra(document, NAME)
        + lost.count(mentions=sum(map(len, document.clusters)))
    )


def render(document: Document) -> str:
    return text_of(document)[0]

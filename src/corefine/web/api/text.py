"""A document as the page shows it: sentences, tokens, and where spaces and paragraphs are."""

from __future__ import annotations

from corefine.document import Document
from corefine.web.api.types import DocumentText, Sentence

RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})
WITHOUT_SPACES = frozenset({"ja", "zh", "zh-hans", "zh-hant", "th", "lo", "km", "my"})
CLOSING = frozenset(".,;:!?)]}»”’%…") | {"''", "n't", "'s", "'re", "'ve", "'ll", "'d", "'m", "’s", "n’t", "..."}
OPENING = frozenset("([{«“‘$#") | {"``"}


def text_of(document_id: int, document: Document) -> DocumentText:
    spaces = _spaces(document)
    sentences = []
    for number, span in enumerate(document.sentence_spans):
        tokens = slice(span.start, span.end + 1)
        speaker = document.speakers[span.start] if document.speakers is not None else None
        sentences.append(
            Sentence(
                start=span.start,
                tokens=list(document.tokens[tokens]),
                spaces=spaces[tokens],
                speaker=speaker,
                paragraph=number == 0 or _new_paragraph(document, span.start),
            )
        )
    language = (document.language or "").lower()
    return DocumentText(
        id=document_id,
        name=document.key,
        language=document.language,
        tokens=len(document),
        rtl=language.partition("-")[0] in RIGHT_TO_LEFT,
        sentences=sentences,
    )


def _spaces(document: Document) -> list[bool]:
    """Whether a space follows each token: as in the source text, or by the usual rules of typing."""
    size = len(document)
    if document.text is not None and document.offsets is not None:
        starts = [start for start, _ in document.offsets[1:]] + [len(document.text)]
        return [start > end for (_, end), start in zip(document.offsets, starts, strict=True)]
    if (document.language or "").lower() in WITHOUT_SPACES:
        return [False] * size
    following = (*document.tokens[1:], "")
    return [
        token not in OPENING and after.lower() not in CLOSING
        for token, after in zip(document.tokens, following, strict=True)
    ]


def _new_paragraph(document: Document, token: int) -> bool:
    if document.text is not None and document.offsets is not None:
        return "\n" in document.text[document.offsets[token - 1][1] : document.offsets[token][0]]
    speakers = document.speakers
    return speakers is not None and speakers[token] != speakers[token - 1]

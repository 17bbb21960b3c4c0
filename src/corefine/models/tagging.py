"""Part-of-speech tags from a spaCy pipeline, for pronoun scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from corefine.document import Document
from corefine.errors import InputError


def with_tags(documents: Iterable[Document], pipeline: str) -> Iterator[Document]:
    """The documents with the tags of a spaCy pipeline (a name or a folder), which replace their own."""
    import spacy
    from spacy.tokens import Doc

    try:
        language = spacy.load(pipeline, exclude=["parser", "ner", "lemmatizer"])
    except (OSError, ValueError, ImportError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(
            f"spaCy cannot load the pipeline {pipeline!r}: {reason}; install it, or leave it out"
        ) from error
    for document in documents:
        tokens = [token or " " for token in document.tokens]  # spaCy does not allow empty words
        starts = set(document.sentence_starts)
        first: list[bool | int | None] = [place in starts for place in range(len(tokens))]
        doc = language(Doc(language.vocab, words=tokens, sent_starts=first))
        if len(doc) and not any(token.pos_ or token.tag_ for token in doc):
            raise InputError(f"the spaCy pipeline {pipeline!r} sets no parts of speech: name one that has a tagger")
        tags = {"upos": tuple(token.pos_ for token in doc), "xpos": tuple(token.tag_ for token in doc)}
        others = {name: layer for name, layer in document.layers.items() if name != "pos"}
        yield replace(document, layers=others | tags)

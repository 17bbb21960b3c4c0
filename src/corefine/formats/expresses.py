"""What a format can express: one row of the table in docs/formats.md and in `corefine formats`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from corefine.document import Document
from corefine.formats import losses as lost

ANY = "any"
"""Stands for all layers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expresses:
    """What is kept when a document is written and read again.

    entities         mentions, nested or not, and entities of one mention
    crossing         mentions of one entity that cross each other
    discontinuous    mentions with gaps
    tokens           tokens and sentences as they are; otherwise the text is split again
    text             the source text and the places of tokens in it
    speakers         of each "token", of each "sentence", or none ("")
    genre, language, part
    layers           the names of layers, or `ANY`
    attributes       types and names that the format itself gives to mentions and entities
    """

    entities: bool = True
    singletons: bool = True
    crossing: bool = False
    discontinuous: bool = False
    tokens: bool = True
    text: bool = False
    speakers: str = ""
    genre: bool = False
    language: bool = False
    part: bool = False
    layers: tuple[str, ...] | str = ()
    attributes: str = ""


def losses(document: Document, expresses: Expresses, own: str) -> Counter[str]:
    """What a document loses according to the table, and what other formats left in it."""
    layers = () if expresses.layers == ANY else [name for name in document.layers if name not in expresses.layers]
    found = lost.of_extra(document, own) + lost.count(
        empty_names=not document.name,
        discontinuous_mentions=0 if expresses.discontinuous else lost.split_mentions(document),
        entities_of_one_mention=0 if expresses.singletons else sum(len(c) == 1 for c in document.clusters),
        source_text=document.text is not None and not expresses.text,
        texts_without_offsets=expresses.text and document.text is not None and document.offsets is None,
        speakers=0 if expresses.speakers else sum(who is not None for who in document.speakers or ()),
        genre=document.genre is not None and not expresses.genre,
        language=document.language is not None and not expresses.language,
        part=bool(document.part) and not expresses.part,
    )
    found.update(f"layer {name}" for name in layers)
    return found

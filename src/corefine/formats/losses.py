"""Counts what a document has that a format cannot express: the parts that several formats share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from corefine.document import Document, SplitSpan

_BREAKS = re.compile(r"[\t\n\r]")


def breaks(text: str) -> bool:
    """Whether the text would break the line or the column it is written in."""
    return _BREAKS.search(text) is not None


def mended(text: str) -> str:
    """The text with spaces for tabs and line breaks, and `_` for an empty text."""
    return _BREAKS.sub(" ", text) or "_"


def all_mended(texts: Sequence[str]) -> Sequence[str]:
    """Every text as `mended` returns it. Nearly always none needs a change, and one check of all together shows it."""
    return list(map(mended, texts)) if "" in texts or breaks("".join(texts)) else texts


def count(**names: int | bool) -> Counter[str]:
    """The counts that are not 0; an underscore in a name stands for a space."""
    return Counter({name.replace("_", " "): int(number) for name, number in names.items() if number})


def in_columns(document: Document, layers: Iterable[str]) -> Counter[str]:
    """What a format with one token a line and these layers loses."""
    known = set(layers)
    lost = count(
        source_text=document.text is not None,
        names_with_tabs_or_line_breaks=breaks(document.name),
        tokens_with_tabs_or_line_breaks=sum(map(breaks, document.tokens)) if breaks("".join(document.tokens)) else 0,
        empty_tokens=document.tokens.count(""),
    )
    for layer, column in document.layers.items():
        if layer not in known:
            lost[f"layer {layer}"] += 1
        elif breaks("".join(column)) or not all(column):
            lost[f"cells of layer {layer} that are empty or have tabs or line breaks"] += 1
    return lost


def beside_text(document: Document) -> Counter[str]:
    """What a text and annotation that points into it cannot express."""
    lost = count(
        empty_names=not document.name,
        empty_tokens=document.tokens.count(""),
        speakers=sum(who is not None for who in document.speakers or ()),
        genre=document.genre is not None,
        language=document.language is not None,
    )
    lost.update(f"layer {layer}" for layer in document.layers)
    return lost


def split_mentions(document: Document) -> int:
    return sum(isinstance(span, SplitSpan) for cluster in document.clusters for span in cluster)


def of_extra(document: Document, own: str) -> Counter[str]:
    """What other formats left in `extra` for themselves."""
    lost: Counter[str] = Counter()
    for name, content in document.extra.items():
        if name == own:
            continue
        match name, content:
            case "jsonl", dict():
                lost.update(f"field {field}" for field in content)
            case "conllu", dict():
                lost.update(_of_conllu(content))
            case "brat", dict():
                lost.update(_of_brat(content))
            case _, dict() if content:
                # formats that name their parts as people would: "mention labels", "other relations"
                for part, value in content.items():
                    lost[f"{part} of {name}"] += len(value) if isinstance(value, list | dict) else 1
            case _:
                lost[f"extra of {name}"] += 1
    return lost


def _of_conllu(content: dict[str, Any]) -> Counter[str]:
    ids = [str(row[2]) for row in entries(content, "rows", 4)]
    mentions = [(str(place), str(body)) for place, body in entries(content, "mentions", 2)]
    return count(
        sentence_comments=sum(len(lines) for lines in listed(content, "comments") if isinstance(lines, list)),
        multiword_tokens=sum("-" in id_ for id_ in ids),
        empty_nodes=sum("." in id_ for id_ in ids),
        zero_mentions=sum("z" in place for place, _ in mentions),
        entity_attributes=sum("-" in body for _, body in mentions),
    )


def _of_brat(content: dict[str, Any]) -> Counter[str]:
    return count(mention_types=len(entries(content, "mentions", 3)), other_annotations=len(listed(content, "others")))


def listed(content: dict[str, Any], field: str) -> list[Any]:
    """The list in a field of `extra`, or an empty one: `extra` may come from anywhere."""
    found = content.get(field)
    return found if isinstance(found, list) else []


def entries(content: dict[str, Any], field: str, size: int) -> list[list[Any]]:
    """The lists of this size in a field of `extra`."""
    return [each for each in listed(content, field) if isinstance(each, list) and len(each) == size]

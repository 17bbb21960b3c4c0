"""Documents and results as HTML for notebooks, with a colour for each entity."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from corefine.document import Cluster, Document, Span

if TYPE_CHECKING:
    from corefine.models.resolver import Result

COLOURS = ("#ffd9d9", "#dbe8ff", "#d8f3dc", "#fff2c2", "#ead7f7", "#ffe3c8", "#cdeff0", "#f6d5e8", "#e3e8c4", "#d9d9d9")
_MARK = "background: {colour}; border-radius: .3em; padding: .05em .2em; box-decoration-break: clone"


class Html(str):
    """HTML that a notebook renders."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def display(what: Document | Result) -> Html:
    """The text with its entities coloured and numbered. Put it on the last line of a notebook cell to show it."""
    if isinstance(what, Document):
        return highlighted(what, what.clusters)
    return highlighted(what.document, what.clusters)


def highlighted(document: Document, clusters: Sequence[Cluster]) -> Html:
    """A document with these entities."""
    opening: dict[int, list[tuple[Span, int]]] = {}
    closing: dict[int, int] = {}
    for number, cluster in enumerate(clusters, start=1):
        for part in (part for span in cluster for part in span.parts):
            opening.setdefault(part.start, []).append((part, number))
            closing[part.end] = closing.get(part.end, 0) + 1
    lines = []
    for sentence in document.sentence_spans:
        words = []
        for token in range(sentence.start, sentence.end + 1):
            begins = sorted(opening.get(token, ()), key=lambda entry: -entry[0].end)
            marks = "".join(_opened(number) for _, number in begins)
            ends = "</span>" * closing.get(token, 0)
            words.append(marks + html.escape(document.tokens[token]) + ends)
        lines.append(" ".join(words))
    return Html(f'<div style="line-height: 1.8">{"<br>".join(lines)}</div>')


def _opened(number: int) -> str:
    style = _MARK.format(colour=COLOURS[(number - 1) % len(COLOURS)])
    return f'<span style="{style}" title="entity {number}"><sub>{number}</sub>'

"""Documents and results as HTML for notebooks, with a colour for each entity."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from corefine.document import Cluster, Document, Span

if TYPE_CHECKING:
    from corefine.models.resolver import Result

COLOURS = ("#ffd9d9", "#dbe8ff", "#d8f3dc", "#fff2c2", "#ead7f7", "#ffe3c8", "#cdeff0", "#f6d5e8", "#e3e8c4", "#d9d9d9")
# the text is dark too, as the background stays light in a dark notebook
_MARK = "background: {colour}; color: #111; border-radius: .3em; padding: .05em .2em; box-decoration-break: clone"


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
    entity = [number for number, cluster in enumerate(clusters, start=1) for _ in cluster]
    spans = [span for cluster in clusters for span in cluster]

    def opened(mark: int, first: bool) -> str:
        number = entity[mark]
        style = _MARK.format(colour=COLOURS[(number - 1) % len(COLOURS)])
        label = f"<sub>{number}</sub>" if first else ""
        return f'<span style="{style}" title="entity {number}">{label}'

    return Html(f'<div style="line-height: 1.8">{"<br>".join(marked(document, spans, opened))}</div>')


def marked(
    document: Document,
    spans: Sequence[Span],
    opened: Callable[[int, bool], str],
    note: Callable[[int], str] = lambda _: "",
) -> Iterator[str]:
    """The sentences as HTML, with an element around every part of every span.

    Elements must nest. Where spans cross, and where one goes on in the next sentence, an element is closed and opened
    again.

    opened    the opening tag of a `span` element for the span of this number, and whether it is the first one for it
    note      HTML that follows the last element for it
    """
    begins: dict[int, list[tuple[int, int]]] = {}  # by first token: the last token and the number of the span
    for number, span in enumerate(spans):
        for part in span.parts:
            begins.setdefault(part.start, []).append((part.end, number))
    stack: list[tuple[int, int]] = []
    for sentence in document.sentence_spans:
        pieces = [opened(number, False) for _, number in stack]
        for token in range(sentence.start, sentence.end + 1):
            if token > sentence.start:
                pieces.append(_gap(document, token))
            for end, number in sorted(begins.get(token, ()), reverse=True):
                pieces.append(opened(number, token == spans[number].start))
                stack.append((end, number))
            pieces.append(html.escape(document.tokens[token]))
            ending = next((at for at, (end, _) in enumerate(stack) if end <= token), len(stack))
            closed, stack = stack[ending:], stack[:ending]
            pieces.append("</span>" * len(closed))
            pieces += [note(number) for end, number in closed if end == token == spans[number].end]
            for end, number in closed:
                if end > token:
                    pieces.append(opened(number, False))
                    stack.append((end, number))
        yield "".join([*pieces, "</span>" * len(stack)])


def _gap(document: Document, token: int) -> str:
    """What is between a token and the one before it: a space, unless the text has none there."""
    if document.text is None or document.offsets is None:
        return " "
    between = document.text[document.offsets[token - 1][1] : document.offsets[token][0]]
    return html.escape(between.strip()) if between.strip() else " " * bool(between)

"""A document's sentences with marked spans. Marks have signs besides their colours; sentences far away are folded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from corefine.document import Document, Span

YELLOW, BLUE, GREEN = "#000000 on #facc15", "#ffffff on #1d4ed8", "#000000 on #4ade80"


class Highlight(NamedTuple):
    """How a span is shown: its style, and the signs before and after it."""

    span: Span
    style: str
    signs: str


class MarkedText(NamedTuple):
    """Sentences, and the character at which the first mark begins."""

    text: Text
    focus: int


def marked_text(document: Document, marks: Sequence[Highlight], *, context: int) -> MarkedText:
    """The sentences with marks and `context` sentences around each. Where marks overlap, the first one's style wins."""
    near = {document.sentence_of(mark.span) for mark in marks}
    text, focus, folded = Text(), 0, 0
    for number, sentence in enumerate(document.sentence_spans):
        if near and min(abs(number - each) for each in near) > context:
            folded += 1
            continue
        _fold(text, folded)
        folded = 0
        for token in range(sentence.start, sentence.end + 1):
            if marks and token == marks[0].span.start:
                focus = len(text)
            _token(text, document, marks, token)
        text.append("\n")
    _fold(text, folded)
    return MarkedText(text, focus)


def _fold(text: Text, sentences: int) -> None:
    if sentences:
        text.append(f"… {sentences} sentence{'' if sentences == 1 else 's'} …\n", style="dim")


def _token(text: Text, document: Document, marks: Sequence[Highlight], token: int) -> None:
    here = [mark for mark in marks if any(part.start <= token <= part.end for part in mark.span.parts)]
    opening = "".join(mark.signs[0] for mark in here if any(part.start == token for part in mark.span.parts))
    closing = "".join(mark.signs[1] for mark in here[::-1] if any(part.end == token for part in mark.span.parts))
    text.append(f"{opening}{document.tokens[token]}{closing}", style=here[0].style if here else "")
    text.append(" ")


class Reader(VerticalScroll, can_focus=False):
    """Shows sentences, with the first mark in view."""

    DEFAULT_CSS = "Reader { height: 1fr; padding: 0 2; }"

    def compose(self) -> ComposeResult:
        yield Static()

    def show(self, what: MarkedText) -> None:
        self.query_one(Static).update(what.text)
        self.call_after_refresh(self._reveal, what)

    def clear(self) -> None:
        self.query_one(Static).update("")

    def _reveal(self, what: MarkedText) -> None:
        width = max(self.scrollable_content_region.width, 20)
        line = len(what.text[: what.focus + 1].wrap(self.app.console, width))
        self.scroll_to(y=max(0, line - self.size.height // 2), animate=False)

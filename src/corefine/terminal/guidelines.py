"""The guidelines, as the project's owner wrote them."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Header, Markdown


class GuidelinesScreen(Screen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,g", "dismiss", "back")]
    CSS = "GuidelinesScreen VerticalScroll { padding: 0 2; }"

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self._markdown = markdown

    def compose(self) -> ComposeResult:
        yield Header()
        with VerticalScroll():
            yield Markdown(self._markdown.strip() or "The project has no guidelines yet.", open_links=False)
        yield Footer()

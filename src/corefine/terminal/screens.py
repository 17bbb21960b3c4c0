"""The history, newest first, from which any answer can be withdrawn; and the guidelines."""

from __future__ import annotations

import uuid
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Header, Markdown, OptionList, Static
from textual.widgets.option_list import Option

from corefine.annotation import wording
from corefine.annotation.log import LogEntry
from corefine.document import Document
from corefine.errors import AnswerError
from corefine.project.store import log
from corefine.project.work.workspaces import Workspaces
from corefine.terminal.text import BLUE, GREEN, YELLOW, Highlight, Reader, marked_text

MOST = 500
CONTEXT = 2


class _Line(NamedTuple):
    document_id: int
    document: Document
    entry: LogEntry
    stands: bool

    def put(self) -> Text:
        said = wording.entry_text(self.entry, self.document)
        text = Text(f"{self.document.key} {self.entry.number}: {said}", style="" if self.stands else "dim strike")
        return text if self.stands else text.append(" (withdrawn)", style="not strike")


class GuidelinesScreen(Screen[None]):
    """The guidelines, as the project's owner wrote them."""

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


class HistoryScreen(Screen[None]):
    """A list, and below it the text that the highlighted line is about."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d,delete", "withdraw", "withdraw"),
        Binding("escape,h", "dismiss", "back"),
    ]
    CSS = """
    HistoryScreen OptionList { height: 1fr; }
    HistoryScreen Reader { height: 12; border-top: solid $panel; }
    HistoryScreen #told { height: auto; padding: 0 2; color: $warning; }
    """

    def __init__(self, workspaces: Workspaces, person_id: int) -> None:
        super().__init__()
        self.workspaces, self.person_id = workspaces, person_id
        self.lines: list[_Line] = []

    def compose(self) -> ComposeResult:
        yield Header()
        yield OptionList()
        yield Static(id="told")
        yield Reader()
        yield Footer()

    def on_mount(self) -> None:
        self._fill()
        self.query_one(OptionList).focus()

    def _fill(self) -> None:
        listed = self.query_one(OptionList)
        at = listed.highlighted or 0
        with self.workspaces.of(self.person_id) as workspace:
            with self.workspaces.project.database.read() as connection:
                rows = log.history(connection, self.person_id, limit=MOST)
            documents = {row.document_id for row in rows}
            sessions = {each: workspace.open(each, needs_model=False).session for each in documents}
        self.lines = []
        for row in rows:
            session = sessions[row.document_id]
            entry = next(entry for entry in session.given if entry.number == row.number)
            self.lines.append(_Line(row.document_id, session.document, entry, entry in session.entries))
        listed.clear_options()
        listed.add_options([Option(line.put()) for line in self.lines])
        if self.lines:
            listed.highlighted = min(at, len(self.lines) - 1)
        else:
            self._tell("You have not answered anything yet.")

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        line = self.lines[event.option_index]
        looks = ((YELLOW, "⟦⟧"), (BLUE, "⟨⟩"), (GREEN, "‹›"))
        marks = [Highlight(span, *look) for span, look in zip(wording.spans_in_order(line.entry), looks, strict=False)]
        self.query_one(Reader).show(marked_text(line.document, marks, context=CONTEXT))

    def action_withdraw(self) -> None:
        at = self.query_one(OptionList).highlighted
        if at is None:
            return
        line = self.lines[at]
        with self.workspaces.of(self.person_id) as workspace:
            try:
                workspace.withdraw(uuid.uuid4().hex, line.document_id, line.entry.number)
            except AnswerError as error:
                self._tell(str(error))
                return
        self._fill()
        self._tell(f"{line.entry.number} is withdrawn; undo brings it back.")

    def _tell(self, message: str) -> None:
        self.query_one("#told", Static).update(Text(message))

"""The entities of a document. Mentions are split off, moved and removed; entities are merged."""

from __future__ import annotations

import uuid
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Footer, Header, OptionList, Static
from textual.widgets.option_list import Option

from corefine.annotation import wording
from corefine.annotation.session import Session
from corefine.document import Cluster, Document, Span
from corefine.errors import AnswerError, ContradictionError
from corefine.project.work import edits
from corefine.project.work.workspaces import Workspaces
from corefine.terminal.text import BLUE, YELLOW, Highlight, Reader, marked_text

CONTEXT = 4


def contradicted(session: Session, error: ContradictionError) -> tuple[str, tuple[int, ...]]:
    """What an answer or edit contradicts, in words, and the numbers of those answers and edits."""
    against = [entry for entry in session.given if entry.number in error.answers]
    if not against:
        return "This contradicts itself.", ()
    said = "\n".join(f"{entry.number}: {wording.entry_text(entry, session.document)}" for entry in against)
    message = f"This contradicts\n{said}\nw: withdraw what is listed here, escape: change nothing"
    return message, tuple(entry.number for entry in against)


class ReviewScreen(Screen[None]):
    """Text at the left; at the right the mentions by entity, and the entities to choose from for move and merge."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "choose"),
        Binding("s", "split", "split off"),
        Binding("m", "target('move')", "move to"),
        Binding("j", "target('merge')", "merge with"),
        Binding("x", "remove", "no mention"),
        Binding("u", "step('undo')", "undo"),
        Binding("r", "step('redo')", "redo"),
        Binding("w", "withdraw", "withdraw those", show=False),
        Binding("escape", "leave", "back"),
    ]
    CSS = """
    ReviewScreen OptionList { width: 40%; height: 1fr; }
    ReviewScreen #targets { display: none; }
    ReviewScreen.targeting #targets { display: block; }
    ReviewScreen.targeting #mentions { display: none; }
    ReviewScreen #told { height: auto; padding: 0 2; color: $warning; }
    """

    def __init__(self, workspaces: Workspaces, person_id: int, document_id: int) -> None:
        super().__init__()
        self.workspaces, self.person_id, self.document_id = workspaces, person_id, document_id
        self.clusters: tuple[Cluster, ...] = ()
        self.rows: list[Span | None] = []  # the mention in each line of the list; None is an entity's heading
        self.chosen: list[Span] = []
        self._targets: list[Cluster] = []
        self._wanted = ""
        self._clash: tuple[edits.Edit, tuple[int, ...]] | None = None

    @property
    def document(self) -> Document:
        return self.workspaces.project.documents.get(self.document_id)

    def compose(self) -> ComposeResult:
        yield Header()
        with Horizontal():
            yield Reader()
            yield OptionList(id="mentions")
            yield OptionList(id="targets")
        yield Static(id="told")
        yield Footer()

    def on_mount(self) -> None:
        self._fill()
        self._tell("Space chooses mentions for split; the other keys are for the line you are on.")
        self.query_one("#mentions").focus()

    # What is shown

    def _fill(self, onto: Span | None = None) -> None:
        """List the entities as model and answers make them now."""
        with self.workspaces.of(self.person_id) as workspace:
            self.clusters = workspace.open(self.document_id, lease="never").session.annotated().clusters
        known = {span for cluster in self.clusters for span in cluster}
        self.chosen = [span for span in self.chosen if span in known]
        self.rows, options = [], []
        for cluster in self.clusters:
            self.rows += [None, *cluster]
            heading = Text(f"{self.document.words(cluster[0])}  ×{len(cluster)}", style="bold")
            options += [Option(heading, disabled=True), *(Option(self._line(span)) for span in cluster)]
        listed = self.query_one("#mentions", OptionList)
        listed.clear_options()
        listed.add_options(options)
        if onto in self.rows:
            listed.highlighted = self.rows.index(onto)
        elif self.rows:
            listed.highlighted = 1

    def _line(self, span: Span) -> Text:
        sign = "■" if span in self.chosen else "·"
        return Text(f"{sign} {self.document.words(span)}  [{self.document.sentence_of(span) + 1}]")

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_list.id == "targets":
            self._draw(self._targets[event.option_index][0])
        elif (span := self.rows[event.option_index]) is not None:
            self._draw(span)

    def _draw(self, span: Span) -> None:
        here = next((cluster for cluster in self.clusters if span in cluster), (span,))
        near = self.document.sentence_of(span)
        others = [each for each in here if each != span and abs(self.document.sentence_of(each) - near) <= CONTEXT]
        marks = [Highlight(span, YELLOW, "⟦⟧"), *(Highlight(each, BLUE, "⟨⟩") for each in others)]
        self.query_one(Reader).show(marked_text(self.document, marks, context=CONTEXT))

    def _tell(self, message: str) -> None:
        self.query_one("#told", Static).update(Text(message))

    @property
    def current(self) -> Span | None:
        """The mention of the highlighted line."""
        at = self.query_one("#mentions", OptionList).highlighted
        return None if at is None else self.rows[at]

    # What is done

    def action_choose(self) -> None:
        span = self.current
        if span is None or self._wanted:
            return
        if span in self.chosen:
            self.chosen.remove(span)
        else:
            self.chosen.append(span)
        listed = self.query_one("#mentions", OptionList)
        listed.replace_option_prompt_at_index(self.rows.index(span), self._line(span))

    def action_split(self) -> None:
        if not self._wanted and (mentions := self.chosen or [span for span in (self.current,) if span is not None]):
            self._edit(edits.Split(tuple(mentions)))

    def action_remove(self) -> None:
        if not self._wanted and self.current is not None:
            self._edit(edits.Remove(self.current))

    def action_target(self, wanted: str) -> None:
        """List the entities that the mention can be moved to, or its entity merged with; the nearest first."""
        span = self.current
        if span is None or self._wanted:
            return
        others = [cluster for cluster in self.clusters if span not in cluster]
        self._targets = sorted(others, key=lambda cluster: min(abs(each.start - span.start) for each in cluster))
        if not self._targets:
            self._tell("There is no other entity.")
            return
        listed = self.query_one("#targets", OptionList)
        listed.clear_options()
        listed.add_options(Option(Text(f"{self.document.words(each[0])}  ×{len(each)}")) for each in self._targets)
        self._target(wanted)
        listed.highlighted = 0
        listed.focus()
        verb = "Move {} to" if wanted == "move" else "Merge the entity of {} with"
        self._tell(f"{verb.format(wording.quoted(self.document, span))} …   Enter takes it, escape goes back")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        span, wanted = self.current, self._wanted
        if event.option_list.id != "targets" or span is None:
            return
        to = self._targets[event.option_index][0]
        self._target("")
        self._edit(edits.Move(span, to) if wanted == "move" else edits.Merge(span, to))

    def _edit(self, edit: edits.Edit, withdrawing: tuple[int, ...] = ()) -> None:
        onto = self.current
        self._clash = None
        with self.workspaces.of(self.person_id) as workspace:
            try:
                done = workspace.edit(uuid.uuid4().hex, self.document_id, edit, withdrawing=withdrawing)
            except ContradictionError as error:
                message, numbers = contradicted(workspace.open(self.document_id).session, error)
                self._clash = (edit, numbers) if numbers else None
                self._tell(message)
                return
            except AnswerError as error:
                self._tell(str(error))
                return
            entry = next(each for each in workspace.open(self.document_id).session.given if each.number == done.number)
        self.chosen = []
        self._fill(onto)
        self._tell(f"{entry.number}: {wording.entry_text(entry, self.document)}")

    def action_withdraw(self) -> None:
        if self._clash is not None:
            self._edit(*self._clash)

    def action_step(self, what: str) -> None:
        if self._wanted:
            return
        onto = self.current
        with self.workspaces.of(self.person_id) as workspace:
            try:
                done = (workspace.undo if what == "undo" else workspace.redo)(uuid.uuid4().hex)
            except AnswerError as error:
                self._tell(str(error))
                return
        self._fill(onto)
        where = "" if done.document_id == self.document_id else " in another document"
        self._tell(f"{what}: {done.number}{where}")

    def action_leave(self) -> None:
        if self._wanted:
            self._target("")
            self._tell("")
        elif self._clash is not None:
            self._clash = None
            self._tell("Nothing was changed.")
        else:
            self.dismiss()

    def _target(self, wanted: str) -> None:
        self._wanted = wanted
        self.set_class(bool(wanted), "targeting")
        if not wanted:
            self.query_one("#mentions").focus()

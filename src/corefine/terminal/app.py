"""The questions in a terminal.

The mention is in ⟦brackets⟧ and the proposed antecedent in ⟨angles⟩, besides their colours.
"""

from __future__ import annotations

import uuid
from functools import partial
from time import monotonic
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.widgets import Footer, Header, Input, OptionList, Static
from textual.widgets.option_list import Option

from corefine.annotation import wording
from corefine.annotation.question import Answer, Protocol, Question, Reply
from corefine.document import Document, Span
from corefine.errors import AnswerError, ContradictionError, QuestionNotOpenError
from corefine.project import Project
from corefine.project.learning.supervisor import Supervisor
from corefine.project.store.log import Timing
from corefine.project.work.actions import Shown
from corefine.project.work.workspace import question_id_of
from corefine.project.work.workspaces import Workspaces
from corefine.terminal import text
from corefine.terminal.review import ReviewScreen, contradicted
from corefine.terminal.screens import GuidelinesScreen, HistoryScreen

ASKING, FOLLOWING, MARKING, CLASHING = "asking", "following", "marking", "clashing"
ANSWERS = frozenset("yes no first not_a_mention boundaries mark unsure filter withdraw".split())
OWN = ANSWERS | frozenset("step leave page review history guidelines".split())
"""Actions of this screen, which keys do not reach on other screens."""

WAIT_SECONDS = 1.0
IDLE_SECONDS = 60.0
"""A longer pause counts as this."""
CONTEXT = 30
"""Sentences around mention and antecedent; those between are folded away."""


def run(project: Project) -> None:
    """Annotate as the project's owner, with the background process at work."""
    supervisor = Supervisor(project)
    try:
        Terminal(Workspaces(project), project.owner().id).run()
    finally:
        supervisor.stop()


class Stopwatch:
    """The seconds of the initial question and of the follow-up."""

    def __init__(self, *, follow_up: bool = False) -> None:
        self._spent: dict[bool, float] = {}
        self._follow_up = follow_up
        self._since = monotonic()

    def step(self, *, follow_up: bool) -> None:
        """End the present step and begin another."""
        now = monotonic()
        self._spent[self._follow_up] = self._spent.get(self._follow_up, 0.0) + min(now - self._since, IDLE_SECONDS)
        self._since, self._follow_up = now, follow_up

    def timing(self) -> Timing:
        self.step(follow_up=self._follow_up)
        return Timing(initial=self._spent.get(False), follow_up=self._spent.get(True))


class Terminal(App[None]):
    """One person's workspace."""

    CSS = """
    #question { height: auto; padding: 0 2; background: $panel; }
    #message { height: auto; padding: 0 2; color: $warning; }
    #filter, #entities { display: none; }
    #entities { height: 10; }
    .following #filter, .following #entities { display: block; }
    """
    AUTO_FOCUS = None
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", "yes"),
        Binding("n", "no", "no"),
        Binding("f", "first", "first"),
        Binding("m", "not_a_mention", "no mention"),
        Binding("b", "boundaries", "boundaries"),
        Binding("t", "mark", "mark", show=False),
        Binding("s", "unsure", "unsure"),
        Binding("u", "step('undo')", "undo"),
        Binding("r", "step('redo')", "redo", show=False),
        Binding("w", "withdraw", "withdraw those", show=False),
        Binding("slash", "filter", "find entity"),
        Binding("e", "review", "entities"),
        Binding("h", "history", "history"),
        Binding("g", "guidelines", "guidelines"),
        Binding("pageup", "page(-1)", "text up", show=False),
        Binding("pagedown", "page(1)", "text down", show=False),
        Binding("escape", "leave", "back"),
        Binding("q", "quit", "quit"),
    ]

    def __init__(self, workspaces: Workspaces, person_id: int) -> None:
        super().__init__()
        self.workspaces, self.person_id = workspaces, person_id
        workspaces.groups = False  # striking out needs a pointer
        self.mode = ASKING
        self.shown = Shown("empty")
        self.marked = Span(0, 0)
        self.marking_for = Reply.FIRST
        self._no = False
        self._clash: tuple[Answer, tuple[int, ...]] | None = None
        self._listed: list[Span] = []
        self._document_id: int | None = None  # the one last shown, for its review
        self._stopwatch = Stopwatch()

    def compose(self) -> ComposeResult:
        yield Header()
        yield text.Reader()
        yield Static(id="question")
        yield Static(id="message")
        yield Input(placeholder="type to find an entity, Enter takes the first", id="filter")
        yield OptionList(id="entities")
        yield Footer()

    def on_mount(self) -> None:
        self.title = f"corefine · {self.workspaces.project.name}"
        self._refresh()
        self.set_interval(WAIT_SECONDS, self._poll)

    # What is shown

    def _poll(self) -> None:
        if self.shown.state == "preparing":
            self._refresh()

    def _refresh(self, message: str = "", document_id: int | None = None) -> None:
        with self.workspaces.of(self.person_id) as workspace:
            self.shown = workspace.show(document_id)
            if self.shown.state == "document-done":
                message = message or "This document is done."
                self.shown = workspace.show()
            done = len(workspace.finished)
        self._document_id = self.shown.document_id or self._document_id
        if self.shown.opened is not None:
            session = self.shown.opened.session
            questions = f"{len(session.answers)} of {session.budget.questions or '∞'} questions"
            self.sub_title = f"{session.document.key} · {questions} · {done} documents done"
        question = self.shown.question
        self._no = False
        self._set_mode(ASKING)
        self._tell(message)
        self._stopwatch = Stopwatch(follow_up=question is not None and question.protocol is Protocol.FOLLOW_UP)

    def _set_mode(self, mode: str) -> None:
        self.mode = mode
        self.refresh_bindings()
        self.set_class(mode == FOLLOWING, "following")
        if mode == FOLLOWING:
            self.query_one("#filter", Input).value = ""
            self._list("")
            self.query_one("#entities", OptionList).focus()
        else:
            self.set_focus(None)
        self._draw()

    def _draw(self) -> None:
        opened, question = self.shown.opened, self.shown.question
        if opened is None or question is None:
            said = {
                "preparing": "The model is reading the next document …",
                "paused": "The project is paused. The owner can go on with it.",
                "empty": "The project has no documents.",
            }.get(self.shown.state, "Nothing is left to ask. Thank you.")
            self.query_one("#question", Static).update(said)
            self.query_one(text.Reader).clear()
            return
        document = opened.session.document
        marks = [text.Highlight(question.mention, text.YELLOW, "⟦⟧")]
        if question.antecedent is not None:
            marks.append(text.Highlight(question.antecedent, text.BLUE, "⟨⟩"))
        if self.mode == MARKING:
            marks.insert(0, text.Highlight(self.marked, text.GREEN, "‹›"))
        self.query_one(text.Reader).show(text.marked_text(document, marks, context=CONTEXT))
        self.query_one("#question", Static).update(Text(self._asked(document, question)))

    def _asked(self, document: Document, question: Question) -> str:
        if self.mode == MARKING:
            keys = "← → move, shift+← → widen or narrow, Enter takes it"
            return f"Marked: {wording.quoted(document, self.marked)}   {keys}"
        if question.protocol is not Protocol.MENTIONS and (self.mode == FOLLOWING or question.antecedent is None):
            keys = "an entity below (/ finds one), f: this is the first, t: mark tokens"
            return f"Mark the first appearance of {wording.quoted(document, question.mention)}:   {keys}"
        keys = "y / m" if question.protocol is Protocol.MENTIONS else "y / n"
        return f"{wording.question_text(question, partial(wording.quoted, document))}   {keys}"

    def _list(self, typed: str) -> None:
        """List the known entities by their first mention, the nearest before the mention first."""
        opened, question = self.shown.opened, self.shown.question
        listed = self.query_one("#entities", OptionList)
        listed.clear_options()
        self._listed = []
        if opened is None or question is None:
            return
        document = opened.session.document
        firsts = [cluster[0] for cluster in opened.session.relabelled().clusters if cluster[0] < question.mention]
        for first in reversed(firsts):
            if first != question.antecedent and typed.lower() in document.words(first).lower():
                self._listed.append(first)
                listed.add_option(Option(Text(document.words(first))))

    def _tell(self, message: str) -> None:
        self.query_one("#message", Static).update(Text(message))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which keys work now; the others are not at the foot of the screen."""
        if len(self.screen_stack) > 1:
            return action not in OWN
        question = self.shown.question
        if action not in ANSWERS:
            return True
        if question is None:
            return False
        asking, following = self.mode == ASKING, self.mode == FOLLOWING
        match action:
            case "yes":
                return asking and (question.antecedent is not None or question.protocol is Protocol.MENTIONS)
            case "no":
                return asking and question.antecedent is not None
            case "first" | "mark":
                return following or (asking and question.antecedent is None)
            case "filter":
                return following
            case "withdraw":
                return self.mode == CLASHING
        return asking or following

    # What is done

    def _answer(self, answer: Answer, withdrawing: tuple[int, ...] = ()) -> None:
        question, document_id = self.shown.question, self.shown.document_id
        if question is None or document_id is None:
            return
        with self.workspaces.of(self.person_id) as workspace:
            try:
                done = workspace.answer(
                    uuid.uuid4().hex,
                    document_id,
                    question_id_of(question),
                    answer,
                    timing=self._stopwatch.timing(),
                    withdrawing=withdrawing,
                )
            except ContradictionError as error:
                message, numbers = contradicted(workspace.open(document_id).session, error)
                self._clash = (answer, numbers)
                self._set_mode(CLASHING)
                self._tell(message)
                return
            except QuestionNotOpenError:
                message = "That question is no longer open."
            except AnswerError as error:
                self._tell(str(error))
                return
            else:
                message = "" if done.outcome is None else f"Settles {done.outcome.pairs} pairs."
                if done.outcome is not None and done.outcome.settled:
                    document = self.workspaces.project.documents.get(document_id)
                    texts = ", ".join(document.words(span) for span in done.outcome.settled[:3])
                    message += f" No question needed any more: {texts}"
        self._refresh(message, document_id)

    def _reply(self, reply: Reply, span: Span | None = None) -> None:
        """Answer with a reply. After a no, the no stays."""
        keeps_no = self._no and reply in (Reply.FIRST, Reply.UNSURE)
        self._answer(Answer(same=False if keeps_no else None, reply=reply, span=span))

    def action_yes(self) -> None:
        self._answer(Answer.yes())

    def action_no(self) -> None:
        if self.shown.question is not None and self.shown.question.protocol is Protocol.PAIRWISE:
            self._answer(Answer.no())
            return
        self._no = True
        self._stopwatch.step(follow_up=True)
        self._set_mode(FOLLOWING)

    def action_first(self) -> None:
        if self.shown.question is not None:
            self._reply(Reply.FIRST, self.shown.question.mention)

    def action_not_a_mention(self) -> None:
        self._reply(Reply.NOT_A_MENTION)

    def action_unsure(self) -> None:
        self._reply(Reply.UNSURE)

    def action_boundaries(self) -> None:
        if self.shown.question is not None:
            self._mark(Reply.BOUNDARIES, self.shown.question.mention)

    def action_mark(self) -> None:
        if self.shown.question is not None:
            self._mark(Reply.FIRST, self.shown.question.antecedent or Span(0, 0))

    def _mark(self, reply: Reply, start: Span) -> None:
        self.marking_for, self.marked = reply, start.hull
        self._set_mode(MARKING)

    def action_step(self, kind: str) -> None:
        with self.workspaces.of(self.person_id) as workspace:
            try:
                done = (workspace.undo if kind == "undo" else workspace.redo)(uuid.uuid4().hex)
            except AnswerError as error:
                self._tell(str(error))
                return
        self._refresh(f"{kind}: answer {done.number}", done.document_id)

    def action_withdraw(self) -> None:
        if self._clash is not None:
            self._answer(*self._clash)

    def action_filter(self) -> None:
        self.query_one("#filter", Input).focus()

    def action_leave(self) -> None:
        self._refresh(document_id=self.shown.document_id)

    def action_page(self, by: int) -> None:
        reader = self.query_one(text.Reader)
        (reader.scroll_page_down if by > 0 else reader.scroll_page_up)(animate=False)

    def action_review(self) -> None:
        if self._document_id is not None and self.shown.state != "preparing":
            self.push_screen(ReviewScreen(self.workspaces, self.person_id, self._document_id), self._back)

    def action_history(self) -> None:
        self.push_screen(HistoryScreen(self.workspaces, self.person_id), self._back)

    def action_guidelines(self) -> None:
        self.push_screen(GuidelinesScreen(self.workspaces.project.guidelines))

    def _back(self, _: None) -> None:
        """Come back from a screen on which answers may have changed, so that another question may be open."""
        self.action_leave()

    def on_key(self, event: Key) -> None:
        opened = self.shown.opened
        if self.mode != MARKING or opened is None:
            return
        moves = {"left": (-1, -1), "right": (1, 1), "shift+left": (0, -1), "shift+right": (0, 1)}
        if event.key == "enter":
            self._reply(self.marking_for, self.marked)
        elif event.key in moves:
            start, end = moves[event.key]
            moved = Span(self.marked.start + start, self.marked.end + end)
            if opened.session.document.holds(moved):
                self.marked = moved
                self._draw()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._list(event.value)

    def on_input_submitted(self, _: Input.Submitted) -> None:
        if self.mode == FOLLOWING and self._listed:
            self._reply(Reply.FIRST, self._listed[0])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if self.mode == FOLLOWING:
            self._reply(Reply.FIRST, self._listed[event.option_index])

"""The questions in a terminal.

The mention is in ⟦brackets⟧ and the proposed antecedent in ⟨angles⟩, besides their colours.
"""

from __future__ import annotations

import uuid
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
from corefine.errors import AnswerError, ContradictionError, NotOpenError
from corefine.project import Project
from corefine.project.learning.supervisor import Supervisor
from corefine.project.work.workspace import Shown, Workspace, question_id_of
from corefine.project.work.workspaces import Workspaces
from corefine.terminal import text
from corefine.terminal.guidelines import GuidelinesScreen
from corefine.terminal.history import HistoryScreen
from corefine.terminal.review import ReviewScreen
from corefine.terminal.watch import Watch

ASKING, FOLLOWING, MARKING, CLASHING = "asking", "following", "marking", "clashing"
OWN = frozenset(
    "yes no first not_a_mention boundaries mark unsure undo redo withdraw filter leave page "
    "review history guidelines".split()
)
"""What is done at a question, and not on other screens."""

WHEN = {"yes": (ASKING,), "no": (ASKING,), "filter": (FOLLOWING,), "withdraw": (CLASHING,)}
"""What works in some modes only."""

WAIT_SECONDS = 1.0
CONTEXT = 30
"""Sentences around mention and antecedent; what lies between is folded away."""


def run(project: Project) -> None:
    """Annotate as the project's owner, with the background process at work."""
    supervisor = Supervisor(project)
    try:
        Terminal(Workspaces(project), project.owner().id).run()
    finally:
        supervisor.stop()


class Terminal(App[None]):
    """One person at their workspace."""

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
        Binding("u", "undo", "undo"),
        Binding("r", "redo", "redo", show=False),
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
        self.mode = ASKING
        self.shown = Shown("empty")
        self.marked = Span(0, 0)
        self.marking_for = Reply.FIRST
        self._no = False
        self._clash: tuple[Answer, tuple[int, ...]] | None = None
        self._listed: list[Span] = []
        self._document_id: int | None = None  # the one last shown, for its review
        self._stopwatch = Watch()

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
            self._document_id = self.shown.document_id or self._document_id
            self._no = False
            self._set_mode(ASKING)
            self._tell(message)
            self._draw(workspace)
            question = self.shown.question
            self._stopwatch = Watch(follow_up=question is not None and question.protocol is Protocol.FOLLOW_UP)

    def _draw(self, workspace: Workspace) -> None:
        opened, question = self.shown.opened, self.shown.question
        if opened is None or question is None:
            said = {
                "preparing": "The model is reading the next document …",
                "empty": "The project has no documents.",
            }.get(self.shown.state, "Nothing is left to ask. Thank you.")
            self.query_one("#question", Static).update(said)
            self.query_one(text.Reader).clear()
            return
        document = opened.session.document
        answers, budget = len(opened.session.answers), opened.session.budget.questions
        self.sub_title = (
            f"{document.key} · {answers} of {budget or '∞'} questions · {len(workspace.finished)} documents done"
        )
        self.query_one(text.Reader).show(self._text(document, question))
        self.query_one("#question", Static).update(self._asked(document, question))

    def _asked(self, document: Document, question: Question) -> str:
        mention = wording.quoted(document, question.mention)
        if self.mode == MARKING:
            return (
                f"Marked: {wording.quoted(document, self.marked)}   ← → move, shift+← → widen or narrow, Enter takes it"
            )
        if question.protocol is Protocol.MENTIONS:
            return f"Is {mention} a mention?   y / m"
        if self.mode == FOLLOWING or question.antecedent is None:
            keys = "an entity below (/ finds one), f: this is the first, t: mark tokens"
            return f"Mark the first appearance of {mention}:   {keys}"
        return f"Is {mention} the same entity as {wording.quoted(document, question.antecedent)}?   y / n"

    def _text(self, document: Document, question: Question) -> text.MarkedText:
        marks = [text.Mark(question.mention, text.YELLOW, "⟦⟧")]
        if question.antecedent is not None:
            marks.append(text.Mark(question.antecedent, text.BLUE, "⟨⟩"))
        if self.mode == MARKING:
            marks.insert(0, text.Mark(self.marked, text.GREEN, "‹›"))
        return text.marked_text(document, marks, context=CONTEXT)

    def _tell(self, message: str) -> None:
        self.query_one("#message", Static).update(Text(message))

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

    def _list(self, typed: str) -> None:
        """Known entities by their first mention, the nearest before the mention first."""
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

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which keys work now, and stand at the foot: a question is answered only where it is seen."""
        if len(self.screen_stack) > 1 and action in OWN:
            return False
        return self.mode in WHEN.get(action, (self.mode,))

    # What is done

    def _answer(self, answer: Answer, withdrawing: tuple[int, ...] = ()) -> None:
        question, document_id = self.shown.question, self.shown.document_id
        if question is None or document_id is None:
            return
        with self.workspaces.of(self.person_id) as workspace:
            try:
                name = question_id_of(question)
                timing = self._stopwatch.timing()
                done = workspace.answer(
                    uuid.uuid4().hex, document_id, name, answer, timing=timing, withdrawing=withdrawing
                )
            except ContradictionError as error:
                self._contradicts(workspace, answer, error)
                return
            except NotOpenError:
                message = "That question is no longer open."
            except AnswerError as error:
                self._tell(str(error))
                return
            else:
                pairs = 0 if done.outcome is None else done.outcome.pairs
                settled = () if done.outcome is None else done.outcome.settled
                document = self.workspaces.project.documents.get(document_id)
                texts = ", ".join(document.words(span) for span in settled[:3])
                message = f"Settles {pairs} pairs." + (f" No question needed any more: {texts}" if texts else "")
        self._refresh(message, document_id)

    def _contradicts(self, workspace: Workspace, answer: Answer, error: ContradictionError) -> None:
        numbers = tuple(number for number in error.answers if isinstance(number, int))
        session = workspace.open(self.shown.document_id or 0).session
        said = [f"{e.number}: {wording.said(e, session.document)}" for e in session.given if e.number in numbers]
        self._clash = (answer, numbers)
        self._set_mode(CLASHING)
        self._tell("This contradicts\n" + "\n".join(said) + "\nw: withdraw what stands above, escape: answer otherwise")

    def _step(self, what: str) -> None:
        with self.workspaces.of(self.person_id) as workspace:
            try:
                done = getattr(workspace, what)(uuid.uuid4().hex)
            except AnswerError as error:
                self._tell(str(error))
                return
        self._refresh(f"{what}: answer {done.number}", done.document_id)

    def action_yes(self) -> None:
        if self.mode == ASKING and self._proposes(mentions=True):
            self._answer(Answer.yes())

    def action_no(self) -> None:
        question = self.shown.question
        if self.mode != ASKING or question is None or not self._proposes():
            return
        if question.protocol is Protocol.PAIRWISE:
            self._answer(Answer.no())
        else:
            self._no = True
            self._stopwatch.step(follow_up=True)
            self._follow()

    def action_first(self) -> None:
        if self.shown.question is not None and (self.mode == FOLLOWING or self.shown.question.antecedent is None):
            self._reply(Reply.FIRST, self.shown.question.mention)

    def action_not_a_mention(self) -> None:
        if self.mode in (ASKING, FOLLOWING):
            self._answer(Answer(reply=Reply.NOT_A_MENTION))

    def action_unsure(self) -> None:
        if self.mode in (ASKING, FOLLOWING):  # after a no, the no stays
            self._answer(Answer(same=False if self._no else None, reply=Reply.UNSURE))

    def action_boundaries(self) -> None:
        if self.mode in (ASKING, FOLLOWING) and self.shown.question is not None:
            self._mark(Reply.BOUNDARIES, self.shown.question.mention)

    def action_mark(self) -> None:
        question = self.shown.question
        if question is not None and (self.mode == FOLLOWING or question.protocol is Protocol.FOLLOW_UP):
            self._mark(Reply.FIRST, question.antecedent or Span(0, 0))

    def action_undo(self) -> None:
        self._step("undo")

    def action_redo(self) -> None:
        self._step("redo")

    def action_withdraw(self) -> None:
        if self.mode == CLASHING and self._clash is not None:
            answer, numbers = self._clash
            self._answer(answer, numbers)

    def action_filter(self) -> None:
        if self.mode == FOLLOWING:
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
        """From a screen in which the answers may have changed: another question may be open."""
        self._refresh(document_id=self.shown.document_id)

    # Within

    def _proposes(self, *, mentions: bool = False) -> bool:
        question = self.shown.question
        return question is not None and (
            question.antecedent is not None or (mentions and question.protocol is Protocol.MENTIONS)
        )

    def _follow(self) -> None:
        self._set_mode(FOLLOWING)
        with self.workspaces.of(self.person_id) as workspace:
            self._draw(workspace)

    def _mark(self, reply: Reply, start: Span) -> None:
        self.marking_for, self.marked = reply, start.hull
        self._set_mode(MARKING)
        with self.workspaces.of(self.person_id) as workspace:
            self._draw(workspace)

    def _reply(self, reply: Reply, span: Span) -> None:
        same = False if self._no and reply is not Reply.BOUNDARIES else None
        self._answer(Answer(same=same, reply=reply, span=span))

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
                with self.workspaces.of(self.person_id) as workspace:
                    self._draw(workspace)

    def on_input_changed(self, event: Input.Changed) -> None:
        self._list(event.value)

    def on_input_submitted(self, _: Input.Submitted) -> None:
        if self.mode == FOLLOWING and self._listed:
            self._reply(Reply.FIRST, self._listed[0])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if self.mode == FOLLOWING:
            self._reply(Reply.FIRST, self._listed[event.option_index])

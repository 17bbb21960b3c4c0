"""One document's questions, answers, and what follows from them.

The same object serves a person in the browser and a simulated annotator: it asks, it takes answers, it knows what they
imply. Everything that happens is an event in a plain log, and the log alone brings back the identical state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from corefine.annotation.chooser import Inquiry, default_selector
from corefine.annotation.cost import CostModel
from corefine.annotation.log import (
    LOG_VERSION,
    Action,
    Answered,
    Budget,
    Closing,
    Edited,
    Entry,
    Outcome,
    check_log,
    check_mentions,
    spans_said,
)
from corefine.annotation.question import Answer, Protocol, Question, check_fits, check_span
from corefine.annotation.revision import Revision
from corefine.annotation.selectors import Progress, Selector
from corefine.document import Document, Span
from corefine.errors import AnswerError, InputError, NotOpenError, OutsideError, UnknownAnswerError
from corefine.links import Assertion, Change, Links
from corefine.prediction import Prediction


class Session:
    """Questions about one document, the next always chosen on all answers so far.

    Answers are numbered as their questions, from 1, and so are edits: what is said without being asked. `withdraw`
    takes any of them back, `undo` and `redo` go back and forth through everything that was done. A failing call raises
    and changes nothing.
    """

    def __init__(
        self,
        document: Document,
        prediction: Prediction,
        *,
        protocol: Protocol = Protocol.DISCRETE,
        selector: Selector | None = None,
        budget: Budget | None = None,
        infer_first: bool = False,
        cost: CostModel | None = None,
        closing: Closing = Closing.INCREMENTAL,
    ) -> None:
        self.document = document
        self.protocol = Protocol(protocol)
        self.selector = selector or default_selector(self.protocol)
        self.budget = budget or Budget()
        self.cost = cost or CostModel()
        self.closing = Closing(closing)
        self.links = Links(infer_first=infer_first)
        self._given: dict[int, Entry] = {}  # everything ever said
        self._standing: dict[int, Entry] = {}  # of that, what is not withdrawn
        self._done: list[Action] = []
        self._undone: list[Action] = []
        self._events: list[dict[str, Any]] = []
        self._open: Question | None = None
        self.use(prediction)

    # What is asked

    def next_question(self) -> Question | None:
        """The open question; None when the budget is used or nothing is left to ask. Asking again changes nothing."""
        if self._open is None and not self._spent():
            progress = Progress(len(self.answers), self.budget.questions)
            self._open = self._inquiry.choose(len(self._given) + 1, progress)
        return self._open

    def use(self, prediction: Prediction, *, keep_open: bool = False) -> None:
        """Go on with another prediction, as after retraining. Answers stay; the next question is chosen anew.

        With `keep_open` a question that is open stays so, and the one after it is the new prediction's.
        """
        for span in prediction.spans:
            self._check_inside(span)
        self._inquiry = Inquiry(
            prediction,
            self.links,
            self._answered(),
            protocol=self.protocol,
            selector=self.selector,
            closing=self.closing,
        )
        if not keep_open:
            self._open = None

    @property
    def revision(self) -> Revision:
        """The prediction under the answers so far."""
        return self._inquiry.revision

    # What is answered

    def answer(
        self,
        answer: Answer,
        *,
        number: int | None = None,
        seconds: float | None = None,
        withdrawing: Sequence[int] = (),
    ) -> Outcome:
        """Answer the open question; `number`, if given, must be its number.

        `withdrawing` takes back what contradicts it, in the same step: both happen, or neither.
        """
        question = self._open
        if question is None:
            raise NotOpenError("no question is open: call next_question first")
        if number is not None and number != question.number:
            raise NotOpenError(f"question {number} is not open; question {question.number} is")
        check_fits(answer, question)
        if seconds is None:
            seconds = self.cost.seconds(question.protocol, answer)
        return self._say(Answered(question, answer, seconds), withdrawing)

    def edit(
        self,
        assertions: Iterable[Assertion],
        *,
        mentions: Iterable[Span] = (),
        seconds: float = 0.0,
        withdrawing: Sequence[int] = (),
    ) -> Outcome:
        """Say something without being asked, as when reviewing: one step, all of it or nothing.

        `mentions` are spans said to be mentions, linked or not. An open question is chosen anew afterwards.
        """
        return self._say(Edited(len(self._given) + 1, tuple(assertions), tuple(mentions), seconds), withdrawing)

    def skip(self, *, seconds: float | None = None) -> Outcome:
        """Leave the open question: nothing is asserted, its time is counted, and it is not asked again."""
        return self.answer(Answer.unsure(), seconds=seconds)

    def withdraw(self, number: int) -> None:
        """Take an answer or edit back: the links are as if it had never been given."""
        self._check_standing(number)
        self._take_back(number)
        self._did(Action(withdrawn=(number,)), {"event": "withdraw", "number": number})

    def undo(self) -> Action:
        """Undo the last step that is not undone yet; returns it."""
        if not self._done:
            raise UnknownAnswerError("there is nothing to undo")
        self._apply(self._done[-1].reverse)
        self._undone.append(self._done.pop())
        self._events.append({"event": "undo"})
        return self._undone[-1]

    def redo(self) -> Action:
        """Do again what was undone last, unless something else was done since; returns it."""
        if not self._undone:
            raise UnknownAnswerError("there is nothing to redo")
        self._apply(self._undone[-1])
        self._done.append(self._undone.pop())
        self._events.append({"event": "redo"})
        return self._done[-1]

    # What came of it

    @property
    def answers(self) -> tuple[Answered, ...]:
        """The standing answers, in the order of their numbers."""
        return tuple(entry for entry in self.entries if isinstance(entry, Answered))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The standing answers and edits, in the order of their numbers."""
        return tuple(self._standing[number] for number in sorted(self._standing))

    @property
    def given(self) -> tuple[Entry, ...]:
        """Everything ever said, withdrawn or not, in the order of the numbers."""
        return tuple(self._given[number] for number in sorted(self._given))

    @property
    def seconds(self) -> float:
        """Time spent, withdrawn answers included: a person has spent that too."""
        return sum(entry.seconds for entry in self._given.values())

    @property
    def open_mentions(self) -> int:
        """How many mentions could still be asked about, whatever the budget."""
        return int(self._inquiry.open_rows().sum())

    def relabelled(self) -> Document:
        """The document with the clusters that model and answers make together."""
        late = self.closing is Closing.PER_DOCUMENT
        revision = Revision(self.revision.prediction, self.links) if late else self.revision
        clusters = revision.clusters()
        clustered = {span for cluster in clusters for span in cluster}
        said = dict.fromkeys(span for entry in self._standing.values() for span in entry.mentions)
        alone = [(span,) for span in said if self.links.is_mention(span) and span not in clustered]
        return self.document.with_clusters([*clusters, *alone])

    @property
    def log(self) -> dict[str, Any]:
        """Everything that happened, as plain JSON values. `replay` brings the session back from it."""
        return {
            "version": LOG_VERSION,
            "document": self.document.name,
            "part": self.document.part,
            "tokens": len(self.document),
            "protocol": self.protocol.value,
            "selector": self.selector.name,
            "infer_first": self.links.infer_first,
            **({} if self.closing is Closing.INCREMENTAL else {"closing": self.closing.value}),
            "events": list(self._events),
        }

    def replay(self, log: dict[str, Any]) -> None:
        """Take a log's events into this fresh session, made with the same document and settings."""
        if self._events:
            raise InputError("a log is replayed into a fresh session; this one has events already")
        check_log(log, self.log)
        for event in log["events"]:
            try:
                self._replay(event)
            except (LookupError, TypeError, ValueError) as error:
                raise InputError(f"event {len(self._events) + 1} of the log is damaged: {event!r}") from error

    def _replay(self, event: dict[str, Any]) -> None:
        match event["event"]:
            case "answer":
                self._say(Answered.from_json(event), event.get("withdrawing", ()))
            case "edit":
                self._say(Edited.from_json(event), event.get("withdrawing", ()))
            case "withdraw":
                self.withdraw(event["number"])
            case "undo":
                self.undo()
            case "redo":
                self.redo()
            case other:
                raise InputError(f"unknown event {other!r} in the log: it was made by a newer version")

    # Within

    def _spent(self) -> bool:
        questions, seconds = self.budget.questions, self.budget.seconds
        return (questions is not None and len(self.answers) >= questions) or (
            seconds is not None and self.seconds >= seconds
        )

    def _check_inside(self, span: Span) -> None:
        if not self.document.holds(span):
            raise OutsideError(f"span {span} is outside document {self.document.key} ({len(self.document)} tokens)")

    def _check(self, entry: Entry) -> None:
        """Raise unless this can be said of the document."""
        for span in spans_said(entry):
            self._check_inside(span)
        if isinstance(entry, Answered):
            check_span(entry.answer, entry.question)
        elif not entry.assertions and not entry.mentions:
            raise AnswerError("this edit says nothing")
        elif self.closing is not Closing.INCREMENTAL:
            raise AnswerError("an edit needs links that are closed over after each answer")

    def _check_standing(self, number: int) -> None:
        if number not in self._standing:
            raise UnknownAnswerError(f"there is no answer {number} to withdraw")

    def _say(self, entry: Entry, withdrawing: Sequence[int]) -> Outcome:
        """Give an answer or edit, taking back others in the same step, and log it."""
        self._check(entry)
        withdrawn = tuple(dict.fromkeys(withdrawing))
        for number in withdrawn:
            self._check_standing(number)
        question = self._open
        for number in withdrawn:
            self._take_back(number)
        try:
            outcome = self._give(entry)
        except AnswerError:
            for number in reversed(withdrawn):
                self._give(self._given[number])
            self._open = question
            raise
        event = {"event": "answer" if isinstance(entry, Answered) else "edit", **entry.to_json()}
        self._did(
            Action(given=(entry.number,), withdrawn=withdrawn),
            {**event, "withdrawing": list(withdrawn)} if withdrawn else event,
        )
        return outcome

    def _answered(self) -> Iterable[Answered]:
        """The standing answers, in the order given."""
        return (entry for entry in self._standing.values() if isinstance(entry, Answered))

    def _give(self, entry: Entry) -> Outcome:
        """Assert what an answer or edit says; raises and changes nothing where the links contradict it."""
        number = entry.number
        check_mentions(entry, self._standing.values())
        mention = entry.question.mention if isinstance(entry, Answered) else None
        spans = spans_said(entry)
        open_before = self._inquiry.open_rows()
        pairs_before = self.links.known_pairs(spans)
        change = self.links.assert_all(number, entry.assertions)
        self._given[number] = self._standing[number] = entry
        if isinstance(entry, Answered):
            self._inquiry.mark_asked(entry, stands=True)
        self._follow(change, mention)
        closed = np.flatnonzero(open_before & ~self._inquiry.open_rows())
        settled = (self.revision.nodes.spans[row] for row in closed)
        return Outcome(
            number,
            tuple(span for span in settled if span != mention),
            self.links.known_pairs(spans) - pairs_before,
        )

    def _take_back(self, number: int) -> None:
        entry = self._standing[number]
        change = self.links.withdraw(number)
        del self._standing[number]
        if isinstance(entry, Answered):
            self._inquiry.mark_asked(entry, stands=False)
        self._follow(change, entry.question.mention if isinstance(entry, Answered) else None)

    def _follow(self, change: Change, mention: Span | None) -> None:
        self._inquiry.follow(change, mention)
        self._open = None

    def _apply(self, action: Action) -> None:
        for number in action.withdrawn:
            self._take_back(number)
        for number in action.given:
            self._give(self._given[number])

    def _did(self, action: Action, event: dict[str, Any]) -> None:
        self._done.append(action)
        self._undone.clear()
        self._events.append(event)

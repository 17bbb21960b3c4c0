"""One document's questions, answers, and what follows from them.

People in a browser and simulated annotators use the same object. Everything that happens is an event in a plain log,
and replaying the log restores the same state.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

import numpy as np

from corefine.annotation.chooser import Chooser, default_selector
from corefine.annotation.completed import joined, with_alone, without_unsaid
from corefine.annotation.cost import CostModel
from corefine.annotation.groups import EqualWords, check_same_words
from corefine.annotation.log import (
    LOG_VERSION,
    Action,
    AnswerEntry,
    Budget,
    EditEntry,
    Ending,
    LogEntry,
    Outcome,
    check_log,
    check_mentions,
    spans_said,
)
from corefine.annotation.plausible import plausible_rows
from corefine.annotation.question import Answer, Protocol, Question, check_fits, check_span
from corefine.annotation.revision import Revision
from corefine.annotation.selectors import Selector
from corefine.document import Document, Span
from corefine.errors import AnswerError, InputError, InvalidSpanError, QuestionNotOpenError, UnknownAnswerError
from corefine.links import Assertion, First, Links
from corefine.prediction import Floats, Prediction


class Session:
    """Questions about one document, each chosen given all answers so far.

    budget            when to stop: a `Budget`, or a number of questions
    groups            whether one question can be about several mentions with the same words
    least_proposal    the probability that an entity needs to be proposed: see `Chooser`
    function_words    function words of the text's language, in lower case. If given, and the model knows little about
                      the text, questions are only about pronouns and repeated words: see `plausible_rows`
    closure           the class that revises the prediction. The default follows all that an answer implies; the
                      ablations of the simulation replace it.

    Answers and edits (what is said without a question) share one numbering, from 1. `withdraw` takes back any of them;
    `undo` and `redo` go back and forth through the steps. A call that raises changes nothing.
    """

    def __init__(
        self,
        document: Document,
        prediction: Prediction,
        *,
        protocol: Protocol = Protocol.DISCRETE,
        selector: Selector | None = None,
        budget: Budget | int | None = None,
        infer_first: bool = False,
        groups: bool = False,
        least_proposal: float = 0.0,
        function_words: Container[str] | None = None,
        cost: CostModel | None = None,
        closure: type[Revision] = Revision,
    ) -> None:
        self.document = document
        self.protocol = Protocol(protocol)
        if self.protocol is Protocol.GROUP:
            raise InputError("no session asks about groups alone: use the protocol 'discrete' with groups=True")
        self.selector = selector or default_selector(self.protocol)
        self.budget = Budget(budget) if isinstance(budget, int) else budget or Budget()
        self.cost = cost or CostModel()
        self.links = Links(infer_first=infer_first)
        self.groups = groups and self.protocol is Protocol.DISCRETE
        self.least_proposal = least_proposal
        self._function_words = function_words
        self._closure = closure
        self._given: dict[int, LogEntry] = {}  # all entries ever
        self._standing: dict[int, LogEntry] = {}  # those that are not withdrawn, in the order given
        self._answered, self._seconds = 0, 0.0  # how many standing entries are answers; the seconds of all ever
        self._done: list[Action] = []
        self._undone: list[Action] = []
        self._events: list[dict[str, Any]] = []
        self._open: Question | None = None
        self.use(prediction)

    # Asking

    def next_question(self) -> Question | None:
        """The open question; None if the budget is spent or nothing is worth asking. Calling again changes nothing."""
        if self._open is None and not self._spent():
            self._open = self._choose(self.budget.least_gain)
        return self._open

    @property
    def ending(self) -> Ending | None:
        """Why no question is open: see `Ending`."""
        if self.next_question() is not None:
            return None
        if self._spent():
            return "budget"
        if self._choose(0.0) is None:
            return "nothing"
        return "sure" if self._chooser.plausible is None else "unfamiliar"

    def use(self, prediction: Prediction, *, keep_open: bool = False) -> None:
        """Switch to another prediction, as after retraining. Answers stay; the next question is chosen again.

        With `keep_open` an open question stays open.
        """
        for span in prediction.spans:
            self._check_inside(span)
        self.prediction = prediction
        if parts := self.complete:  # unmarked spans there are not mentions, whatever the model says
            prediction = without_unsaid(prediction, parts, {*self.said_mentions(), *self.links.spans()})
        answers = [entry for entry in self._standing.values() if isinstance(entry, AnswerEntry)]
        revision = self._closure(prediction, self.links, answers)
        self._chooser = Chooser(
            revision,
            self.links,
            answers,
            protocol=self.protocol,
            selector=self.selector,
            groups=EqualWords(self.document, prediction) if self.groups else None,
            least_proposal=self.least_proposal,
            plausible=plausible_rows(self.document, prediction, self._function_words),
        )
        if not keep_open:
            self._open = None

    @property
    def revision(self) -> Revision:
        """The prediction given the answers so far."""
        return self._chooser.revision

    # Answering

    def answer(
        self,
        answer: Answer,
        *,
        number: int | None = None,
        seconds: float | None = None,
        withdrawing: Sequence[int] = (),
    ) -> Outcome:
        """Answer the open question. `number`, if given, must be its number.

        `withdrawing` takes back entries that contradict the answer, in the same step: both happen or neither.
        """
        question = self._open
        if question is None:
            raise QuestionNotOpenError("no question is open: call next_question first")
        if number is not None and number != question.number:
            raise QuestionNotOpenError(f"question {number} is not open; question {question.number} is")
        check_fits(answer, question)
        if seconds is None:
            seconds = self.cost.seconds(question, answer)
        return self._add(AnswerEntry(question, answer, seconds), withdrawing)

    def edit(
        self,
        assertions: Iterable[Assertion],
        *,
        mentions: Iterable[Span] = (),
        complete: Iterable[Span] = (),
        source: str | None = None,
        seconds: float = 0.0,
        withdrawing: Sequence[int] = (),
    ) -> Outcome:
        """Say something without a question, as in a review. It is one step, all or nothing.

        `mentions`, `complete` and `source` as in `EditEntry`. The next question is chosen again afterwards.
        """
        number = self.next_number
        entry = EditEntry(number, tuple(assertions), tuple(mentions), seconds, tuple(complete), source)
        return self._add(entry, withdrawing)

    def skip(self, *, seconds: float | None = None) -> Outcome:
        """Skip the open question. Its time counts, and it is not asked again."""
        return self.answer(Answer.unsure(), seconds=seconds)

    def withdraw(self, number: int) -> None:
        """Take back an answer or edit, as if it had never been given."""
        self._check_standing(number)
        self._take_back(number)
        self._did(Action(withdrawn=(number,)), {"event": "withdraw", "number": number})

    def undo(self) -> Action:
        """Undo the last step that is not undone yet, and return it."""
        if not self._done:
            raise UnknownAnswerError("there is nothing to undo")
        self._apply(self._done[-1].reverse)
        self._undone.append(self._done.pop())
        self._events.append({"event": "undo"})
        return self._undone[-1]

    def redo(self) -> Action:
        """Redo the step that was undone last, unless another step came since, and return it."""
        if not self._undone:
            raise UnknownAnswerError("there is nothing to redo")
        self._apply(self._undone[-1])
        self._done.append(self._undone.pop())
        self._events.append({"event": "redo"})
        return self._done[-1]

    # Results

    @property
    def next_number(self) -> int:
        """The number of the next answer or edit. A number that was given once is not given again."""
        return max(self._given, default=0) + 1

    @property
    def answers(self) -> tuple[AnswerEntry, ...]:
        """The standing answers, by number."""
        return tuple(entry for entry in self.entries if isinstance(entry, AnswerEntry))

    @property
    def entries(self) -> tuple[LogEntry, ...]:
        """The standing answers and edits, by number."""
        return tuple(self._standing[number] for number in sorted(self._standing))

    @property
    def given(self) -> tuple[LogEntry, ...]:
        """All answers and edits, withdrawn or not, by number."""
        return tuple(self._given[number] for number in sorted(self._given))

    @property
    def seconds(self) -> float:
        """Time spent. Withdrawn answers count: a person has spent that time too."""
        return self._seconds

    @property
    def open_mentions(self) -> int:
        """How many mentions could still be asked about, regardless of the budget."""
        return int(self._chooser.open_rows().sum())

    def gains(self) -> Floats:
        """For each mention worth asking about: how likely the answer is to differ from the model's guess."""
        return self._chooser.gains(np.flatnonzero(self._chooser.rows_worth_asking()))

    def equal_to(self, mention: Span) -> tuple[Span, ...]:
        """Other mentions with the same words that answers leave open; none unless the session asks about groups."""
        return self._chooser.equal_to(mention)

    @property
    def complete(self) -> tuple[Span, ...]:
        """The parts of the document that were annotated in full, in order and joined where they touch."""
        return joined(span for entry in self._standing.values() for span in entry.complete)

    def said_mentions(self) -> list[Span]:
        """Spans that standing entries say are mentions, linked or not."""
        return list(dict.fromkeys(span for entry in self._standing.values() for span in entry.mentions))

    def relabelled(self) -> Document:
        """The document with the clusters that the model and the answers make together."""
        said = [span for span in self.said_mentions() if self.links.is_mention(span)]
        return with_alone(self.document.with_clusters(self.revision.clusters()), said)

    def annotated(self) -> Document:
        """The document as people see and export it. It keeps entities of one mention that people marked as first."""
        said = (each for entry in self._standing.values() for each in entry.assertions if isinstance(each, First))
        return with_alone(self.relabelled(), [each.first for each in said if self.links.is_mention(each.first)])

    @property
    def log(self) -> dict[str, Any]:
        """Everything that happened, as plain JSON values, for `replay`."""
        return {
            "version": LOG_VERSION,
            "document": self.document.name,
            "part": self.document.part,
            "tokens": len(self.document),
            "protocol": self.protocol.value,
            "selector": self.selector.name,
            "infer_first": self.links.infer_first,
            "events": list(self._events),
        }

    @property
    def last_event(self) -> dict[str, Any]:
        """The last event of the log."""
        return self._events[-1]

    def replay(self, log: dict[str, Any]) -> None:
        """Replay a log's events in this new session, made with the same document and settings."""
        if self._events:
            raise InputError("a log is replayed into a new session; this one has events already")
        check_log(log, self.log)
        for event in log["events"]:
            try:
                self.replay_event(event)
            except (LookupError, TypeError, ValueError) as error:
                raise InputError(f"event {len(self._events) + 1} of the log is damaged: {event!r}") from error

    def replay_event(self, event: dict[str, Any]) -> None:
        """Repeat an event of a log."""
        match event["event"]:
            case "answer":
                self._add(AnswerEntry.from_json(event), event.get("withdrawing", ()))
            case "edit":
                self._add(EditEntry.from_json(event), event.get("withdrawing", ()))
            case "withdraw":
                self.withdraw(event["number"])
            case "undo":
                self.undo()
            case "redo":
                self.redo()
            case other:
                raise InputError(f"unknown event {other!r} in the log; it may come from a newer corefine: upgrade")

    # Internals

    def _choose(self, least_gain: float) -> Question | None:
        asked, budget = self._answered, self.budget.questions
        return self._chooser.choose(self.next_number, asked=asked, budget=budget, least_gain=least_gain)

    def _spent(self) -> bool:
        return self.budget.is_spent(self._answered, self._seconds)

    def _check_inside(self, span: Span) -> None:
        if not self.document.holds(span):
            raise InvalidSpanError(f"span {span} is outside document {self.document.key} ({len(self.document)} tokens)")

    def _check_standing(self, number: int) -> None:
        if number not in self._standing:
            raise UnknownAnswerError(f"there is no answer {number} to withdraw")

    def _check(self, entry: LogEntry, withdrawn: Sequence[int]) -> None:
        """Raise unless the entry is possible once these others are withdrawn."""
        for span in (*spans_said(entry), *entry.complete):
            self._check_inside(span)
        if isinstance(entry, AnswerEntry):
            check_span(entry.answer, entry.question)
            check_same_words(self.document, entry)
        elif not entry.assertions and not entry.mentions and not entry.complete:
            raise AnswerError("this edit says nothing")
        for number in withdrawn:
            self._check_standing(number)
        others = [other for number, other in self._standing.items() if number not in withdrawn]
        check_mentions(entry, others)
        if withdrawn:  # a trial, so that a contradiction leaves everything as it is
            trial = Links(infer_first=self.links.infer_first)
            for other in (*others, entry):
                trial.add(other.number, *other.assertions)

    def _add(self, entry: LogEntry, withdrawing: Sequence[int]) -> Outcome:
        """Give an answer or edit, take back others in the same step, and log it."""
        withdrawn = tuple(dict.fromkeys(withdrawing))
        self._check(entry, withdrawn)
        for number in withdrawn:
            self._take_back(number)
        outcome = self._give(entry)
        event = {"event": "answer" if isinstance(entry, AnswerEntry) else "edit", **entry.to_json()}
        event |= {"withdrawing": list(withdrawn)} if withdrawn else {}
        self._did(Action(given=(entry.number,), withdrawn=withdrawn), event)
        return outcome

    def _give(self, entry: LogEntry) -> Outcome:
        """Assert what an entry says; if the links contradict it, raise and change nothing."""
        number, spans = entry.number, spans_said(entry)
        open_before = self._chooser.open_rows()
        pairs_before = self.links.known_pairs(spans)
        change = self.links.add(number, *entry.assertions)
        self._seconds += 0.0 if number in self._given else entry.seconds
        self._given[number] = self._standing[number] = entry
        self._answered += isinstance(entry, AnswerEntry)
        self._chooser.update(entry, change, stands=True)
        self._open = None
        if entry.complete:
            self.use(self.prediction)
            return Outcome(number, (), self.links.known_pairs(spans) - pairs_before)
        closed = np.flatnonzero(open_before & ~self._chooser.open_rows())
        asked = entry.question.mentions if isinstance(entry, AnswerEntry) else ()
        settled = tuple(span for row in closed if (span := self.revision.nodes.spans[row]) not in asked)
        return Outcome(number, settled, self.links.known_pairs(spans) - pairs_before)

    def _take_back(self, number: int) -> None:
        change = self.links.withdraw(number)
        entry = self._standing.pop(number)
        self._answered -= isinstance(entry, AnswerEntry)
        self._chooser.update(entry, change, stands=False)
        self._open = None
        if entry.complete:
            self.use(self.prediction)

    def _apply(self, action: Action) -> None:
        for number in action.withdrawn:
            self._take_back(number)
        for number in action.given:
            self._give(self._given[number])

    def _did(self, action: Action, event: dict[str, Any]) -> None:
        self._done.append(action)
        self._undone.clear()
        self._events.append(event)

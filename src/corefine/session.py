"""One document's questions, answers, and what follows from them.

The same object serves a person in the browser and a simulated annotator: it asks, it takes answers, it knows what they
imply. Everything that happens is an event in a plain log, and the log alone brings back the identical state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from corefine.cost import CostModel
from corefine.direct import DirectRevision
from corefine.document import Document, Span
from corefine.errors import AnswerError, InputError, NotOpenError, OutsideError, UnknownAnswerError
from corefine.links import Assertion, Change, Links
from corefine.prediction import Prediction
from corefine.questions import Answer, Protocol, Question, Reply, check_fits, check_span
from corefine.records import (
    LOG_VERSION,
    Action,
    Answered,
    Budget,
    Closing,
    Edited,
    Entry,
    Outcome,
    check_log,
    spans_said,
)
from corefine.revision import Mask, Revision
from corefine.selectors import Entropy, MentionEntropy, PairwiseEntropy, Progress, Selector
from corefine.selectors.entropy import mention_probability, pair_entropies

_DEFAULT_SELECTORS: dict[Protocol, Callable[[], Selector]] = {
    Protocol.PAIRWISE: PairwiseEntropy,
    Protocol.MENTIONS: MentionEntropy,
}


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
        self.selector = selector or _DEFAULT_SELECTORS.get(self.protocol, Entropy)()
        self.budget = budget or Budget()
        self.cost = cost or CostModel()
        self.closing = Closing(closing)
        self.links = Links(infer_first=infer_first)
        self._given: dict[int, Entry] = {}  # everything ever said
        self._standing: dict[int, Entry] = {}  # of that, what is not withdrawn
        self._asked: Counter[Span] = Counter()  # mentions of standing answers, and how often each was asked about
        self._done: list[Action] = []
        self._undone: list[Action] = []
        self._events: list[dict[str, Any]] = []
        self._open: Question | None = None
        self.use(prediction)

    # What is asked

    def next_question(self) -> Question | None:
        """The open question; None when the budget is used or nothing is left to ask. Asking again changes nothing."""
        if self._open is None and not self._spent():
            self._open = self._corrected() or self._chosen()
        return self._open

    def use(self, prediction: Prediction) -> None:
        """Go on with another prediction, as after retraining. Answers stay; the next question is chosen anew."""
        for span in prediction.spans:
            self._check_inside(span)
        self.revision = self._revised(prediction)
        self._scores = self.selector.scores(self.revision, np.arange(len(prediction)))
        self._asked_rows: Mask = np.zeros(len(prediction), dtype=np.bool_)
        for answered in self._answered():
            self._mark_asked(answered, stands=True)
        self._open = None

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

    def undo(self) -> None:
        """Undo the last answer or withdrawal that is not undone yet."""
        if not self._done:
            raise UnknownAnswerError("there is nothing to undo")
        self._apply(self._done[-1].reverse)
        self._undone.append(self._done.pop())
        self._events.append({"event": "undo"})

    def redo(self) -> None:
        """Do again what was undone last, unless something else was done since."""
        if not self._undone:
            raise UnknownAnswerError("there is nothing to redo")
        self._apply(self._undone[-1])
        self._done.append(self._undone.pop())
        self._events.append({"event": "redo"})

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
        return int(self._allowed().sum())

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

    @property
    def _pairwise(self) -> bool:
        return self.protocol is Protocol.PAIRWISE

    def _spent(self) -> bool:
        questions, seconds = self.budget.questions, self.budget.seconds
        return (questions is not None and len(self.answers) >= questions) or (
            seconds is not None and self.seconds >= seconds
        )

    def _allowed(self) -> Mask:
        """[N] mentions that may be asked about: not settled, not asked, and with a candidate to propose."""
        revision = self.revision
        if self.protocol is Protocol.MENTIONS:
            spans, links = revision.prediction.spans, self.links
            known = (links.entity_id(span) is not None or not links.is_mention(span) for span in spans)
            return ~(self._asked_rows | np.fromiter(known, np.bool_, len(spans)))
        if self._pairwise:
            return ~np.asarray(revision.closed_pairs(np.arange(len(revision.prediction))).all(axis=1))
        return ~(self._asked_rows | revision.blocked.all(axis=1))

    def _chosen(self) -> Question | None:
        progress = Progress(len(self.answers), self.budget.questions)
        row = self.selector.choose(self._scores, self._allowed(), self.revision, progress)
        if row is None:
            return None
        if self.protocol is Protocol.MENTIONS:
            return Question(
                number=len(self._given) + 1,
                mention=self.revision.nodes.spans[row],
                antecedent=None,
                protocol=self.protocol,
                probability=float(mention_probability(self.revision, np.array([row]))[0]),
                score=float(self._scores[row]),
            )
        column = self._proposed(row)
        antecedent = self.revision.nodes.spans[self.revision.prediction.candidates[row, column]]
        return Question(
            number=len(self._given) + 1,
            mention=self.revision.nodes.spans[row],
            antecedent=None if self.protocol is Protocol.FOLLOW_UP else antecedent,
            protocol=self.protocol,
            probability=float(self.revision.rows[row, 1 + column]),
            score=float(self._scores[row]),
        )

    def _proposed(self, row: int) -> int:
        """The column of the antecedent to propose: the most probable, or of all pairs the most uncertain."""
        values = (
            pair_entropies(self.revision, np.array([row]))[0]
            if self._pairwise
            else np.where(self.revision.blocked[row], -1.0, self.revision.rows[row, 1:])
        )
        best = np.flatnonzero(values == values.max())
        return int(best[self.revision.prediction.candidates[row, best].argmax()])  # ties to the nearest

    def _corrections(self) -> dict[Span, Question]:
        """Spans that people put in the place of a wrongly bounded mention, and the questions they were put into."""
        return {
            answered.answer.span: answered.question
            for answered in self._answered()
            if answered.answer.reply is Reply.BOUNDARIES
            and answered.answer.span is not None
            and answered.question.protocol is not Protocol.MENTIONS
        }

    def _corrected(self) -> Question | None:
        """A question about a span whose boundaries were just set right, in place of the one it came from."""
        for span, question in self._corrections().items():
            if span in self._asked or not self.links.is_mention(span) or self._is_settled(span):
                continue
            proposed = question.antecedent
            fits = proposed is not None and proposed < span and self.links.relation(proposed, span) is None
            return Question(
                number=len(self._given) + 1,
                mention=span,
                antecedent=proposed if fits else None,
                protocol=question.protocol if fits else Protocol.FOLLOW_UP,
            )
        return None

    def _is_settled(self, span: Span) -> bool:
        """Whether answers already say which earlier mention, or that none, is of the span's entity."""
        entity = self.links.entity_id(span)
        return entity is not None and (self.links.first(entity) < span or self.links.floor(entity) == span)

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
        elif isinstance(self.revision, DirectRevision):
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
        mention = entry.question.mention if isinstance(entry, Answered) else None
        spans = spans_said(entry)
        open_before = self._allowed()
        pairs_before = self.links.known_pairs(spans)
        change = self.links.assert_all(number, entry.assertions)
        self._given[number] = self._standing[number] = entry
        if isinstance(entry, Answered):
            self._asked[entry.question.mention] += 1
            self._mark_asked(entry, stands=True)
        self._follow(change, mention)
        closed = np.flatnonzero(open_before & ~self._allowed())
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
            self._asked -= Counter([entry.question.mention])
            self._mark_asked(entry, stands=False)
        self._follow(change, entry.question.mention if isinstance(entry, Answered) else None)

    def _revised(self, prediction: Prediction) -> Revision:
        """The prediction under the standing answers and all, or nothing, that follows from them."""
        if self.closing is Closing.INCREMENTAL:
            return Revision(prediction, self.links)
        revision = DirectRevision(prediction)
        for mention in self._asked:
            revision.revise_alone(mention, self._said(mention))
        return revision

    def _said(self, mention: Span) -> list[Assertion]:
        """What standing answers to questions about a mention assert."""
        about = (answered for answered in self._answered() if answered.question.mention == mention)
        return [assertion for answered in about for assertion in answered.assertions]

    def _follow(self, change: Change, mention: Span | None) -> None:
        """Bring rows, clusters and scores up to date with the links, after an answer about this mention."""
        if isinstance(self.revision, DirectRevision) and mention is not None:
            rows = self.revision.revise_alone(mention, self._said(mention))
        else:
            rows = self.revision.update(change)
        self._scores[rows] = self.selector.scores(self.revision, rows)
        self._open = None

    def _mark_asked(self, answered: Answered, *, stands: bool) -> None:
        """Note on the rows what was asked: a mention is asked about once, a pair that nobody could tell likewise."""
        question = answered.question
        row = self.revision.nodes.row(question.mention)
        if row is None:
            return
        self._asked_rows[row] = self._asked[question.mention] > 0
        if answered.answer.reply is Reply.UNSURE and question.antecedent is not None:
            column = self.revision.column(row, question.antecedent)
            if column is not None:
                self.revision.passed[row, column] = stands
                self._scores[[row]] = self.selector.scores(self.revision, np.array([row]))

    def _apply(self, action: Action) -> None:
        for number in action.withdrawn:
            self._take_back(number)
        for number in action.given:
            self._give(self._given[number])

    def _did(self, action: Action, event: dict[str, Any]) -> None:
        self._done.append(action)
        self._undone.clear()
        self._events.append(event)

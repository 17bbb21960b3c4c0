"""The entries of a session's log, and their JSON form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

from corefine.annotation.question import (
    Answer,
    Protocol,
    Question,
    Reply,
    moved_like,
    span_from_json,
    span_to_json,
)
from corefine.document import Span
from corefine.errors import ContradictionError, InputError
from corefine.links import Assertion, Cannot, First, Must, NotAMention

LOG_VERSION = 1

Ending = Literal["budget", "sure", "unfamiliar", "nothing"]
"""Why a session has no more questions: its budget is spent, the model is sure of the rest, it knows too little of the
text to ask good questions, or nothing is left to ask."""


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop asking: after this many questions, or this many seconds. None means no limit.

    least_gain    stop when no answer would differ from what the model expects with at least this probability
    """

    questions: int | None = None
    seconds: float | None = None
    least_gain: float = 0.0

    def is_spent(self, questions: int, seconds: float) -> bool:
        """Whether it is used up after this many questions and seconds."""
        return (self.questions is not None and questions >= self.questions) or (
            self.seconds is not None and seconds >= self.seconds
        )


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """An answer to a question. `seconds` is the time it took, measured or taken from the cost model."""

    question: Question
    answer: Answer
    seconds: float
    complete: ClassVar[tuple[Span, ...]] = ()  # only edits set these
    source: ClassVar[None] = None

    @property
    def number(self) -> int:
        return self.question.number

    @property
    def assertions(self) -> tuple[Assertion, ...]:
        """What the answer says about mentions, as links."""
        mention, antecedent = self.question.mention, self.question.antecedent
        answer = self.answer
        if self.question.protocol is Protocol.GROUP:
            return self._about_group()
        if answer.reply in (Reply.NOT_A_MENTION, Reply.BOUNDARIES):
            return tuple(NotAMention(span) for span in (mention, *answer.also))
        if answer.reply is Reply.PROPOSED_BOUNDARIES:
            return () if antecedent is None else (NotAMention(antecedent),)
        assertions: list[Assertion] = []
        if antecedent is not None and answer.same is not None:
            assertions.append(Must(antecedent, mention) if answer.same else Cannot(antecedent, mention))
        if answer.span is not None:
            first = answer.reply is Reply.FIRST
            assertions.append(First(answer.span, mention) if first else Must(answer.span, mention))
        return tuple(assertions)

    def _about_group(self) -> tuple[Assertion, ...]:
        """A yes links all mentions that are not struck out, and sets those struck out apart from them."""
        struck = set(self.answer.struck)
        kept = [span for span in self.question.group if span not in struck]
        if self.answer.reply is Reply.NOT_A_MENTION:
            return tuple(map(NotAMention, kept))
        if not self.answer.same:
            return ()
        apart = (Cannot(min(kept[0], span), max(kept[0], span)) for span in self.question.group if span in struck)
        return (*(Must(a, b) for a, b in pairwise(kept)), *apart)

    @property
    def corrected(self) -> tuple[Span, ...]:
        """The right spans of the mention and of others corrected with it."""
        span, answer = self.answer.span, self.answer
        if span is None or answer.reply is not Reply.BOUNDARIES:
            return ()
        return (span, *(moved_like(self.question.mention, span, other) for other in answer.also))

    @property
    def mentions(self) -> tuple[Span, ...]:
        """Spans that the answer says are mentions, linked or not."""
        if self.answer.reply is Reply.PROPOSED_BOUNDARIES and self.answer.span is not None:
            return (self.answer.span,)
        if self.answer.reply is Reply.BOUNDARIES:
            return self.corrected
        return (self.question.mention,) if self.question.protocol is Protocol.MENTIONS and self.answer.same else ()

    def to_json(self) -> dict[str, Any]:
        question = self.question
        return {
            "number": question.number,
            "mention": span_to_json(question.mention),
            "antecedent": None if question.antecedent is None else span_to_json(question.antecedent),
            "protocol": question.protocol.value,
            "probability": question.probability,
            "score": question.score,
            **({"group": [span_to_json(span) for span in question.group]} if question.group else {}),
            **({"linked": question.linked} if question.linked is not None else {}),
            **self.answer.to_json(),
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> AnswerEntry:
        antecedent = fields["antecedent"]
        question = Question(
            number=fields["number"],
            mention=span_from_json(fields["mention"]),
            antecedent=None if antecedent is None else span_from_json(antecedent),
            protocol=Protocol(fields["protocol"]),
            probability=fields["probability"],
            score=fields["score"],
            group=tuple(map(span_from_json, fields.get("group", ()))),
            linked=fields.get("linked"),
        )
        return cls(question, Answer.from_json(fields), fields["seconds"])


@dataclass(frozen=True, slots=True)
class EditEntry:
    """What a person said without being asked, as in a review. It is one step, however much it asserts.

    mentions    spans that are mentions, linked or not
    complete    parts of the document in which nothing else is a mention, and every mention is in its entity
    source      the file it comes from, if the document was imported with annotations
    """

    number: int
    assertions: tuple[Assertion, ...]
    mentions: tuple[Span, ...] = ()
    seconds: float = 0.0
    complete: tuple[Span, ...] = ()
    source: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "assertions": [[said.name, *map(span_to_json, said.spans)] for said in self.assertions],
            "mentions": [span_to_json(span) for span in self.mentions],
            "seconds": self.seconds,
            **({"complete": [span_to_json(span) for span in self.complete]} if self.complete else {}),
            **({"source": self.source} if self.source is not None else {}),
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> EditEntry:
        return cls(
            number=fields["number"],
            assertions=tuple(_ASSERTIONS[name](*map(span_from_json, spans)) for name, *spans in fields["assertions"]),
            mentions=tuple(map(span_from_json, fields["mentions"])),
            seconds=fields["seconds"],
            complete=tuple(map(span_from_json, fields.get("complete", ()))),
            source=fields.get("source"),
        )


_ASSERTIONS: dict[str, type[Assertion]] = {kind.name: kind for kind in (Must, Cannot, First, NotAMention)}

LogEntry = AnswerEntry | EditEntry
"""What has a number in the log and can be withdrawn."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an answer or edit changed.

    settled    other mentions that no longer need a question
    pairs      pairs of mentions newly known to be, or not to be, one entity
    """

    number: int
    settled: tuple[Span, ...]
    pairs: int


@dataclass(frozen=True, slots=True)
class Action:
    """One step of undo and redo: the numbers of the entries that it gave and withdrew."""

    given: tuple[int, ...] = ()
    withdrawn: tuple[int, ...] = ()

    @property
    def reverse(self) -> Action:
        return Action(given=self.withdrawn, withdrawn=self.given)


def spans_said(entry: LogEntry) -> set[Span]:
    """All spans that an entry names, including the mention asked about and the span of the reply."""
    said = {*entry.mentions, *(span for assertion in entry.assertions for span in assertion.spans)}
    if isinstance(entry, AnswerEntry):
        said.update(entry.question.mentions)
        said.update(entry.answer.also)
        if entry.answer.span is not None:
            said.add(entry.answer.span)
    return said


def check_mentions(entry: LogEntry, standing: Iterable[LogEntry]) -> None:
    """Raise if one entry says that a span is a mention and another that it is not. Links alone cannot tell."""
    said, denied = set(entry.mentions), _denied(entry)
    if not said and not denied:
        return
    disputed = said & denied
    against: list[int] = []
    for other in standing:
        if clash := denied.intersection(other.mentions) | (said & _denied(other)):
            disputed |= clash
            against.append(other.number)
    if disputed:
        spans = ", ".join(map(str, sorted(disputed)))
        about = f"whether {spans} is a mention" if len(disputed) == 1 else f"whether {spans} are mentions"
        others = f"{'answer' if len(against) == 1 else 'answers'} {', '.join(map(str, against))}"
        who = f"answer {entry.number} and {others} disagree" if against else f"answer {entry.number} contradicts itself"
        raise ContradictionError(f"{who} on {about}", against)


def _denied(entry: LogEntry) -> set[Span]:
    return {assertion.mention for assertion in entry.assertions if isinstance(assertion, NotAMention)}


def check_log(log: dict[str, Any], own: dict[str, Any]) -> None:
    """Raise unless the log fits the document and settings of `own`, the log of the session that replays it."""
    if log.get("version") != LOG_VERSION:
        raise InputError(f"the log has version {log.get('version')!r}; this corefine reads version {LOG_VERSION}")
    for field, value in own.items():
        if field not in ("events", "selector") and log.get(field) != value:
            raise InputError(f"the log's {field} is {log.get(field)!r}, the session's {value!r}")
    if not isinstance(log.get("events"), list):
        raise InputError("the log has no list of events")

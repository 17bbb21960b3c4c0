"""What a session keeps of what happened, and its form in the log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from corefine.annotation.question import Answer, Protocol, Question, Reply, span_from_json, span_to_json
from corefine.document import Span
from corefine.errors import ContradictionError, InputError
from corefine.links import Assertion, Cannot, First, Must, NotAMention

LOG_VERSION = 1


class Closing(StrEnum):
    """When the closure of the links is taken. All but the first are ablations."""

    INCREMENTAL = "incremental"
    """After every answer: the next question is chosen on all that follows from the answers so far."""
    PER_DOCUMENT = "per-document"
    """Once, when the document is relabelled; until then an answer changes only its own mention's row."""
    OFF = "off"
    """Never: relabelling too knows only the pairs that answers speak of."""


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop asking: after so many questions, or so many seconds; None is no limit."""

    questions: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that was given; `seconds` is what it took, measured or by the cost model."""

    question: Question
    answer: Answer
    seconds: float

    @property
    def number(self) -> int:
        return self.question.number

    @property
    def assertions(self) -> tuple[Assertion, ...]:
        return assertions_of(self)

    @property
    def mentions(self) -> tuple[Span, ...]:
        """Spans that the answer says are mentions, whether or not it links them."""
        if self.answer.reply is Reply.BOUNDARIES and self.answer.span is not None:
            return (self.answer.span,)
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
            **self.answer.to_json(),
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Answered:
        antecedent = fields["antecedent"]
        question = Question(
            number=fields["number"],
            mention=span_from_json(fields["mention"]),
            antecedent=None if antecedent is None else span_from_json(antecedent),
            protocol=Protocol(fields["protocol"]),
            probability=fields["probability"],
            score=fields["score"],
        )
        return cls(question, Answer.from_json(fields), fields["seconds"])


@dataclass(frozen=True, slots=True)
class Edited:
    """What a person said without being asked, as when reviewing: one step in the log, however much it asserts.

    mentions    spans that are mentions, whether or not an assertion links them
    """

    number: int
    assertions: tuple[Assertion, ...]
    mentions: tuple[Span, ...] = ()
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "assertions": [_assertion_to_json(assertion) for assertion in self.assertions],
            "mentions": [span_to_json(span) for span in self.mentions],
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Edited:
        return cls(
            number=fields["number"],
            assertions=tuple(_assertion_from_json(*assertion) for assertion in fields["assertions"]),
            mentions=tuple(map(span_from_json, fields["mentions"])),
            seconds=fields["seconds"],
        )


Entry = Answered | Edited
"""What has a number in the log and can be withdrawn."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an answer brought about.

    settled    other mentions that need no question any more
    pairs      pairs of mentions newly known to be, or not to be, one entity
    """

    number: int
    settled: tuple[Span, ...]
    pairs: int


@dataclass(frozen=True, slots=True)
class Action:
    """One step that can be undone: entries were withdrawn, and one was given, or only either of the two."""

    given: tuple[int, ...] = ()
    withdrawn: tuple[int, ...] = ()

    @property
    def reverse(self) -> Action:
        return Action(given=self.withdrawn, withdrawn=self.given)


def assertions_of(answered: Answered) -> tuple[Assertion, ...]:
    """What an answer says about mentions, as links."""
    mention, antecedent = answered.question.mention, answered.question.antecedent
    answer = answered.answer
    if answer.reply in (Reply.NOT_A_MENTION, Reply.BOUNDARIES):
        return (NotAMention(mention),)
    assertions: list[Assertion] = []
    if antecedent is not None and answer.same is not None:
        assertions.append(Must(antecedent, mention) if answer.same else Cannot(antecedent, mention))
    if answer.span is not None:
        first = answer.reply is Reply.FIRST
        assertions.append(First(answer.span, mention) if first else Must(answer.span, mention))
    return tuple(assertions)


def spans_of(assertion: Assertion) -> tuple[Span, ...]:
    """The spans that an assertion speaks of."""
    match assertion:
        case Must(a, b) | Cannot(a, b) | First(a, b):
            return (a, b)
        case NotAMention(mention):
            return (mention,)


def spans_said(entry: Entry) -> set[Span]:
    """All spans that an answer or edit names; of an answer also the mention asked about and the span of its reply."""
    said = {*entry.mentions, *(span for assertion in entry.assertions for span in spans_of(assertion))}
    if isinstance(entry, Answered):
        said.add(entry.question.mention)
        if entry.answer.span is not None:
            said.add(entry.answer.span)
    return said


def check_mentions(entry: Entry, standing: Iterable[Entry]) -> None:
    """Raise where one says that a span is a mention and the other that it is not: links alone do not know of that."""
    said, denied = set(entry.mentions), _denied(entry)
    if not said and not denied:
        return
    against = [other.number for other in standing if not denied.isdisjoint(other.mentions) or said & _denied(other)]
    if said & denied or against:
        span = min(said | denied)
        message = f"answer {entry.number} says whether {span} is a mention, and others say the opposite: "
        raise ContradictionError(f"{message}{', '.join(map(str, against)) or 'so does it itself'}", against)


def _denied(entry: Entry) -> set[Span]:
    return {assertion.mention for assertion in entry.assertions if isinstance(assertion, NotAMention)}


_KINDS: dict[str, type[Assertion]] = {"must": Must, "cannot": Cannot, "first": First, "not-a-mention": NotAMention}


def _assertion_to_json(assertion: Assertion) -> list[Any]:
    kind = next(kind for kind, type_ in _KINDS.items() if isinstance(assertion, type_))
    spans = (assertion.first, assertion.mention) if isinstance(assertion, First) else spans_of(assertion)
    return [kind, *map(span_to_json, spans)]


def _assertion_from_json(kind: str, *spans: list[Any]) -> Assertion:
    return _KINDS[kind](*map(span_from_json, spans))


def check_log(log: dict[str, Any], own: dict[str, Any]) -> None:
    """Raise unless the log is of the same document and settings as `own`, the log of the session that takes it."""
    if log.get("version") != LOG_VERSION:
        raise InputError(f"the log has version {log.get('version')!r}; this corefine reads version {LOG_VERSION}")
    for field, value in own.items():
        if field not in ("events", "selector") and log.get(field) != value:
            raise InputError(f"the log's {field} is {log.get(field)!r}, the session's {value!r}")
    if not isinstance(log.get("events"), list):
        raise InputError("the log has no list of events")

"""What a session keeps of what happened, and its form in the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from corefine.document import Span
from corefine.errors import InputError
from corefine.links import Assertion, Cannot, First, Must, NotAMention
from corefine.questions import Answer, Protocol, Question, Reply, span_from_json, span_to_json

LOG_VERSION = 1


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
    """One step that can be undone: an answer was given, or withdrawn."""

    number: int
    withdrawal: bool = False


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


def check_log(log: dict[str, Any], own: dict[str, Any]) -> None:
    """Raise unless the log is of the same document and settings as `own`, the log of the session that takes it."""
    if log.get("version") != LOG_VERSION:
        raise InputError(f"the log has version {log.get('version')!r}; this corefine reads version {LOG_VERSION}")
    for field, value in own.items():
        if field not in ("events", "selector") and log.get(field) != value:
            raise InputError(f"the log's {field} is {log.get(field)!r}, the session's {value!r}")
    if not isinstance(log.get("events"), list):
        raise InputError("the log has no list of events")

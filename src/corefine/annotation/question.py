"""The words of the protocol: what is asked, what can be answered, and what an answer asserts.

Two steps make a *discrete* question: "same entity?" about a mention and a proposed antecedent, and on no "mark the
first appearance". *Pairwise* asks only the first, *follow-up* only the second; *mentions* asks "is this a mention?".
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from corefine.document import Span, span_of
from corefine.errors import AnswerError, OutsideError


class Protocol(StrEnum):
    DISCRETE = "discrete"
    PAIRWISE = "pairwise"
    FOLLOW_UP = "follow-up"
    MENTIONS = "mentions"


class Reply(StrEnum):
    """Answers to "mark the first appearance". All but the first two may also come in place of yes or no."""

    FIRST = "first"
    """`span` is where the entity first appears; the mention itself if it is the first."""
    ANTECEDENT = "antecedent"
    """`span` is an earlier mention of the entity, not necessarily its first."""
    NOT_A_MENTION = "not-a-mention"
    BOUNDARIES = "boundaries"
    """The mention should have been `span`; the question is asked again about that."""
    UNSURE = "unsure"
    """Asserts nothing."""


_WITH_SPAN = frozenset({Reply.FIRST, Reply.ANTECEDENT, Reply.BOUNDARIES})
_WITHOUT_YES_OR_NO = frozenset({Reply.NOT_A_MENTION, Reply.BOUNDARIES, Reply.UNSURE})


@dataclass(frozen=True, slots=True)
class Question:
    """One question about one mention.

    number         counts the questions of a session from 1; the answer to it has the same number
    antecedent     what is proposed; None when the protocol proposes nothing
    probability    of the proposed antecedent, under all answers so far; of being a mention, where that is asked
    score          why it was chosen: the selector's value, the largest of all open questions
    """

    number: int
    mention: Span
    antecedent: Span | None
    protocol: Protocol
    probability: float = 0.0
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said to one question.

    same     yes or no to "same entity?", yes to "is this a mention?"; None if that was not asked or not answered
    reply    to the follow-up, or in place of yes or no
    span     that goes with the reply
    """

    same: bool | None = None
    reply: Reply | None = None
    span: Span | None = None

    def __post_init__(self) -> None:
        if (self.span is not None) != (self.reply in _WITH_SPAN):
            needs = "needs a span" if self.span is None else "takes no span"
            raise AnswerError(f"the reply {self.reply and self.reply.value!r} {needs}")
        if self.same is True and self.reply is not None:
            raise AnswerError("a yes takes no follow-up")
        if self.same is None and self.reply is None:
            raise AnswerError("an answer says yes, no, or something else: this one says nothing")

    @classmethod
    def yes(cls) -> Answer:
        return cls(same=True)

    @classmethod
    def no(cls, reply: Reply | None = None, span: Span | None = None) -> Answer:
        return cls(same=False, reply=reply, span=span)

    @classmethod
    def unsure(cls) -> Answer:
        return cls(reply=Reply.UNSURE)

    def to_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"same": self.same}
        if self.reply is not None:
            fields["reply"] = self.reply.value
        if self.span is not None:
            fields["span"] = span_to_json(self.span)
        return fields

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Answer:
        reply = fields.get("reply")
        span = fields.get("span")
        return cls(
            same=fields.get("same"),
            reply=None if reply is None else Reply(reply),
            span=None if span is None else span_from_json(span),
        )


def check_fits(answer: Answer, question: Question) -> None:
    """Raise unless the answer is one that this question can have."""
    protocol, reply = question.protocol, answer.reply
    if protocol is Protocol.FOLLOW_UP:
        if answer.same is not None:
            raise AnswerError("this question asks for the first appearance only; yes and no do not answer it")
    elif answer.same is None and reply not in _WITHOUT_YES_OR_NO:
        raise AnswerError(f"say yes or no before {reply and reply.value!r}")
    if protocol is Protocol.MENTIONS and answer.same is False:
        raise AnswerError(f"say {Reply.NOT_A_MENTION.value!r} where this is no mention")
    if protocol is Protocol.PAIRWISE and answer.same is False and reply is not None:
        raise AnswerError("a pairwise question has no follow-up")
    if protocol is Protocol.DISCRETE and answer.same is False and reply is None:
        raise AnswerError("a no needs its follow-up: the first appearance, or 'unsure'")


def check_span(answer: Answer, question: Question) -> None:
    """Raise unless the answer's span comes before the mention where it must, and is not what was just denied."""
    span, mention = answer.span, question.mention
    if span is None:
        return
    if answer.reply is Reply.FIRST and span > mention:
        raise OutsideError(f"the first appearance {span} comes after the mention {mention}")
    if answer.reply is Reply.ANTECEDENT and span >= mention:
        raise OutsideError(f"the antecedent {span} does not come before the mention {mention}")
    if answer.reply is Reply.BOUNDARIES and span == mention:
        raise OutsideError(f"span {span} has the boundaries it had")
    if answer.same is False and span == question.antecedent:
        raise AnswerError(f"{span} cannot be both: you said that it is another entity than {mention}")


def span_to_json(span: Span) -> list[Any]:
    """[start, end], or a list of such parts for a discontinuous span."""
    return list(span) if len(span.parts) == 1 else [list(part) for part in span.parts]


def span_from_json(value: list[Any]) -> Span:
    return Span(*value) if value and isinstance(value[0], int) else span_of([tuple(part) for part in value])

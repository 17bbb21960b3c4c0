"""Questions and answers.

A *discrete* question has two steps: "same entity?" about a mention and a proposed antecedent and, after a no, "mark the
first appearance". *Pairwise* asks only the first, *follow-up* only the second. *Mentions* asks "is this a mention?".
*Group* asks once about several mentions with the same words: "all one entity?".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from corefine.document import Span, span_of
from corefine.errors import AnswerError, InvalidSpanError


class Protocol(StrEnum):
    DISCRETE = "discrete"
    PAIRWISE = "pairwise"
    FOLLOW_UP = "follow-up"
    MENTIONS = "mentions"
    GROUP = "group"
    """The kind of a single question, not of a whole session."""


class Reply(StrEnum):
    """Answers to "mark the first appearance". All but the first are also possible in place of yes or no."""

    FIRST = "first"
    """`span` is where the entity first appears, which may be the mention itself."""
    ANTECEDENT = "antecedent"
    """`span` is an earlier mention of the entity, not necessarily its first."""
    NOT_A_MENTION = "not-a-mention"
    BOUNDARIES = "boundaries"
    """The mention should be `span`. The question is asked again about that span."""
    PROPOSED_BOUNDARIES = "proposed-boundaries"
    """The proposed antecedent should be `span`. The question is asked again with that span."""
    UNSURE = "unsure"
    """Asserts nothing."""


_BOUNDARIES = frozenset({Reply.BOUNDARIES, Reply.PROPOSED_BOUNDARIES})
_WITH_SPAN = _BOUNDARIES | {Reply.FIRST, Reply.ANTECEDENT}
_WITHOUT_YES_OR_NO = _BOUNDARIES | {Reply.NOT_A_MENTION, Reply.UNSURE}


@dataclass(frozen=True, slots=True)
class Question:
    """One question about one mention, or about a group of them.

    number         its number in the session, from 1; the answer has the same number
    antecedent     what is proposed; None if the protocol proposes nothing
    probability    of the proposed antecedent given all answers so far, or of being a mention if that is asked
    score          the selector's score, the largest of all open questions
    linked         the probability that the mention has an antecedent at all, given all answers so far; None if that is
                   not known, as for a group, or if only some answers would say whether it has one, as in `pairwise`
    group          the mentions that a group question asks about, in document order; `mention` is one of them
    """

    number: int
    mention: Span
    antecedent: Span | None
    protocol: Protocol
    probability: float = 0.0
    score: float = 0.0
    group: tuple[Span, ...] = ()
    linked: float | None = None

    @property
    def id(self) -> str:
        """A text that identifies the question in its session, and from which the log can restore it."""
        antecedent = "" if self.antecedent is None else str(self.antecedent)
        group = f":{','.join(map(str, self.group))}" if self.group else ""
        return f"{self.number}:{self.mention}:{antecedent}:{self.protocol.value}{group}"

    @property
    def mentions(self) -> tuple[Span, ...]:
        """All mentions that it asks about."""
        return self.group or (self.mention,)


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's answer to one question.

    same      yes or no to "same entity?", yes to "is this a mention?"; None if not asked or not answered
    reply     the answer to the follow-up, or in place of yes or no
    span      the span of the reply
    struck    mentions of a group that a yes, or "not a mention", does not apply to
    also      other mentions with the same words whose boundaries are corrected in the same way
    """

    same: bool | None = None
    reply: Reply | None = None
    span: Span | None = None
    struck: tuple[Span, ...] = ()
    also: tuple[Span, ...] = ()

    def __post_init__(self) -> None:
        if self.also and self.reply is not Reply.BOUNDARIES:
            raise AnswerError("only corrected boundaries can be repeated for other mentions")
        if (self.span is not None) != (self.reply in _WITH_SPAN):
            if self.reply is None:
                raise AnswerError("a span needs a reply: 'first', 'antecedent' or 'boundaries'")
            needs = "needs a span" if self.span is None else "takes no span"
            raise AnswerError(f"the reply {self.reply.value!r} {needs}")
        if self.same is True and self.reply is not None:
            raise AnswerError("a yes takes no follow-up")
        if self.same is None and self.reply is None:
            raise AnswerError("an answer needs yes, no, or a reply")

    @classmethod
    def yes(cls, struck: Iterable[Span] = ()) -> Answer:
        return cls(same=True, struck=tuple(struck))

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
        for name, spans in (("struck", self.struck), ("also", self.also)):
            if spans:
                fields[name] = [span_to_json(span) for span in spans]
        return fields

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Answer:
        reply = fields.get("reply")
        span = fields.get("span")
        return cls(
            same=fields.get("same"),
            reply=None if reply is None else Reply(reply),
            span=None if span is None else span_from_json(span),
            struck=tuple(map(span_from_json, fields.get("struck", ()))),
            also=tuple(map(span_from_json, fields.get("also", ()))),
        )


def moved_like(mention: Span, corrected: Span, other: Span) -> Span:
    """The boundaries of another mention after the same correction that turned `mention` into the span."""
    return Span(other.start + corrected.start - mention.start, other.end + corrected.end - mention.end)


def check_fits(answer: Answer, question: Question) -> None:
    """Raise unless the question can have this answer."""
    protocol, reply = question.protocol, answer.reply
    if protocol is Protocol.GROUP:
        _check_group(answer, question)
        return
    if answer.struck:
        raise AnswerError("only mentions of a group can be struck out")
    if reply is Reply.PROPOSED_BOUNDARIES and question.antecedent is None:
        raise AnswerError("this question proposes nothing whose boundaries could be wrong")
    if protocol is Protocol.FOLLOW_UP:
        if answer.same is not None:
            raise AnswerError("this question asks only for the first appearance, not for yes or no")
    elif answer.same is None and protocol is Protocol.DISCRETE and reply is Reply.ANTECEDENT:
        return  # another entity is chosen, and nothing is said about the proposed mention
    elif answer.same is None and reply not in _WITHOUT_YES_OR_NO:
        raise AnswerError(f"answer yes or no; {reply and reply.value!r} can only follow a no")
    if protocol is Protocol.MENTIONS and answer.same is False:
        raise AnswerError(f"if this is not a mention, answer {Reply.NOT_A_MENTION.value!r}")
    if protocol is Protocol.PAIRWISE and answer.same is False and reply is not None:
        raise AnswerError("a pairwise question has no follow-up")
    if protocol is Protocol.DISCRETE and answer.same is False and reply is None:
        raise AnswerError("after a no, mark the first appearance or answer 'unsure'")


def _check_group(answer: Answer, question: Question) -> None:
    if answer.reply not in (None, Reply.NOT_A_MENTION, Reply.UNSURE):
        raise AnswerError(f"a question about a group is not answered by {answer.reply.value!r}")
    if not set(answer.struck) <= set(question.group):
        raise AnswerError("only mentions of the group can be struck out")
    left = len(question.group) - len(set(answer.struck))
    if answer.struck and (answer.same is False or answer.reply is Reply.UNSURE):
        raise AnswerError("nothing can be struck out with this answer")
    if left < (2 if answer.same else 1):
        raise AnswerError("too few mentions are left: say no, and they are asked about one by one")


def check_span(answer: Answer, question: Question) -> None:
    """Raise unless the answer's span is where it must be, and is not the antecedent that was just denied."""
    span, mention = answer.span, question.mention
    if span is None:
        return
    if answer.reply is Reply.FIRST and span > mention:
        raise InvalidSpanError(f"the first appearance {span} comes after the mention {mention}")
    if answer.reply is Reply.ANTECEDENT and span >= mention:
        raise InvalidSpanError(f"the antecedent {span} does not come before the mention {mention}")
    if answer.reply is Reply.BOUNDARIES and span == mention:
        raise InvalidSpanError(f"{span} are the present boundaries: give different ones")
    if answer.reply is Reply.PROPOSED_BOUNDARIES and (span == question.antecedent or span >= mention):
        raise InvalidSpanError(f"{span} must differ from the proposed {question.antecedent}, and precede {mention}")
    if mention in answer.also:
        raise AnswerError(f"{mention} is corrected already")
    if answer.same is False and span == question.antecedent:
        raise AnswerError(f"you said no to {span}: it cannot be in the entity of {mention}")


def span_to_json(span: Span) -> list[Any]:
    """[start, end], or a list of such parts for a discontinuous span."""
    return list(span) if len(span.parts) == 1 else [list(part) for part in span.parts]


def span_from_json(value: list[Any]) -> Span:
    return Span(*value) if value and isinstance(value[0], int) else span_of([tuple(part) for part in value])

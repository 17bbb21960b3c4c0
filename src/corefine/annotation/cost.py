"""What annotation costs, in seconds of a person's time.

The defaults are the means of the paper's timing study. A project can use the times of its own annotators instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from corefine.annotation.question import Answer, Protocol, Question


@dataclass(frozen=True, slots=True)
class CostModel:
    """Seconds for each kind of question.

    initial            "same entity?"
    follow_up          "mark the first appearance" after a no
    follow_up_alone    the same without an initial question
    group_mention      each mention of a group, besides the initial question
    mention            "is this a mention?"; not measured by the paper. Gandhi et al. (2023) found that marking mentions
                       takes about half as long as marking entities
    """

    initial: float = 15.96
    follow_up: float = 15.57
    follow_up_alone: float = 28.01
    group_mention: float = 2.0
    mention: float = 8.0

    def discrete(self, yes: int, no: int) -> float:
        """Discrete questions with this many yes and no answers. A no includes its initial question."""
        return self.initial * (yes + no) + self.follow_up * no

    def pairwise(self, questions: int) -> float:
        return self.initial * questions

    def follow_ups(self, questions: int) -> float:
        """Follow-up questions alone."""
        return self.follow_up_alone * questions

    def seconds(self, question: Question, answer: Answer) -> float:
        """The expected time of one answer."""
        if question.protocol is Protocol.FOLLOW_UP:
            return self.follow_up_alone
        if question.protocol is Protocol.MENTIONS:
            return self.mention
        if question.protocol is Protocol.GROUP:
            return self.initial + self.group_mention * len(question.group)
        return self.initial + (self.follow_up if answer.reply is not None and answer.same is False else 0.0)

    def expected(self, protocol: Protocol) -> float:
        """Seconds of a question if half of the answers are yes."""
        if protocol is Protocol.DISCRETE:
            return self.discrete(1, 1) / 2
        return {Protocol.FOLLOW_UP: self.follow_up_alone, Protocol.MENTIONS: self.mention}.get(protocol, self.initial)

    def least_gain(self, corrections_per_hour: float, protocol: Protocol) -> float:
        """How likely an answer must be to correct the model so that such questions bring this many corrections an hour.

        A correction takes longer than a yes where a follow-up question belongs to it.
        """
        seconds = self.initial if protocol is Protocol.DISCRETE else self.expected(protocol)
        more = self.follow_up if protocol is Protocol.DISCRETE else 0.0
        left = 3600.0 - corrections_per_hour * more
        return min(1.0, corrections_per_hour * seconds / left) if left > 0.0 else 1.0


def most_pairwise_questions(spans: int, candidates: int = 100) -> int:
    """How many pairs there are to ask about if each top span has at most this many candidates (equation 10)."""
    if spans <= candidates:
        return spans * (spans - 1) // 2
    return candidates * (candidates - 1) // 2 + (spans - candidates) * candidates

"""Simulated annotators. People answer in the browser or the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol as Interface

import numpy as np

from corefine.annotation.log import Outcome
from corefine.annotation.question import Answer, Protocol, Question, Reply
from corefine.annotation.session import Session
from corefine.document import Document, Span
from corefine.errors import InputError


class Annotator(Interface):
    """Answers questions about one document."""

    def answer(self, question: Question) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Turn:
    """One question, its answer, and its outcome."""

    question: Question
    answer: Answer
    outcome: Outcome


def annotate(session: Session, annotator: Annotator) -> Iterator[Turn]:
    """Let the annotator answer until the session has no more questions."""
    while (question := session.next_question()) is not None:
        answer = annotator.answer(question)
        yield Turn(question, answer, session.answer(answer))


class GoldAnnotator:
    """Answers from a document's gold clusters.

    nearest       marks the nearest antecedent instead of the first appearance
    error_rate    share of answers that are wrong on purpose; each step of a question counts by itself

    An answer depends only on the question and the seed, not on earlier questions.
    """

    def __init__(self, gold: Document, *, nearest: bool = False, error_rate: float = 0.0, seed: int = 0) -> None:
        if not 0.0 <= error_rate <= 1.0:
            raise InputError(f"the error rate must be between 0 and 1, not {error_rate}")
        self._mentions = gold.mentions
        self._cluster = {span: cluster for cluster in gold.clusters for span in cluster}
        self._nearest = nearest
        self._error_rate = error_rate
        self._seed = seed

    def answer(self, question: Question) -> Answer:
        rng = np.random.default_rng([self._seed, *question.mention, *(question.antecedent or ())])
        if question.protocol is Protocol.MENTIONS:
            is_mention = (question.mention in self._cluster) != self._errs(rng)
            return Answer.yes() if is_mention else Answer(reply=Reply.NOT_A_MENTION)
        if question.protocol is Protocol.GROUP:
            return self._about_group(question, rng)
        if question.protocol is Protocol.FOLLOW_UP or question.antecedent is None:
            reply, span = self._follow_up(question, rng)
            return Answer(reply=reply, span=span)
        same = question.antecedent in self._cluster.get(question.mention, ())
        if same != self._errs(rng):
            return Answer.yes()
        if question.protocol is Protocol.PAIRWISE:
            return Answer.no()
        return Answer.no(*self._follow_up(question, rng))

    def _about_group(self, question: Question, rng: np.random.Generator) -> Answer:
        """Say yes to the entity with the most mentions, and strike out the others. Say no if no entity has two."""
        entities = Counter(cluster for span in question.group if (cluster := self._cluster.get(span)) is not None)
        entity, size = entities.most_common(1)[0] if entities else ((), 0)
        if self._errs(rng):
            return Answer.yes() if size < len(question.group) else Answer.no()
        return Answer.yes([span for span in question.group if span not in entity]) if size > 1 else Answer.no()

    def _errs(self, rng: np.random.Generator) -> bool:
        return bool(rng.random() < self._error_rate)

    def _follow_up(self, question: Question, rng: np.random.Generator) -> tuple[Reply, Span]:
        mention = question.mention
        earlier = [span for span in self._cluster.get(mention, ()) if span < mention]
        truth = mention if not earlier else earlier[-1] if self._nearest else earlier[0]
        # After a wrong no, the true antecedent can no longer be marked, so the follow-up is wrong too.
        if self._errs(rng) or truth == question.antecedent:
            truth = self._wrong(question, truth, rng)
        return (Reply.ANTECEDENT if self._nearest and truth != mention else Reply.FIRST), truth

    def _wrong(self, question: Question, truth: Span, rng: np.random.Generator) -> Span:
        """A wrong first appearance: not the truth, and not the antecedent that was just denied."""
        entity = self._cluster.get(question.mention, ())
        others = [
            span
            for span in self._mentions
            if span < question.mention and span not in entity and span != question.antecedent
        ]
        if truth != question.mention:
            others.append(question.mention)
        return others[int(rng.integers(len(others)))] if others else question.mention

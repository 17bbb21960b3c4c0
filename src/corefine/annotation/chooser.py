"""What to ask next about one document: which mentions are open, which of them is worth most, and what to propose.

An `Inquiry` follows the answers that its session takes; it keeps no record of its own that the session could not give
it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np

from corefine.annotation.direct import DirectRevision
from corefine.annotation.log import Answered, Closing
from corefine.annotation.question import Protocol, Question, Reply
from corefine.annotation.revision import Mask, Revision
from corefine.annotation.selectors import Entropy, MentionEntropy, PairwiseEntropy, Progress, Selector
from corefine.annotation.selectors.entropy import mention_probability, pair_entropies
from corefine.document import Span
from corefine.links import Assertion, Change, Links
from corefine.prediction import NONE, Indices, Prediction

_DEFAULT_SELECTORS: dict[Protocol, Callable[[], Selector]] = {
    Protocol.PAIRWISE: PairwiseEntropy,
    Protocol.MENTIONS: MentionEntropy,
}


def default_selector(protocol: Protocol) -> Selector:
    """The selector a protocol is used with if no other is named."""
    return _DEFAULT_SELECTORS.get(protocol, Entropy)()


class Inquiry:
    """The questions that a prediction leaves open under the answers so far.

    revision    the prediction under them
    """

    def __init__(
        self,
        prediction: Prediction,
        links: Links,
        answers: Iterable[Answered],
        *,
        protocol: Protocol,
        selector: Selector,
        closing: Closing,
    ) -> None:
        self._links = links
        self._protocol = protocol
        self._selector = selector
        self._asked: Counter[Span] = Counter()  # mentions of standing answers, and how often each was asked about
        self._asked_rows: Mask = np.zeros(len(prediction), dtype=np.bool_)
        self._without_candidates: Mask = (prediction.candidates == NONE).all(axis=1)
        self._said: dict[Span, list[Answered]] = {}  # standing answers to questions about a mention
        self._corrections: list[Answered] = []  # those that set a mention's boundaries right
        self.revision = Revision(prediction, links) if closing is Closing.INCREMENTAL else DirectRevision(prediction)
        self._scores = selector.scores(self.revision, np.arange(len(prediction)))
        for answered in answers:
            self.mark_asked(answered, stands=True)
            if isinstance(self.revision, DirectRevision):
                self._score(self.revision.revise_alone(*self._alone(answered.question.mention)))

    # Following the answers

    def mark_asked(self, answered: Answered, *, stands: bool) -> None:
        """Note that a question was answered, or no longer is: mentions, and pairs nobody could tell, are asked once."""
        question = answered.question
        about = self._said.setdefault(question.mention, [])
        about.append(answered) if stands else about.remove(answered)
        self._asked[question.mention] += 1 if stands else -1
        if answered.answer.reply is Reply.BOUNDARIES:
            self._corrections.append(answered) if stands else self._corrections.remove(answered)
        row = self.revision.nodes.row(question.mention)
        if row is None:
            return
        self._asked_rows[row] = self._asked[question.mention] > 0
        if answered.answer.reply is Reply.UNSURE and question.antecedent is not None:
            column = self.revision.column(row, question.antecedent)
            if column is not None:
                self.revision.passed[row, column] = stands
                self._score(np.array([row]))

    def follow(self, change: Change, mention: Span | None) -> None:
        """Bring rows, clusters and scores up to date with the links, after something was said about this mention."""
        if isinstance(self.revision, DirectRevision) and mention is not None:
            self._score(self.revision.revise_alone(*self._alone(mention)))
        else:
            self._score(self.revision.update(change))

    def _alone(self, mention: Span) -> tuple[Span, list[Assertion]]:
        """A mention, and what standing answers to questions about it assert."""
        return mention, [assertion for answered in self._said[mention] for assertion in answered.assertions]

    def _score(self, rows: Indices) -> None:
        self._scores[rows] = self._selector.scores(self.revision, rows)

    # Choosing

    def open_rows(self) -> Mask:
        """[N] mentions that may be asked about: not settled, not asked, and not the first of all."""
        revision = self.revision
        if self._protocol is Protocol.MENTIONS:
            spans, links = revision.prediction.spans, self._links
            known = (links.entity_id(span) is not None or not links.is_mention(span) for span in spans)
            return ~(self._asked_rows | np.fromiter(known, np.bool_, len(spans)))
        if self._protocol is Protocol.PAIRWISE:
            return ~np.asarray(revision.closed_pairs(np.arange(len(revision.prediction))).all(axis=1))
        return ~(self._asked_rows | revision.settled | self._without_candidates)

    def choose(self, number: int, progress: Progress) -> Question | None:
        """The question worth most, None if nothing is open. A mention whose bounds were just set right comes first."""
        corrected = self._corrected(number)
        if corrected is not None:
            return corrected
        row = self._selector.choose(self._scores, self.open_rows(), self.revision, progress)
        if row is None:
            return None
        antecedent, probability = self._proposal(row)
        nothing_to_propose = self._protocol is Protocol.DISCRETE and antecedent is None
        return Question(
            number=number,
            mention=self.revision.nodes.spans[row],
            antecedent=antecedent,
            protocol=Protocol.FOLLOW_UP if nothing_to_propose else self._protocol,
            probability=probability,
            score=float(self._scores[row]),
        )

    def _proposal(self, row: int) -> tuple[Span | None, float]:
        """What to propose about a row's mention, and how probable it is; nothing where the protocol only asks.

        Nothing either where every candidate is ruled out: then only the first appearance can be asked for.
        """
        revision = self.revision
        if self._protocol is Protocol.MENTIONS:
            return None, float(mention_probability(revision, np.array([row]))[0])
        values = (
            pair_entropies(revision, np.array([row]))[0]
            if self._protocol is Protocol.PAIRWISE
            else np.where(revision.blocked[row], -1.0, revision.rows[row, 1:])
        )
        if values.max() < 0.0:
            return None, 0.0
        best = np.flatnonzero(values == values.max())
        column = int(best[revision.prediction.candidates[row, best].argmax()])  # ties to the nearest
        antecedent = revision.nodes.spans[revision.prediction.candidates[row, column]]
        probability = float(revision.rows[row, 1 + column])
        return (None if self._protocol is Protocol.FOLLOW_UP else antecedent), probability

    def _corrected(self, number: int) -> Question | None:
        """A question about a span whose boundaries were set right, in place of the one in which they were."""
        for answered in self._corrections:
            question, span = answered.question, answered.answer.span
            if span is None or question.protocol is Protocol.MENTIONS or self._asked[span] or self._is_settled(span):
                continue
            proposed = question.antecedent
            fits = proposed is not None and proposed < span and self._links.relation(proposed, span) is None
            return Question(
                number=number,
                mention=span,
                antecedent=proposed if fits else None,
                protocol=question.protocol if fits else Protocol.FOLLOW_UP,
            )
        return None

    def _is_settled(self, span: Span) -> bool:
        """Whether answers say where the span's entity was mentioned before, that it was not, or that it is none."""
        entity = self._links.entity_id(span)
        if entity is None:
            return not self._links.is_mention(span)
        return self._links.first(entity) < span or self._links.floor(entity) == span

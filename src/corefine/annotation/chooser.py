"""Choosing the next question about one document: which mentions are open, which to ask about, what to propose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np

from corefine.annotation.groups import FEWEST, EqualWords, group_of, mass_within
from corefine.annotation.log import AnswerEntry, LogEntry
from corefine.annotation.question import Protocol, Question, Reply
from corefine.annotation.revision import EPSILON, Mask, Revision
from corefine.annotation.selectors import Entropy, MentionEntropy, PairwiseEntropy, Sampled, Selector
from corefine.annotation.selectors.entropy import likely_mentions, mention_probability, pair_entropies
from corefine.document import Span
from corefine.links import Change, Links
from corefine.prediction import NONE, Floats, Indices

AT_ONCE = 64
"""How many rows have their gain computed at once."""
DIGITS = 6
"""Decimals of the probability that a mention has an antecedent, which is kept with each question."""
SURE = 0.5
"""An entity with this probability is proposed even if none of its mentions is likely by itself."""

_DEFAULT_SELECTORS: dict[Protocol, Callable[[], Selector]] = {
    Protocol.PAIRWISE: PairwiseEntropy,
    Protocol.MENTIONS: MentionEntropy,
}


def default_selector(protocol: Protocol) -> Selector:
    """The selector that a protocol uses if no other is named."""
    return _DEFAULT_SELECTORS.get(protocol, Entropy)()


class Chooser:
    """Chooses among the questions that a revised prediction leaves open. Answers update it.

    answers           the standing answers, which the revision and the links already include
    groups            which mentions can be asked about together; None: always ask one by one. With groups, mentions
                      whose words were asked about before come last
    least_proposal    a discrete question proposes the most probable entity that people named, that has a likely
                      mention, or that the model is sure of. If no such entity has this probability, the question asks
                      only for the first appearance. With 0 it proposes the most probable antecedent
    plausible         [N] the mentions to ask about and to propose in a text that the model knows little about; None in
                      other texts. While least_gain is above 0, only these are asked about, without a random sample
                      and without repeating words
    """

    def __init__(
        self,
        revision: Revision,
        links: Links,
        answers: Iterable[AnswerEntry],
        *,
        protocol: Protocol,
        selector: Selector,
        groups: EqualWords | None = None,
        least_proposal: float = 0.0,
        plausible: Mask | None = None,
    ) -> None:
        self.revision = revision
        self.plausible = plausible
        self._links = links
        self._protocol = protocol
        self._selector = selector
        self._groups = groups
        self._least_proposal = least_proposal
        self._likely = likely_mentions(revision.prediction) if least_proposal else None
        if self._likely is not None and plausible is not None:
            self._likely &= plausible
        self._grouped: Counter[Span] = Counter()  # standing answers about groups that include the mention
        self._asked: Counter[Span] = Counter()  # how many standing answers there are about a mention
        self._asked_rows: Mask = np.zeros(len(revision.prediction), dtype=np.bool_)
        self._grouped_rows: Mask = self._asked_rows.copy()
        self._heard: Indices = np.zeros(len(revision.prediction), dtype=np.int64)  # answers about the same words
        self._low: Mask = self._asked_rows.copy()  # rows known to have too little to gain
        self._without_candidates: Mask = (revision.prediction.candidates == NONE).all(axis=1)
        self._corrections: list[AnswerEntry] = []  # answers that correct boundaries
        for entry in answers:
            self._mark_asked(entry, stands=True)
        self._scores: Floats = np.full(len(revision.prediction), -np.inf)
        self._stale: Mask = np.ones(len(revision.prediction), dtype=np.bool_)  # rows whose score is not up to date

    # Updating

    def update(self, entry: LogEntry, change: Change, *, stands: bool) -> None:
        """Update after an answer or edit is given (`stands`) or withdrawn. `change` is its effect on the links."""
        rows = self.revision.update_after(entry, change, stands=stands)
        if isinstance(entry, AnswerEntry):
            rows = np.union1d(rows, self._mark_asked(entry, stands=stands))
        self._low[rows] = False
        self._stale[rows] = True

    def _mark_asked(self, entry: AnswerEntry, *, stands: bool) -> Indices:
        """Note that the question was asked, or no longer was. Returns the rows to score again."""
        question, reply = entry.question, entry.answer.reply
        if reply in (Reply.BOUNDARIES, Reply.PROPOSED_BOUNDARIES):
            self._corrections.append(entry) if stands else self._corrections.remove(entry)
        if question.protocol is Protocol.GROUP:
            self._count(self._grouped, self._grouped_rows, question.group, stands=stands)
        if question.protocol is not Protocol.GROUP or reply is Reply.UNSURE:
            asked = () if reply is Reply.PROPOSED_BOUNDARIES else question.mentions
            self._count(self._asked, self._asked_rows, asked, stands=stands)
        row = self.revision.nodes.row(question.mention)
        declined = question.protocol is Protocol.GROUP and entry.answer.same is False  # they are asked about one by one
        if row is not None and self._groups is not None and not declined:
            self._heard[self._groups.rows(row)] += 1 if stands else -1
        if row is not None and reply is Reply.UNSURE and question.antecedent is not None:
            column = self.revision.column(row, question.antecedent)
            if column is not None:  # a pair answered 'unsure' is not asked about again
                self.revision.unsure_pairs[row, column] = stands
                return np.array([row])
        return np.zeros(0, dtype=np.int64)

    def _count(self, counts: Counter[Span], rows: Mask, mentions: Iterable[Span], *, stands: bool) -> None:
        for mention in mentions:
            counts[mention] += 1 if stands else -1
            row = self.revision.nodes.row(mention)
            if row is not None:
                rows[row] = counts[mention] > 0

    # Choosing

    def open_rows(self) -> Mask:
        """[N] the mentions that may be asked about."""
        revision = self.revision
        if self._protocol is Protocol.MENTIONS:
            spans, links = revision.prediction.spans, self._links
            known = (links.entity_id(span) is not None or not links.is_mention(span) for span in spans)
            return ~(self._asked_rows | np.fromiter(known, np.bool_, len(spans)))
        if self._protocol is Protocol.PAIRWISE:
            return ~np.asarray(revision.closed_pairs(np.arange(len(revision.prediction))).all(axis=1))
        return ~(self._asked_rows | revision.settled | self._without_candidates)

    def rows_worth_asking(self) -> Mask:
        """[N] the open mentions; in a text that the model knows little about, only the plausible ones."""
        return self.open_rows() if self.plausible is None else self.open_rows() & self.plausible & (self._heard == 0)

    def gains(self, rows: Indices) -> Floats:
        """[R] how likely the answer about each mention is to differ from what the model expects."""
        revision = self.revision
        if self._protocol is Protocol.MENTIONS:
            chance = mention_probability(revision, rows)
            return np.minimum(chance, 1.0 - chance)
        if self._protocol is Protocol.PAIRWISE:
            pairs = revision.rows[rows][:, 1:]
            doubt = np.where(revision.closed_pairs(rows), 0.0, np.minimum(pairs, 1.0 - pairs))
            return np.asarray(doubt.max(axis=1, initial=0.0))
        masses = revision.masses(rows)
        expected = np.zeros(len(rows))
        np.maximum.at(expected, masses.row, masses.mass)
        return 1.0 - expected

    def choose(self, number: int, *, asked: int, budget: int | None, least_gain: float = 0.0) -> Question | None:
        """The question to ask next, or None if nothing is open. A mention with corrected boundaries comes first.

        asked, budget    how many questions were asked, and how many may be asked
        least_gain       return None, too, if every open mention gains less than this
        """
        corrected = self._corrected(number)
        if corrected is not None:
            return corrected
        row = self._best_row(asked, budget, least_gain)
        if row is None:
            return None
        score = float(self._scores[row])
        if self._groups is not None and (group := self._group(row)):
            return self._about_group(number, row, group, score)
        antecedent, probability = self._proposal(row)
        nothing_to_propose = self._protocol is Protocol.DISCRETE and antecedent is None
        return Question(
            number=number,
            mention=self.revision.nodes.spans[row],
            antecedent=antecedent,
            protocol=Protocol.FOLLOW_UP if nothing_to_propose else self._protocol,
            probability=probability,
            score=score,
            linked=self._linked(row),
        )

    def _linked(self, row: int) -> float | None:
        """The probability that a row's mention has an antecedent, if every answer to this protocol says whether it has.

        A pairwise yes says so and a no does not; "not a mention" does and "a mention" does not. What is left would be
        no fair test of the probability.
        """
        if self._protocol in (Protocol.PAIRWISE, Protocol.MENTIONS):
            return None
        return round(float(1.0 - self.revision.rows[row, EPSILON]), DIGITS)

    def _scores_of(self, rows: Mask) -> Floats:
        """[N] the selector's scores; only those of these rows are up to date. Closed rows are never scored."""
        stale = np.flatnonzero(self._stale & rows)
        if len(stale):
            self._scores[stale] = self._selector.scores(self.revision, stale)
            self._stale[stale] = False
        return self._scores

    def _best_row(self, asked: int, budget: int | None, least_gain: float) -> int | None:
        """The row to ask about, or None if no row gains enough. Words that were not asked about before come first.

        A random sample may take any open row. It would not be random if some were left out.
        """
        selector, sampled = self._selector, None
        restricted = least_gain > 0.0 and self.plausible is not None
        allowed = self.rows_worth_asking() if restricted else self.open_rows()
        scores = self._scores_of(allowed)
        if isinstance(selector, Sampled):
            if not restricted:  # hardly any of them would be mentions
                sampled = selector.sample_row(allowed, self.revision, asked=asked)
            selector = selector.usual
        while True:
            row = None
            for rows in (allowed & (self._heard == 0), allowed) if self._groups is not None else (allowed,):
                if row is None:
                    row = selector.choose(scores, rows, self.revision, asked=asked, budget=budget)
            if row is None or least_gain <= 0.0 or not self._is_low(row, scores, allowed, least_gain):
                return row if row is None or sampled is None else sampled

    def _is_low(self, row: int, scores: Floats, allowed: Mask, least_gain: float) -> bool:
        """Whether a row has too little to gain. If so, clear it in `allowed`, and others like it."""
        if not self._low[row]:
            if self.gains(np.array([row]))[0] >= least_gain:
                return False
            # At the end of a document there are many such rows, so check the best of the others together.
            others = np.flatnonzero(allowed & ~self._low)
            near = others[np.argsort(-scores[others], kind="stable")[:AT_ONCE]]
            self._low[near] = self.gains(near) < least_gain
            self._low[row] = True
        allowed &= ~self._low
        return True

    def _group(self, row: int) -> tuple[Span, ...]:
        """The mentions to ask about together with this row's mention, if there are several."""
        if self._groups is None or self._grouped_rows[row]:
            return ()
        equal = self._groups.rows(row)
        if len(equal) < FEWEST:
            return ()
        free = ~(self._asked_rows | self._grouped_rows | self.revision.settled)
        return group_of(self.revision, self._links, equal, row, free)

    def equal_to(self, mention: Span) -> tuple[Span, ...]:
        """Other mentions with the same words that answers leave open."""
        row = self.revision.nodes.row(mention)
        if row is None or self._groups is None:
            return ()
        equal = self._groups.rows(row)
        open_ones = equal[~(self._asked_rows | self.revision.settled)[equal] & (equal != row)]
        return tuple(self.revision.nodes.spans[each] for each in open_ones.tolist())

    def _about_group(self, number: int, row: int, group: tuple[Span, ...], score: float) -> Question:
        """One question about a group. Its probability is the mean share of a mention's mass that lies on the group."""
        rows = np.array([self.revision.nodes.row(span) for span in group], dtype=np.int64)
        return Question(
            number=number,
            mention=self.revision.nodes.spans[row],
            antecedent=None,
            protocol=Protocol.GROUP,
            probability=mass_within(self.revision, rows),
            score=score,
            group=group,
        )

    def _proposal(self, row: int) -> tuple[Span | None, float]:
        """The antecedent to propose for a row's mention, and its probability.

        The antecedent is None where the protocol proposes none, and where every candidate is ruled out. In the second
        case only the first appearance can be asked for.
        """
        revision = self.revision
        if self._protocol is Protocol.MENTIONS:
            return None, float(mention_probability(revision, np.array([row]))[0])
        if self._likely is not None and self._protocol is Protocol.DISCRETE:
            return self._likely_entity(row, self._likely)
        values = (
            pair_entropies(revision, np.array([row]))[0]
            if self._protocol is Protocol.PAIRWISE
            else np.where(revision.blocked[row], -1.0, revision.rows[row, 1:])
        )
        if values.max() < 0.0:
            return None, 0.0
        best = np.flatnonzero(values == values.max())
        column = int(best[revision.prediction.candidates[row, best].argmax()])  # ties go to the nearest
        antecedent = revision.nodes.spans[revision.prediction.candidates[row, column]]
        probability = float(revision.rows[row, 1 + column])
        return (None if self._protocol is Protocol.FOLLOW_UP else antecedent), probability

    def _likely_entity(self, row: int, likely: Mask) -> tuple[Span | None, float]:
        """The most probable entity that can be proposed, and its probability.

        It is shown by its most probable antecedent, by a likely mention if it has one.
        """
        revision = self.revision
        candidates, chances = revision.prediction.candidates[row], revision.rows[row, 1:]
        _, entity = np.unique(revision.labels[candidates], return_inverse=True)
        mass = np.bincount(entity, weights=chances)[entity]
        good = likely[candidates] | self._named(candidates)
        sure = mass >= SURE if self.plausible is None else np.zeros_like(good)
        fits = ~revision.blocked[row] & (good | sure)
        if not fits.any() or (best := mass[fits].max()) < self._least_proposal:
            return None, 0.0
        columns = np.flatnonzero(fits & (mass == best))
        order = np.lexsort((candidates[columns], chances[columns], good[columns]))  # ties go to the nearest
        return revision.nodes.spans[candidates[columns[order[-1]]]], float(best)

    def _named(self, nodes: Indices) -> Mask:
        """Which spans are in an entity that people have spoken about."""
        labels, number_of = self.revision.labels, self.revision.nodes.get_or_add
        spoken = {number_of(span) for cluster in self._links.entities() for span in cluster}
        return np.asarray(np.isin(labels[nodes], labels[sorted(spoken)]) & (nodes != NONE))

    def _corrected(self, number: int) -> Question | None:
        """A question about a span with corrected boundaries, in place of the question that it was corrected in."""
        for entry in self._corrections:
            question, span = entry.question, entry.answer.span
            proposed = question.antecedent
            if entry.answer.reply is Reply.PROPOSED_BOUNDARIES:
                span, proposed = question.mention, span
            if span is None or question.protocol is Protocol.MENTIONS or self._asked[span] or self._is_settled(span):
                continue
            if together := self._corrected_together(entry):
                return Question(number, span, None, Protocol.GROUP, group=together)
            fits = proposed is not None and proposed < span and self._links.relation(proposed, span) is None
            return Question(
                number=number,
                mention=span,
                antecedent=proposed if fits else None,
                protocol=question.protocol if fits else Protocol.FOLLOW_UP,
            )
        return None

    def _corrected_together(self, entry: AnswerEntry) -> tuple[Span, ...]:
        """The spans that one answer corrected, if one question can ask about all of them."""
        spans = [span for span in entry.corrected if not self._grouped[span]]
        known = any(self._links.relation(a, b) is not None for a, b in pairwise(spans))
        return tuple(sorted(spans)) if self._groups is not None and len(spans) >= FEWEST and not known else ()

    def _is_settled(self, span: Span) -> bool:
        """Whether answers say what the span's antecedent is, or that it has none."""
        entity = self._links.entity_id(span)
        if entity is not None and self._links.first(entity) < span:
            return True
        return self._links.has_no_antecedent(span)

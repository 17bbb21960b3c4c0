"""The annotation method, computed anew from all standing answers after each of them, in plain Python.

Written from docs/method.md alone: it shares no code with the package but the types of questions, answers and links.
It is slow and simple on purpose. `test_brute_force.py` compares a session with it after every step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from corefine.annotation.question import Answer, Protocol, Question, Reply
from corefine.document import Span
from corefine.links import Assertion, Cannot, First, Must, NotAMention
from corefine.prediction import Prediction

EPSILON = None
Row = dict[Span | None, float]
"""An antecedent, or EPSILON, and its probability (or share of votes)."""


@dataclass(frozen=True)
class Said:
    """A standing answer (with its question) or edit (without)."""

    question: Question | None = None
    answer: Answer | None = None
    edit: tuple[Assertion, ...] = ()

    def assertions(self) -> list[Assertion]:
        """What it says about mentions, by the rules of the protocol."""
        if self.question is None or self.answer is None:
            return list(self.edit)
        mention, proposed, answer = self.question.mention, self.question.antecedent, self.answer
        if answer.reply in (Reply.NOT_A_MENTION, Reply.BOUNDARIES):
            return [NotAMention(mention)]
        said: list[Assertion] = []
        if proposed is not None and answer.same is not None:
            said.append(Must(proposed, mention) if answer.same else Cannot(proposed, mention))
        if answer.reply is Reply.FIRST and answer.span is not None:
            said.append(First(answer.span, mention))
        if answer.reply is Reply.ANTECEDENT and answer.span is not None:
            said.append(Must(answer.span, mention))
        return said


@dataclass
class Closed:
    """What all assertions together say.

    entity    of each mention that is named and is one: its whole entity
    apart     pairs of entities that were said to be two
    first     mentions known to be the first of their entity
    denied    spans that are no mentions
    """

    entity: dict[Span, frozenset[Span]] = field(default_factory=dict)
    apart: set[frozenset[frozenset[Span]]] = field(default_factory=set)
    first: set[Span] = field(default_factory=set)
    denied: set[Span] = field(default_factory=set)

    def are_apart(self, a: Span, b: Span) -> bool:
        one, other = self.entity.get(a), self.entity.get(b)
        return one is not None and other is not None and frozenset((one, other)) in self.apart

    def consistent(self) -> bool:
        """Whether there is an assignment of mentions to entities that agrees with all of it."""
        return not any(len(pair) == 1 for pair in self.apart) and all(
            min(self.entity[first]) == first for first in self.first if first in self.entity
        )


def close(assertions: Iterable[Assertion], *, infer_first: bool) -> Closed:
    """The closure, from scratch."""
    same: list[tuple[Span, Span]] = []
    different: list[tuple[Span, Span]] = []
    starts: set[Span] = set()
    denied: set[Span] = set()
    for said in assertions:
        if isinstance(said, Must):
            same.append((said.a, said.b))
        elif isinstance(said, Cannot):
            different.append((said.a, said.b))
        elif isinstance(said, NotAMention):
            denied.add(said.mention)
        elif said.first == said.mention:
            starts.add(said.mention)
        else:
            same.append((said.first, said.mention))
            if infer_first:
                starts.add(said.first)
    named = {span for pair in (*same, *different) for span in pair} | starts
    groups: dict[Span, set[Span]] = {span: {span} for span in named - denied}
    for a, b in same:
        if a in groups and b in groups and groups[a] is not groups[b]:
            joined = groups[a] | groups[b]
            for span in joined:
                groups[span] = joined
    entity = {span: frozenset(group) for span, group in groups.items()}
    apart = {frozenset((entity[a], entity[b])) for a, b in different if a in entity and b in entity}
    return Closed(entity, apart, starts - denied, denied)


class State:
    """Everything that follows from a prediction and what was said: rows, clusters, scores and the next question."""

    def __init__(self, prediction: Prediction, said: Sequence[Said], *, infer_first: bool, protocol: Protocol) -> None:
        self.prediction, self.said, self.protocol = prediction, said, protocol
        self.known = close((a for each in said for a in each.assertions()), infer_first=infer_first)
        self.spans = prediction.spans
        self.candidates = [
            [self.spans[c] for c in row if c >= 0] for row in prediction.candidates.tolist()
        ]  # of each row, in the model's order
        self.settled: list[bool] = []
        self.blocked: list[set[Span]] = []
        self.rows = [self._row(i) for i in range(len(self.spans))]
        self.votes = None if prediction.members is None else [self._votes(i) for i in range(len(self.spans))]
        self.antecedent = [self._antecedent(i) for i in range(len(self.spans))]
        self.cluster = self._decode()

    # Rows under links

    def _prior(self, i: int) -> Row:
        columns = [EPSILON, *(self.spans[c] if c >= 0 else EPSILON for c in self.prediction.candidates[i].tolist())]
        row: Row = {}
        for span, chance in zip(columns, self.prediction.probabilities[i].tolist(), strict=True):
            if span is not EPSILON or EPSILON not in row:
                row[span] = chance
        return row

    def _certain(self, i: int) -> tuple[bool, Span | None]:
        """Whether answers settle the row, and on which antecedent."""
        mention, known = self.spans[i], self.known
        if mention in known.denied or mention in known.first:
            return True, EPSILON
        earlier = sorted(span for span in known.entity.get(mention, ()) if span < mention)
        if not earlier:
            return False, EPSILON
        listed = [span for span in self.candidates[i] if span in earlier]
        prior = self._prior(i)
        return True, max(listed, key=lambda span: (prior[span], span)) if listed else earlier[-1]

    def _row(self, i: int) -> Row:
        mention, known = self.spans[i], self.known
        prior = self._prior(i)
        settled, antecedent = self._certain(i)
        self.settled.append(settled)
        if settled:
            self.blocked.append(set(self.candidates[i]))
            return {antecedent: 1.0} if antecedent is EPSILON or antecedent in prior else {}
        gone = {span for span in self.candidates[i] if span in known.denied or known.are_apart(span, mention)}
        self.blocked.append(gone)
        kept = {span: 0.0 if span in gone else chance for span, chance in prior.items()}
        total = sum(kept.values())
        if not total:
            return {EPSILON: 1.0}
        return {span: chance / total for span, chance in kept.items()} if gone else kept

    def _votes(self, i: int) -> Row:
        if self.prediction.members is None:
            return {}
        if self.settled[i]:
            return dict(self.rows[i])
        votes: Row = {}
        for member in self.prediction.members[:, i]:
            best = int(member.argmax())
            span = EPSILON if best == 0 else self.spans[self.prediction.candidates[i, best - 1]]
            votes[span] = votes.get(span, 0.0) + 1.0 / len(self.prediction.members)
        return {span: share for span, share in votes.items() if span not in self.blocked[i]}

    # Clusters

    def _antecedent(self, i: int) -> Span | None:
        settled, antecedent = self._certain(i)
        row = self.rows[i]
        if settled:
            return antecedent
        if row.get(EPSILON, 0.0) >= 0.5 or not self.candidates[i]:
            return EPSILON
        return max(self.candidates[i], key=lambda span: row[span])

    def _decode(self) -> dict[Span, frozenset[Span]]:
        """The cluster of every top span and every span that was named."""
        groups: dict[Span, set[Span]] = {}
        for span in {*self.spans, *self.known.entity, *self.known.denied}:
            group = groups.get(span) or set(self.known.entity.get(span, {span}))
            for member in group:
                groups[member] = group
        links = []
        for i, mention in enumerate(self.spans):
            antecedent = self.antecedent[i]
            if antecedent is not EPSILON:
                strength = 1.0 if self.settled[i] else self.rows[i][antecedent]
                links.append((-strength, i, mention, antecedent))
        for _, _, a, b in sorted(links):
            if groups[a] is groups[b] or any(self.known.are_apart(x, y) for x in groups[a] for y in groups[b]):
                continue
            joined = groups[a] | groups[b]
            for span in joined:
                groups[span] = joined
        return {span: frozenset(group) for span, group in groups.items()}

    def clusters(self) -> set[frozenset[Span]]:
        return {cluster for cluster in self.cluster.values() if len(cluster) > 1}

    # Scores

    def _masses(self, row: Row, *, clustered: bool) -> dict[object, float]:
        masses: dict[object, float] = {}
        for span, chance in row.items():
            if chance > 0.0:
                outcome: object = EPSILON if span is EPSILON else self.cluster[span] if clustered else span
                masses[outcome] = masses.get(outcome, 0.0) + chance
        return masses

    def _is_mention(self, i: int) -> float:
        scores = self.prediction.mention_scores
        return 0.0 if scores is None else 1.0 / (1.0 + math.exp(-scores[i]))

    def score(self, selector: str, i: int, *, clustered: bool) -> float:
        """How much a question about this row is worth."""
        row = self.rows[i]
        entropy = _entropy(self._masses(row, clustered=clustered).values())
        mention = self._is_mention(i)
        if selector == "entropy":
            return entropy
        if selector == "committee":
            votes = self.votes[i] if self.votes else {}
            return _entropy(self._masses(votes, clustered=clustered).values())
        if selector == "mention-entropy":
            return _entropy((mention, 1.0 - mention))
        if selector == "joint-entropy":
            return _entropy((mention, 1.0 - mention)) + mention * entropy
        if selector == "expected-change":
            return sum(mass * (1.0 - mass) for mass in self._masses(row, clustered=clustered).values())
        if selector == "density":
            chances = zip(self.prediction.candidates.tolist(), self.prediction.probabilities.tolist(), strict=True)
            later = [p for each, chance_row in chances for j, p in zip(each, chance_row[1:], strict=True) if j == i]
            return entropy * (1.0 + sum(later))
        if selector == "pairwise-entropy":
            pairs = [span for span in self.candidates[i] if self._pair_is_open(i, span)]
            return max((_entropy((row[span], 1.0 - row[span])) for span in pairs), default=-math.inf)
        masses = self._masses(row, clustered=clustered)
        antecedent = self.antecedent[i]
        if antecedent is not EPSILON:  # lcc: the less the mass on its own cluster, the better
            own: object = self.cluster[self.spans[i]] if clustered else antecedent
            return -masses.get(own, 0.0)
        return max((mass for outcome, mass in masses.items() if outcome is not EPSILON), default=0.0)

    # What may be asked

    def _asked(self, span: Span) -> bool:
        return any(each.question is not None and each.question.mention == span for each in self.said)

    def _pair_is_open(self, i: int, antecedent: Span) -> bool:
        unsure = any(
            each.question is not None
            and each.question.mention == self.spans[i]
            and each.question.antecedent == antecedent
            and each.answer is not None
            and each.answer.reply is Reply.UNSURE
            for each in self.said
        )
        return not self.settled[i] and antecedent not in self.blocked[i] and not unsure

    def open(self) -> list[int]:
        """The rows that may be asked about."""
        rows = range(len(self.spans))
        if self.protocol is Protocol.PAIRWISE:
            return [i for i in rows if any(self._pair_is_open(i, span) for span in self.candidates[i])]
        if self.protocol is Protocol.MENTIONS:
            known = self.known
            return [
                i
                for i in rows
                if not self._asked(self.spans[i]) and self.spans[i] not in known.entity.keys() | known.denied
            ]
        return [i for i in rows if self.candidates[i] and not self.settled[i] and not self._asked(self.spans[i])]

    def correction(self) -> Span | None:
        """A span whose boundaries were set right and that must be asked about next."""
        known = self.known
        for each in self.said:
            if each.question is None or each.answer is None or each.answer.reply is not Reply.BOUNDARIES:
                continue
            span = each.answer.span
            if span is None or each.question.protocol is Protocol.MENTIONS or self._asked(span) or span in known.denied:
                continue
            if span in known.first or any(other < span for other in known.entity.get(span, ())):
                continue
            return span
        return None

    def proposals(self, i: int) -> list[Span]:
        """The antecedents that may be proposed about a row, best first, ties to the nearest; empty: none is left."""
        row = self.rows[i]
        if self.protocol is Protocol.PAIRWISE:
            pairs = [span for span in self.candidates[i] if self._pair_is_open(i, span)]
            return sorted(pairs, key=lambda span: (_entropy((row[span], 1.0 - row[span])), span), reverse=True)
        left = [span for span in self.candidates[i] if span not in self.blocked[i]]
        return sorted(left, key=lambda span: (row.get(span, 0.0), span), reverse=True)


def _entropy(masses: Iterable[float]) -> float:
    return -sum(mass * math.log(mass) for mass in masses if mass > 0.0)

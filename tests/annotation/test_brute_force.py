"""A session against a brute force of the whole method, after every step of random annotations.

Answers, edits, withdrawals, undo and redo, new predictions, committees, spans that the model did not propose: whatever
happens, the rows, the clusters, what may be asked and what is asked are those that follow from scratch.
"""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corefine.annotation.log import AnswerEntry, Budget
from corefine.annotation.question import Answer, Protocol, Question, Reply
from corefine.annotation.selectors import make_selector
from corefine.annotation.session import Session
from corefine.document import Span
from corefine.errors import AnswerError, CorefineError
from corefine.links import Assertion, Cannot, First, Must, NotAMention
from corefine.prediction import NONE, Prediction
from helpers.brute_force import Said, State, close
from helpers.making import document_of

TOKENS = 24
CHOICES = (
    *((Protocol.DISCRETE, name) for name in ("entropy", "committee", "lcc-mcu", "random", "joint-entropy")),
    *((Protocol.DISCRETE, name) for name in ("expected-change", "density")),
    (Protocol.PAIRWISE, "pairwise-entropy"),
    (Protocol.PAIRWISE, "random"),
    (Protocol.FOLLOW_UP, "entropy"),
    (Protocol.MENTIONS, "mention-entropy"),
)


def some_prediction(chance: random.Random) -> Prediction:
    """Top spans of one or two tokens, a few candidates each, and a committee of three."""
    every = [Span(i, i) for i in range(TOKENS)] + [Span(i, i + 1) for i in range(TOKENS - 1)]
    spans = tuple(sorted(chance.sample(every, chance.randint(1, 14))))
    width = chance.randint(1, len(spans))
    candidates = np.full((len(spans), width), NONE)
    for i in range(len(spans)):
        listed = chance.sample(range(i), min(i, width))
        candidates[i, : len(listed)] = listed
    rng = np.random.default_rng(chance.getrandbits(32))
    scores = rng.normal(0.0, 2.0, (3, len(spans), 1 + width))
    scores[:, :, 1:][:, candidates == NONE] = -np.inf
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    members = weights / weights.sum(axis=2, keepdims=True)
    return Prediction(
        spans, candidates, members.mean(axis=0), members=members, mention_scores=rng.normal(size=len(spans))
    )


def some_answer(question: Question, chance: random.Random) -> Answer:
    """Any answer the question may have, right or wrong."""
    mention = question.mention
    earlier = [Span(i, i) for i in range(mention.start)] + [Span(i, i + 1) for i in range(mention.start)]
    reply = chance.choice([Reply.FIRST, Reply.FIRST, Reply.ANTECEDENT, Reply.UNSURE, Reply.NOT_A_MENTION, None])
    span = chance.choice([mention, *earlier]) if reply is Reply.FIRST else None
    if reply is Reply.ANTECEDENT:
        span = chance.choice(earlier) if earlier else None
        reply = reply if earlier else Reply.UNSURE
    if chance.random() < 0.1:
        moved = Span(mention.start, min(TOKENS - 1, mention.end + 1))
        if moved != mention:
            return Answer(reply=Reply.BOUNDARIES, span=moved)
    if question.protocol is Protocol.MENTIONS:
        return (
            Answer.yes() if chance.random() < 0.5 else Answer(reply=chance.choice([Reply.NOT_A_MENTION, Reply.UNSURE]))
        )
    if question.protocol is Protocol.FOLLOW_UP:
        return Answer(reply=reply or Reply.UNSURE, span=span)
    if chance.random() < 0.4:
        return Answer.yes()
    if question.protocol is Protocol.PAIRWISE:
        return Answer.no() if chance.random() < 0.7 else Answer.unsure()
    if reply in (None, Reply.NOT_A_MENTION):
        return Answer(reply=Reply.NOT_A_MENTION) if reply else Answer.unsure()
    return Answer.no(reply, span)


def some_edit(session: Session, chance: random.Random) -> list[Assertion]:
    spans = [*session.revision.prediction.spans, Span(0, 1), Span(3, 4)]
    a, b = sorted(chance.choices(spans, k=2))
    kinds: list[Assertion] = [NotAMention(a), First(a, b)]
    return [chance.choice([*kinds, Must(a, b), Cannot(a, b)] if a != b else kinds)]


def standing(session: Session) -> list[Said]:
    """What stands, in the order given."""
    return [
        Said(entry.question, entry.answer) if isinstance(entry, AnswerEntry) else Said(edit=tuple(entry.assertions))
        for entry in session.entries
    ]


def step(session: Session, chance: random.Random) -> str:
    """Do one thing; what was done. A refusal must change nothing, which the comparison after it shows."""
    act = chance.random()
    question = session.next_question()
    try:
        if act < 0.66 and question is not None:
            answer = some_answer(question, chance)
            try:
                session.answer(answer)
            except AnswerError:
                said = Said(question, answer)
                check_refusal(session, said)
                return "refused"
            return "answer"
        if act < 0.74:
            session.edit(some_edit(session, chance))
            return "edit"
        if act < 0.82 and session.entries:
            session.withdraw(chance.choice(session.entries).number)
            return "withdraw"
        if act < 0.90:
            session.undo()
            return "undo"
        if act < 0.97:
            session.redo()
            return "redo"
        session.use(some_prediction(chance))
    except CorefineError:
        return "refused"
    return "prediction"


def check_refusal(session: Session, said: Said) -> None:
    """An answer is refused only if all that stands and it cannot be true together."""
    mention = said.question.mention if said.question is not None else None
    assertions = [a for each in (*standing(session), said) for a in each.assertions()]
    known = close(assertions, infer_first=session.links.infer_first)
    impossible = said.answer is not None and said.answer.same is False and said.question is not None
    beside_the_point = impossible and said.answer is not None and said.answer.span == said.question.antecedent
    denied = {a.mention for a in assertions if isinstance(a, NotAMention)}
    named = {s for a in assertions if isinstance(a, Must | Cannot) for s in (a.a, a.b)}
    named |= {s for a in assertions if isinstance(a, First) for s in (a.first, a.mention)}
    assert not known.consistent() or beside_the_point or denied & (named | {mention})


def check(session: Session, selector: str, clustered: bool, budget: int | None) -> None:
    prediction = session.revision.prediction
    state = State(prediction, standing(session), infer_first=session.links.infer_first, protocol=session.protocol)
    revision = session.revision
    assert state.known.consistent()
    for i, row in enumerate(state.rows):
        expected = np.zeros(1 + prediction.width)
        expected[0] = row.get(None, 0.0)
        for column, candidate in enumerate(prediction.candidates[i].tolist()):
            if candidate != NONE:
                expected[1 + column] = row.get(prediction.spans[candidate], 0.0)
        np.testing.assert_allclose(revision.rows[i], expected, atol=1e-9)
    assert revision.settled.tolist() == state.settled
    assert {frozenset(cluster) for cluster in revision.clusters()} == state.clusters()
    check_question(session, state, selector, clustered, budget)


def check_question(session: Session, state: State, selector: str, clustered: bool, budget: int | None) -> None:
    question = session.next_question()
    allowed = state.open()
    assert session.open_mentions == len(allowed)
    answered = len(session.answers)
    if budget is not None and answered >= budget:
        assert question is None
        return
    corrected = state.correction()
    if corrected is not None:
        assert question is not None
        assert question.mention == corrected
        return
    if selector == "lcc-mcu":
        linked = [i for i in allowed if state.antecedent[i] is not None]
        others = [i for i in allowed if state.antecedent[i] is None]
        first_half = answered % 2 == 0 if budget is None else answered < budget // 2
        allowed = (linked or others) if first_half else (others or linked)
    if not allowed:
        assert question is None
        return
    assert question is not None
    row = state.spans.index(question.mention)
    assert row in allowed
    if selector != "random":
        scores = {i: state.score(selector, i, clustered=clustered) for i in allowed}
        best = max(scores.values())
        assert math.isclose(question.score, scores[row], abs_tol=1e-9)
        assert scores[row] >= best - 1e-9
        assert not [i for i in allowed if i < row and scores[i] > scores[row] + 1e-9]
    check_proposal(question, state, row)


def check_proposal(question: Question, state: State, row: int) -> None:
    proposals = state.proposals(row)
    if state.protocol in (Protocol.FOLLOW_UP, Protocol.MENTIONS):
        assert question.antecedent is None
    elif not proposals:
        assert question.antecedent is None
        assert question.protocol is Protocol.FOLLOW_UP
    else:
        assert question.antecedent == proposals[0]
        assert math.isclose(question.probability, state.rows[row].get(proposals[0], 0.0), abs_tol=1e-9)


def compare(seed: int) -> Counter[str]:
    """A random annotation, compared after every step; how often each thing was done."""
    chance = random.Random(seed)
    protocol, selector = CHOICES[seed % len(CHOICES)]
    clustered = chance.random() < 0.7
    budget = chance.choice([None, None, 6, 20])
    session = Session(
        document_of(tokens=TOKENS),
        some_prediction(chance),
        protocol=protocol,
        selector=make_selector(selector, clustered=clustered),
        budget=Budget(questions=budget),
        infer_first=chance.random() < 0.5,
    )
    done: Counter[str] = Counter()
    check(session, selector, clustered, budget)
    for _ in range(20):
        done[step(session, chance)] += 1
        check(session, selector, clustered, budget)
    return done


@settings(max_examples=200)
@given(st.integers(0, 2**32 - 1))
def test_a_session_is_what_follows_from_scratch(seed: int) -> None:
    compare(seed)


@pytest.mark.nightly
@settings(max_examples=2000)
@given(st.integers(0, 2**32 - 1))
def test_many_sessions_are_what_follows_from_scratch(seed: int) -> None:
    compare(seed)


def test_a_score_follows_the_cluster_its_own_mention_is_in() -> None:
    """LCC/MCU asked by the scores of an earlier state when a mention's own cluster had changed: the seed shows it."""
    compare(488)


def test_the_random_sessions_do_everything() -> None:
    done = sum((compare(seed) for seed in range(4 * len(CHOICES))), Counter())
    assert {"answer", "refused", "edit", "withdraw", "undo", "redo", "prediction"} <= done.keys()

"""The paper's own arithmetic."""

from __future__ import annotations

import pytest

from corefine.annotation.cost import CostModel, most_pairwise_questions
from corefine.annotation.question import Answer, Protocol, Question, Reply
from corefine.document import Span


def test_fully_labelling_the_papers_average_document() -> None:
    cost = CostModel()
    discrete = cost.discrete(yes=0, no=201)
    pairwise = cost.pairwise(most_pairwise_questions(201, candidates=100))
    assert most_pairwise_questions(201, candidates=100) == 15_050
    assert discrete == pytest.approx(6337.53)
    assert pairwise == pytest.approx(240_198)
    assert 100 * discrete / pairwise == pytest.approx(2.64, abs=0.005)


@pytest.mark.parametrize("spans", [0, 1, 2, 99, 100, 101, 300])
def test_most_pairwise_questions_counts_the_pairs(spans: int) -> None:
    assert most_pairwise_questions(spans, candidates=100) == sum(min(i, 100) for i in range(spans))


def asked(protocol: Protocol, group: int = 0) -> Question:
    return Question(1, Span(9, 9), None, protocol, group=tuple(Span(token, token) for token in range(group)))


def test_a_group_costs_something_for_each_mention() -> None:
    assert CostModel().seconds(asked(Protocol.GROUP, 9), Answer.yes()) == pytest.approx(15.96 + 9 * 2.0)


@pytest.mark.parametrize(
    ("protocol", "seconds"),
    [
        (Protocol.DISCRETE, 15.96 + 15.57 / 2),
        (Protocol.PAIRWISE, 15.96),
        (Protocol.FOLLOW_UP, 28.01),
        (Protocol.MENTIONS, 8.0),
    ],
)
def test_each_protocol_has_its_expected_time(protocol: Protocol, seconds: float) -> None:
    assert CostModel().expected(protocol) == pytest.approx(seconds)


@pytest.mark.parametrize("protocol", [Protocol.DISCRETE, Protocol.PAIRWISE, Protocol.FOLLOW_UP, Protocol.MENTIONS])
@pytest.mark.parametrize("per_hour", [0.5, 10.0, 60.0])
def test_questions_of_the_least_gain_bring_so_many_corrections_an_hour(protocol: Protocol, per_hour: float) -> None:
    cost = CostModel()
    gain = cost.least_gain(per_hour, protocol)
    yes = cost.seconds(asked(protocol), Answer.yes())
    said = (
        Answer(same=False) if protocol is Protocol.PAIRWISE else Answer(same=False, reply=Reply.FIRST, span=Span(9, 9))
    )
    no = cost.seconds(asked(protocol), said)
    assert 3600 * gain / ((1 - gain) * yes + gain * no) == pytest.approx(per_hour)


def test_what_no_question_can_bring_needs_more_than_any_has() -> None:
    assert CostModel().least_gain(1e6, Protocol.DISCRETE) == 1.0
    assert CostModel().least_gain(0.0, Protocol.DISCRETE) == 0.0


def test_a_mention_alone_has_a_cost_of_its_own() -> None:
    assert CostModel(mention=7.0).seconds(asked(Protocol.MENTIONS), Answer.yes()) == 7.0


def test_a_no_costs_its_initial_question_too() -> None:
    cost = CostModel(initial=10.0, follow_up=5.0, follow_up_alone=12.0)
    first = Answer.no(Reply.FIRST, Span(0, 0))
    assert cost.seconds(asked(Protocol.DISCRETE), Answer.yes()) == 10.0
    assert cost.seconds(asked(Protocol.DISCRETE), first) == 15.0
    assert cost.seconds(asked(Protocol.DISCRETE), Answer.unsure()) == 10.0
    assert cost.seconds(asked(Protocol.PAIRWISE), Answer.no()) == 10.0
    assert cost.seconds(asked(Protocol.FOLLOW_UP), Answer(reply=Reply.FIRST, span=Span(0, 0))) == 12.0
    assert cost.discrete(yes=3, no=2) == 3 * 10.0 + 2 * 15.0
    assert cost.follow_ups(4) == 48.0

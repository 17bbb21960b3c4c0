from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefine.annotation.annotators import GoldAnnotator
from corefine.annotation.question import Answer, Protocol, Question, Reply, check_fits
from corefine.document import Document, Span
from corefine.errors import InputError
from helpers.making import document_of, gold_documents

GOLD = document_of([[(0, 0), (3, 3), (7, 7)], [(2, 2), (5, 5)], [(9, 9)]])


def question(mention: int, antecedent: int | None, protocol: Protocol = Protocol.DISCRETE) -> Question:
    proposed = None if antecedent is None else Span(antecedent, antecedent)
    return Question(1, Span(mention, mention), proposed, protocol)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (question(7, 3), Answer.yes()),
        (question(7, 5), Answer.no(Reply.FIRST, Span(0, 0))),
        (question(2, 0), Answer.no(Reply.FIRST, Span(2, 2))),  # the first of its entity
        (question(9, 0), Answer.no(Reply.FIRST, Span(9, 9))),  # the only one
        (question(8, 0), Answer.no(Reply.FIRST, Span(8, 8))),  # no mention at all
        (question(7, 5, Protocol.PAIRWISE), Answer.no()),
        (question(7, None, Protocol.FOLLOW_UP), Answer(reply=Reply.FIRST, span=Span(0, 0))),
    ],
)
def test_gold_answers(asked: Question, expected: Answer) -> None:
    assert GoldAnnotator(GOLD).answer(asked) == expected


def test_the_nearest_antecedent_in_place_of_the_first() -> None:
    annotator = GoldAnnotator(GOLD, nearest=True)
    assert annotator.answer(question(7, 5)) == Answer.no(Reply.ANTECEDENT, Span(3, 3))
    assert annotator.answer(question(2, 0)) == Answer.no(Reply.FIRST, Span(2, 2))


@given(gold_documents(12), st.floats(0, 1), st.booleans(), st.integers(0, 1000), st.data())
def test_even_wrong_answers_fit_their_question(
    gold: Document, error_rate: float, nearest: bool, seed: int, data: st.DataObject
) -> None:
    annotator = GoldAnnotator(gold, nearest=nearest, error_rate=error_rate, seed=seed)
    mention = data.draw(st.integers(1, 11))
    protocol = data.draw(st.sampled_from([each for each in Protocol if each is not Protocol.GROUP]))
    proposed = None if protocol is Protocol.FOLLOW_UP else data.draw(st.integers(0, mention - 1))
    asked = question(mention, proposed, protocol)
    answer = annotator.answer(asked)
    check_fits(answer, asked)
    assert annotator.answer(asked) == answer
    if answer.span is not None:
        assert answer.span <= asked.mention
        assert answer.span != asked.antecedent


def test_errors_come_at_their_rate_and_are_errors() -> None:
    gold = document_of([[(i, i) for i in range(0, 400, 2)], [(i, i) for i in range(1, 400, 2)]], tokens=400)
    truth, wrong = GoldAnnotator(gold), GoldAnnotator(gold, error_rate=0.2, seed=3)
    asked = [question(i, i - 1 - i % 2, Protocol.PAIRWISE) for i in range(2, 400)]
    differing = np.mean([truth.answer(each) != wrong.answer(each) for each in asked])
    assert 0.14 < differing < 0.26
    always = GoldAnnotator(gold, error_rate=1.0)
    assert all(truth.answer(each) != always.answer(each) for each in asked)


@pytest.mark.parametrize("rate", [-0.1, 1.1])
def test_an_error_rate_is_a_share(rate: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        GoldAnnotator(GOLD, error_rate=rate)

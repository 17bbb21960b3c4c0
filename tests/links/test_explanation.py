"""Explanations are shortest, held against trying all sets of answers."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corefine.document import Span
from corefine.errors import ContradictionError
from corefine.links import Assertion, Links, Must
from helpers.asserting import PAIRS, Answers, consistent, protocol_answers, replay


def standing(said: list[list[Assertion]], *, infer_first: bool) -> dict[int, list[Assertion]]:
    """Of these answers, those that do not contradict what stands before them."""
    answers: dict[int, list[Assertion]] = {}
    for number, assertions in enumerate(said):
        if consistent({**answers, number: assertions}, infer_first=infer_first):
            answers[number] = assertions
    return answers


def smaller_sets(answers: Answers, size: int) -> list[Answers]:
    return [
        {answer: answers[answer] for answer in chosen}
        for smaller in range(size)
        for chosen in combinations(answers, smaller)
    ]


@settings(max_examples=80)
@given(st.lists(protocol_answers(), max_size=7), st.booleans())
def test_no_fewer_answers_imply_a_relation(said: list[list[Assertion]], infer_first: bool) -> None:
    answers = standing(said, infer_first=infer_first)
    links = replay(answers, infer_first=infer_first)
    for a, b in PAIRS:
        relation, chain = links.relation(a, b), links.explain(a, b)
        if relation is not None:
            for fewer in smaller_sets(answers, len(chain)):
                assert replay(fewer, infer_first=infer_first).relation(a, b) is not relation


@settings(max_examples=200)
@given(st.lists(protocol_answers(), min_size=2, max_size=7))
def test_no_fewer_answers_contradict(said: list[list[Assertion]]) -> None:
    answers = standing(said, infer_first=False)
    links = replay(answers)
    for number, assertions in enumerate(said):
        if number in answers:
            continue
        with pytest.raises(ContradictionError) as raised:
            links.add(number, *assertions)
        # The chain is against the first assertion that cannot be taken; what comes before it is free.
        taken = next(n for n in range(1, 1 + len(assertions)) if not consistent({**answers, number: assertions[:n]}))
        for fewer in smaller_sets(answers, len(raised.value.answers)):
            assert consistent({**fewer, number: assertions[:taken]})


def test_an_answer_that_says_unconnected_things_is_named_once() -> None:
    a, b, c, d = (Span(place, place) for place in range(4))
    links = Links()
    links.add("two", Must(a, b), Must(c, d))
    links.add("one", Must(b, c))
    assert links.explain(a, d) == ("two", "one")


def test_a_long_chain_is_found_in_order() -> None:
    mentions = [Span(place, place) for place in range(2000)]
    links = Links()
    for number, (left, right) in enumerate(pairwise(mentions)):
        links.add(number, Must(left, right))
    assert links.explain(mentions[0], mentions[-1]) == tuple(range(1999))

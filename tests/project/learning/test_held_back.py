"""Answers that are held back: which, how a model is scored on them, and when a new model is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corefine.annotation.session import Session
from corefine.document import Document, Span
from corefine.links import Assertion, Cannot, First, Must, NotAMention
from corefine.prediction import Prediction
from corefine.project.learning.held_back import LEAST, HeldBackAnswer, fit, hold_back, is_worse
from corefine.project.results.merged import AnswerSource, Merged

A, B, C, D = Span(0, 0), Span(2, 2), Span(4, 4), Span(6, 6)
DOCUMENT = Document.from_sentences("d", [["x"] * 8])
PREDICTION = Prediction(
    (A, B, C),
    np.array([[-1, -1], [0, -1], [1, 0]]),
    np.array([[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.2, 0.3, 0.5]]),
)


def said(mention: Span, *, earlier: set[Span] = frozenset(), first: bool = False, apart: set[Span] = frozenset()):  # type: ignore[no-untyped-def, assignment]
    return HeldBackAnswer(1, mention, frozenset(earlier), first, frozenset(apart))


@pytest.mark.parametrize(
    ("answer", "chance"),
    [
        (said(C, earlier={A}), 0.5),
        (said(C, earlier={A, B}), 0.8),
        (said(C, first=True), 0.2),
        (said(C, apart={B}), 0.7),
        (said(A, earlier={B}), LEAST),  # not among its candidates
        (said(D, earlier={A}), LEAST),  # not a span that the model considers
        (said(D, first=True), 1.0),
        (said(D, apart={A}), 1.0),
    ],
)
def test_how_probable_a_model_finds_an_answer(answer: HeldBackAnswer, chance: float) -> None:
    assert answer.log_probability(PREDICTION) == pytest.approx(math.log(chance))


def test_every_tenth_answer_is_taken_out_and_always_the_same() -> None:
    def held(count: int) -> tuple[list[HeldBackAnswer], int]:
        document = Document.from_sentences("long", [["x"] * 3 * count])
        empty = Prediction((), np.zeros((0, 0)), np.zeros((0, 1)))
        merged = Merged(Session(document, empty))
        for number in range(count):
            mention = Span(3 * number, 3 * number)
            assertion = First(mention, mention) if number % 2 else Must(Span(3 * number - 3, 3 * number - 3), mention)
            merged.add(AnswerSource(7, number + 1, 0.0), [assertion if number else First(mention, mention)])
        found = hold_back(merged, 5)
        assert len(merged.session.entries) + len(found) == count
        return found, count

    few, _ = held(150)
    many, _ = held(300)
    assert 5 <= len(few) <= 30
    assert [answer.mention for answer in many][: len(few)] == [answer.mention for answer in few]


def test_what_is_said_is_kept_with_what_follows_from_it() -> None:
    merged = Merged(Session(DOCUMENT, PREDICTION))
    number = next(n for n in range(1, 200) if _held(n))
    free = [n for n in range(1, 200) if not _held(n)]
    merged.add(AnswerSource(7, free[0], 0.0), [Must(A, B)])
    merged.add(AnswerSource(7, number, 0.0), [Cannot(A, D), Must(B, C)])
    merged.add(AnswerSource(7, free[1], 0.0), [NotAMention(Span(1, 1))])
    merged.add(AnswerSource(7, None, 0.0), [First(Span(7, 7), Span(7, 7))])
    [answer] = hold_back(merged, 5)
    assert answer.mention == D  # the last of the spans that were named
    assert answer.apart == {A, B, C}
    assert len(merged.session.entries) == 3


def test_an_answer_that_cannot_be_compared_is_learnt() -> None:
    merged = Merged(Session(DOCUMENT, PREDICTION))
    number = next(n for n in range(1, 200) if _held(n))
    merged.add(AnswerSource(7, number, 0.0), [NotAMention(B)])
    assert hold_back(merged, 5) == []
    assert not merged.session.links.is_mention(B)


@pytest.mark.parametrize(
    ("held", "other", "known"),
    [
        (Must(B, C), Must(B, C), True),  # somebody else said the same
        (Must(A, C), Must(B, C), True),  # an antecedent of C is still known
        (First(C, C), First(C, C), True),
        (Cannot(B, C), Cannot(B, C), True),
        (Must(B, C), Cannot(A, C), False),
        (Cannot(B, C), Cannot(A, C), False),
    ],
)
def test_what_others_say_too_is_not_held_back(held: Assertion, other: Assertion, known: bool) -> None:
    """A model that learns it from them would be tested on what it has learnt."""
    merged = Merged(Session(DOCUMENT, PREDICTION))
    number = next(n for n in range(1, 200) if _held(n))
    free = next(n for n in range(1, 200) if not _held(n))
    merged.add(AnswerSource(7, free, 0.0), [Must(A, B)] if held == Must(A, C) else [First(A, A)])
    merged.add(AnswerSource(8, free, 0.0), [other])
    merged.add(AnswerSource(7, number, 0.0), [held])
    before = merged.session.links.entities()
    assert (hold_back(merged, 5) == []) == known
    assert not known or merged.session.links.entities() == before


def _held(number: int) -> bool:
    from corefine.project.learning.held_back import _is_held_back

    return _is_held_back(5, AnswerSource(7, number, 0.0))


def test_a_model_that_is_clearly_worse_is_refused() -> None:
    present = [math.log(chance) for chance in (0.9, 0.8, 0.7, 0.9) * 10]
    assert is_worse([value - 0.5 for value in present], present)
    assert not is_worse(present, present)
    assert not is_worse([value + 0.1 for value in present], present)
    assert not is_worse([value - 0.2 for value in present], present)  # right answers often cost as much
    mixed = [value + (0.5 if at % 2 else -0.52) for at, value in enumerate(present)]
    assert not is_worse(mixed, present)  # within what so few answers can show


def test_the_fit_has_an_interval_that_holds_its_mean() -> None:
    found, logs = fit([said(C, earlier={A}), said(C, first=True)], lambda _: PREDICTION)
    assert found.probability == pytest.approx(math.sqrt(0.5 * 0.2))
    assert found.low < found.probability < found.high
    assert (found.answers, len(logs)) == (2, 2)

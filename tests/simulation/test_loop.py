"""The loop itself, with the rules as a model that never learns."""

from __future__ import annotations

import itertools
from dataclasses import asdict
from typing import Any

import pytest

from corefine.simulation.learners import FixedLearner
from corefine.simulation.loop import Annotated, FinishedRounds, Learned, RoundDone, RoundStart, simulate
from corefine.simulation.rows import RoundRow
from helpers.small import rules, stories


def rows_of(**settings: Any) -> list[RoundRow]:
    events = simulate(rules(**settings), stories(), FixedLearner())
    return [event.row for event in events if isinstance(event, RoundDone)]


def asked_of(**settings: Any) -> dict[str, float]:
    """Sums over the rounds of a run."""
    rows = [asdict(row.asked) for row in rows_of(**settings) if row.asked]
    return {name: sum(row[name] for row in rows) for name in rows[0]}


def test_the_events_of_a_run_come_in_order() -> None:
    events = list(simulate(rules(), stories(), FixedLearner()))
    kinds = [type(event) for event in events]
    a_round = [RoundStart, Learned, *[Annotated] * 3, RoundDone]
    assert kinds == [*a_round, *a_round, RoundStart, Learned, RoundDone]


def test_rows_count_documents_hours_and_questions() -> None:
    rows = rows_of()
    assert [row.documents for row in rows] == [2, 5, 8]
    assert [row.final for row in rows] == [False, False, True]
    assert rows[0].hours == 0.0
    for before, after in itertools.pairwise(rows):
        assert before.asked
        assert after.hours == pytest.approx(before.hours + before.asked.seconds / 3600)
        assert after.seconds >= before.seconds
    assert rows[-1].asked is None


SPREAD: dict[str, Any] = {"spread": True, "rounds": 3}


@pytest.mark.parametrize("settings", [{}, SPREAD, {**SPREAD, "error_rate": 0.3, "groups": True}])
def test_going_on_after_any_round_ends_the_same(settings: dict[str, Any]) -> None:
    config = rules(**settings)
    done = [event for event in simulate(config, stories(), FixedLearner()) if isinstance(event, RoundDone)]
    for size in range(len(done)):
        finished = FinishedRounds(
            rows=tuple(event.row for event in done[:size]),
            questions=tuple(question for event in done[:size] for question in event.questions),
            lessons=tuple(lesson for event in done[:size] for lesson in event.lessons),
        )
        rest = simulate(config, stories(), FixedLearner(), finished=finished)
        again = [event for event in rest if isinstance(event, RoundDone)]
        assert [(event.row, event.questions, event.lessons) for event in again] == [
            (event.row, event.questions, event.lessons) for event in done[size:]
        ]


def test_a_spread_budget_is_spent_on_all_documents_in_every_round() -> None:
    spread, once = rows_of(**SPREAD), rows_of(rounds=3)
    assert [row.documents for row in spread] == [2, 8, 8, 8]
    assert all(row.asked and row.asked.documents == 6 for row in spread[:-1])
    assert spread[-1].seconds == pytest.approx(once[-1].seconds, rel=0.1)
    questions = [row.asked.questions for row in spread if row.asked]
    assert max(questions) - min(questions) <= 6  # a third of each document's budget, rounded
    labels = [row.asked for row in spread if row.asked]
    for before, after in itertools.pairwise(labels):
        assert after.before_f1 == before.after_f1  # what was answered before still stands


def test_a_spread_run_asks_what_one_long_session_would() -> None:
    """The rules never learn, so questions in three rounds are those of one round with the whole budget."""

    def questions(**settings: Any) -> set[tuple[str, str]]:
        config = rules(documents_per_round=6, **settings)
        events = simulate(config, stories(), FixedLearner())
        rounds = [event for event in events if isinstance(event, RoundDone)]
        return {(row.document, row.answered.question.id) for event in rounds for row in event.questions}

    assert questions(spread=True, rounds=3) == questions(rounds=1)


def test_without_questions_labels_stay_as_the_model_has_them() -> None:
    asked = asked_of(questions=0)
    assert asked["questions"] == asked["seconds"] == asked["delta_f1"] == 0


def test_answers_improve_labels_and_discrete_ones_more_than_pairwise_in_the_same_time() -> None:
    discrete, pairwise = asked_of(), asked_of(protocol="pairwise")
    assert pairwise["seconds"] == pytest.approx(discrete["seconds"], rel=0.1)
    assert discrete["delta_f1"] > 2 * pairwise["delta_f1"] > 0


def test_entropy_asks_what_is_doubtful_and_random_does_not() -> None:
    assert asked_of(questions=40)["delta_f1"] > asked_of(questions=40, selector="random")["delta_f1"]


def test_the_closure_saves_questions() -> None:
    incremental, late = asked_of(questions=1000), asked_of(questions=1000, closure="per-document")
    assert incremental["questions"] <= late["questions"]  # what follows is not asked
    assert incremental["after_f1"] == pytest.approx(late["after_f1"], abs=3.0)


def test_errors_cost_labels() -> None:
    assert asked_of(error_rate=0.2)["after_f1"] < asked_of()["after_f1"]


def test_first_appearances_settle_questions() -> None:
    assert asked_of(questions=1000, infer_first=True)["questions"] < asked_of(questions=1000)["questions"]


def test_the_follow_up_alone_costs_more_for_a_question() -> None:
    alone, both = asked_of(protocol="follow-up"), asked_of()
    assert alone["initial"] == 0
    assert alone["seconds"] / alone["questions"] == pytest.approx(28.01)
    assert both["initial"] == both["questions"]


def test_fully_labelled_documents_are_fewer_and_perfect() -> None:
    rows = rows_of(protocol="full", questions=200)
    bought = [row.asked for row in rows if row.asked]
    assert 0 < sum(each.documents for each in bought) < 6
    assert all(each.after_f1 == 100.0 for each in bought if each.documents)
    assert rows[-1].documents == 2 + sum(each.documents for each in bought)


def test_only_some_documents_are_read() -> None:
    some, all_of_them = asked_of(read_at_most=1), asked_of()
    assert some["questions"] == pytest.approx(all_of_them["questions"], rel=0.3)
    events = simulate(rules(read_at_most=1), stories(), FixedLearner())
    per_document = [len(event.annotation.rows) for event in events if isinstance(event, Annotated)]
    assert sum(count > 0 for count in per_document) == 2  # one in each round


def test_the_time_of_a_round_adds_up() -> None:
    for event in simulate(rules(), stories(), FixedLearner()):
        if isinstance(event, RoundDone):
            parts = event.timing.parts
            laps = sum(parts.get(name, 0.0) for name in ("training", "scoring", "prediction", "annotation"))
            assert laps <= event.timing.total
            assert parts["selection"] + parts["closure"] <= parts.get("annotation", 0.0) + 1e-9

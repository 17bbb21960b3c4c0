"""F1 against hours: how soon an F1 is reached, and the gain on the way."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefine.reproduction.learning_curves import (
    LearningCurve,
    comparison,
    hours_table,
    learning_curves,
    rounds_table,
)
from corefine.simulation.summary import RunRecord

HOURS = st.lists(st.integers(1, 100), min_size=1, max_size=6, unique=True)


@st.composite
def curves(draw: st.DrawFn) -> LearningCurve:
    hours = [0, *draw(HOURS)]
    scores = draw(st.lists(st.integers(0, 100), min_size=len(hours), max_size=len(hours)))
    return LearningCurve.through(zip(map(float, hours), map(float, scores), strict=True))


@given(curves(), st.floats(0, 1))
def test_a_curve_is_numpys_interpolation_and_its_area(curve: LearningCurve, share: float) -> None:
    hours = share * curve.hours[-1]
    assert curve.at(hours) == pytest.approx(np.interp(hours, curve.hours, curve.f1))
    places = np.union1d(np.linspace(0, hours, 7), [place for place in curve.hours if place < hours])
    area = np.trapezoid(np.interp(places, curve.hours, curve.f1), places)
    assert curve.mean_gain(hours) * hours == pytest.approx(area - hours * curve.f1[0], abs=1e-6)


@given(curves(), st.floats(0, 100))
def test_an_f1_is_reached_where_the_curve_first_has_it(curve: LearningCurve, f1: float) -> None:
    hours = curve.hours_to(f1)
    if hours is None:
        assert max(curve.f1) < f1
        return
    assert curve.at(hours) == pytest.approx(max(f1, curve.f1[0]) if hours == 0 else f1, abs=1e-6)
    assert all(value < f1 for place, value in zip(curve.hours, curve.f1, strict=True) if place < hours)


def test_half_the_hours_can_be_read_off_the_table(records: list[RunRecord]) -> None:
    """Runs that are discrete ones in half the time reach their F1 in half the hours."""
    discrete = [record for record in records if record.kind == "discrete"]
    rising = [_scored(record, 40.0 + record.budget / 10) for record in discrete]
    ours = [replace(_in_time(record, 0.5), kind="ours", group="ours") for record in rising]
    table = hours_table("stories", [*rising, *ours])
    reached = {row[0]: row[1:-2] for row in table.rows}
    assert len(table.head) == 3 + len({record.budget for record in discrete if record.budget})
    assert all(cell.endswith("(100 %)") for cell in reached["discrete"])
    assert all(cell.endswith("(50 %)") for cell in reached["ours"])
    gains = {row[0]: float(row[-2]) for row in table.rows}
    assert gains["ours"] > gains["discrete"] > 0


def test_what_is_never_reached_is_said(records: list[RunRecord]) -> None:
    discrete = [_scored(record, 50.0) for record in records if record.kind == "discrete"]
    worse = [replace(_scored(record, 45.0), kind="random") for record in discrete]
    rows = {row[0]: row for row in hours_table("stories", [*discrete, *worse]).rows}
    assert set(rows["random"][1:-2]) == {"never"}


def test_nothing_is_compared_with_nothing(records: list[RunRecord]) -> None:
    alone = [record for record in records if record.kind == "discrete"]
    assert not hours_table("stories", alone).rows
    others = [record for record in records if record.kind != "discrete"]
    assert not hours_table("stories", others).rows
    assert not comparison("stories", others).rows
    assert set(learning_curves(alone)) == {"discrete"}


def test_every_kind_stands_beside_discrete_questions_with_the_largest_budget(records: list[RunRecord]) -> None:
    """Runs that are discrete ones with 3 more F1 in half the time are so in every row."""
    discrete = [_scored(record, 40.0 + record.seed) for record in records if record.kind == "discrete"]
    largest = max(record.budget for record in discrete)
    ours = [
        replace(_in_time(_scored(record, 43.0 + record.seed), 0.5), kind="ours", group="ours") for record in discrete
    ]
    table = comparison("stories", [*discrete, *ours])
    assert table.title.endswith(f"at {largest:g}")
    rows = {(row[0], row[1]): row for row in table.rows}
    budgets = {f"{record.budget:g}" for record in discrete}
    assert rows.keys() == {("discrete", each) for each in budgets - {f"{largest:g}"}} | {("ours", e) for e in budgets}
    assert rows["ours", f"{largest:g}"][3] == "50 %"
    assert all(row[-1].startswith("+3.00 (+3.00 to +3.00") for key, row in rows.items() if key[0] == "ours")
    assert all(row[-1].startswith("+0.00") for key, row in rows.items() if key[0] == "discrete")


def test_rounds_are_shown_with_their_least_step(records: list[RunRecord]) -> None:
    falls = [_scored(record, 38.5) for record in records if record.kind == "random"]
    rises = [_scored(record, 99.0) for record in records if record.kind == "discrete"]
    table = rounds_table("stories", [*falls, *rises])
    assert {row[0] for row in table.rows} == {"random", "discrete"}
    for row in table.rows:
        shown = [float(cell) for cell in row[3:-2] if cell != "-"]
        assert (shown[0], shown[-1]) == (40.0, 38.5 if row[0] == "random" else 99.0)
        least = min(after - before for before, after in pairwise(shown))
        assert float(row[-2]) == pytest.approx(least, abs=0.11)
        assert 0.0 < float(row[-1].removesuffix(" %")) < 100.0


def _scored(record: RunRecord, f1: float) -> RunRecord:
    """The same run, whose first model has an F1 of 40 and whose last has this one."""
    first, *between, last = record.rounds
    rows = [
        replace(row, scores={split: replace(scores, conll_f1=value) for split, scores in row.scores.items()})
        for row, value in ((first, 40.0), (last, f1))
    ]
    return replace(record, rounds=(rows[0], *between, rows[1]))


def _in_time(record: RunRecord, share: float) -> RunRecord:
    return replace(record, rounds=tuple(replace(row, hours=share * row.hours) for row in record.rounds))

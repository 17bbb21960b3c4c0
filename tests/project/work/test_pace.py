"""The time that a person needs for a question."""

from __future__ import annotations

from corefine.project.work.pace import Pace


def test_one_long_answer_does_not_move_the_estimate() -> None:
    pace = Pace()
    assert pace.seconds_each(16.0) == 16.0
    for _ in range(6):
        pace.note(4.0)
    assert pace.seconds_each(16.0) == 4.0
    pace.note(300.0)
    assert pace.seconds_each(16.0) == 4.0

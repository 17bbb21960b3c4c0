from __future__ import annotations

from typing import Any

import pytest

from corefine.annotation.cost import CostModel
from corefine.errors import ConfigError
from corefine.simulation.config import SimulationConfig


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"selector": "best"}, "selector must be one of committee, density, entropy"),
        ({"protocol": "ternary"}, "protocol must be one of discrete, pairwise, follow-up, mentions, full"),
        ({"closure": "sometimes"}, "closure must be one of incremental, per-document, off"),
        ({"labels": "gold"}, "labels must be one of"),
        ({"initial": 1.0}, "initial must be at least 0 and below 1"),
        ({"initial": 0.0}, "initial = 0 leaves nothing to learn from: name a starter"),
        ({"error_rate": 1.5}, "error_rate must be from 0 to 1"),
        ({"questions": -1}, "questions must be at least 0"),
        ({"questions": None}, "in questions or in seconds"),
        ({"questions": 4, "seconds": 60}, "in questions or in seconds"),
        ({"protocol": "pairwise", "selector": "lcc-mcu"}, "does not fit the protocol 'pairwise'"),
        ({"selector": "pairwise-entropy"}, "does not fit the protocol 'discrete'"),
        ({"selector": "committee", "committee": 1}, "a committee of 2 or more"),
        ({"selector": "committee", "learner": "rules"}, "the learner 'rules' trains no committee"),
        ({"round_epochs": 0}, "round_epochs must be at least 1"),
    ],
)
def test_values_that_cannot_be_are_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SimulationConfig.from_dict(values)


def test_what_is_left_out_follows_from_what_is_given() -> None:
    assert SimulationConfig.from_dict({"protocol": "pairwise"}).selector == "pairwise-entropy"
    assert SimulationConfig.from_dict({"protocol": "discrete-only"}).protocol == "follow-up"
    assert SimulationConfig.from_dict({"seconds": 60}).questions is None
    assert SimulationConfig.from_dict({"selector": "committee"}).members == 3
    assert SimulationConfig().members == 1
    assert SimulationConfig().cost == CostModel()

"""The settings of training."""

from __future__ import annotations

import pytest

from corefine.errors import ConfigError
from corefine.models.training.recipe import TrainingConfig


@pytest.mark.parametrize(
    "settings",
    [
        {"epochs": 0},
        {"ema": 1.0},
        {"schedule": "steps"},
        {"learning_rate": 0},
        {"lr": 1e-3},
        {"clip": -1},
        {"labels": "guess"},
        {"rest": -1},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        TrainingConfig.from_dict(settings)

"""The learning rate."""

from __future__ import annotations

import torch

from corefine.models.training.optimiser import Plateau
from corefine.models.training.recipe import TrainingConfig


def test_the_rate_falls_where_the_development_f1_stays() -> None:
    """Twice as low after the third epoch without a better F1, as torch's ReduceLROnPlateau has it."""
    config = TrainingConfig(schedule="plateau", plateau_patience=2, plateau_factor=0.5)
    weight = torch.nn.Parameter(torch.zeros(1))
    adam = torch.optim.Adam([weight], lr=1.0)
    torchs = torch.optim.lr_scheduler.ReduceLROnPlateau(adam, mode="max", factor=0.5, patience=2)
    ours = Plateau()
    for f1 in (10.0, 20.0, 20.001, 19.0, 20.0, 18.0, 18.0, 18.0, 30.0, 29.0, 29.0, 29.0, 29.0):
        ours.see(f1, config)
        torchs.step(f1)
        assert ours.factor == adam.param_groups[0]["lr"]

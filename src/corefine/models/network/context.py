"""Layers over the encoder's states that give tokens context from beyond the encoder's window.

`LSTM` reads one token after another, so a document takes as many steps as it has tokens. `GatedScan` is a recurrence
whose gates do not depend on its own state, so all T steps are computed together in log2(T) rounds.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LSTM(nn.LSTM):
    """The states, concatenated with those of a bidirectional LSTM: [T, D] -> [T, D + 2 W]."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__(size, width, bidirectional=True, batch_first=True)
        self.size = size + 2 * width

    def forward(self, states: Tensor) -> Tensor:  # type: ignore[override]
        return torch.cat([states, super().forward(states[None])[0].squeeze(0)], dim=1)


class GatedScan(nn.Module):
    """A projection of the states, plus a gated recurrence over it in both directions: [T, D] -> [T, 2 W].

    h_t = keep_t * h_(t-1) + (1 - keep_t) * value_t, where keep and value depend on token t alone.
    """

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.size = 2 * width
        self.project = nn.Linear(size, self.size)
        self.gates = nn.Linear(self.size, 2 * self.size)
        self.out = nn.Linear(self.size, self.size)
        with torch.no_grad():  # initially some units remember a few tokens, others a few hundred
            self.gates.bias[: self.size] = torch.linspace(0.0, 5.0, width).repeat(2)

    def forward(self, states: Tensor) -> Tensor:
        states = self.project(states)
        keep, value = self.gates(states).split(self.size, dim=1)
        context: Tensor = self.out(_both_ways(torch.sigmoid(keep), torch.tanh(value)))
        return states + context


def _both_ways(keep: Tensor, value: Tensor) -> Tensor:
    half = keep.shape[1] // 2
    turned = (torch.cat([each[:, :half], each[:, half:].flip(0)], dim=1) for each in (keep, value))
    keep, value = turned
    states = scan(keep, (1 - keep) * value)
    return torch.cat([states[:, :half], states[:, half:].flip(0)], dim=1)


def scan(keep: Tensor, gain: Tensor) -> Tensor:
    """h_t = keep_t * h_(t-1) + gain_t for all t, with h_(-1) = 0; [T, W] each."""
    step = 1
    while step < len(keep):
        gain = torch.cat([gain[:step], gain[step:] + keep[step:] * gain[:-step]])
        keep = torch.cat([keep[:step], keep[step:] * keep[:-step]])
        step *= 2
    return gain

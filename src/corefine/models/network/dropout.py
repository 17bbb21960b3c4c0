"""Dropout whose random numbers take little time on a CPU, where torch's take up to a third of a training step."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

LEVELS = 256
"""Random numbers are bytes, so shares are rounded to 256ths."""


def dropout_mask(share: float, *shape: int, device: torch.device, dtype: torch.dtype = torch.float32) -> Tensor:
    """What to multiply with: 0 for this share of all numbers; for the others what keeps the mean.

    On a CPU the numbers are drawn by numpy, in a tenth of torch's time. Their seed is drawn by torch.
    """
    if device.type != "cpu":
        return F.dropout(torch.ones(shape, device=device, dtype=dtype), share)
    size = math.prod(shape)
    dropped = min(round(share * LEVELS), LEVELS - 1)
    drawn = np.random.SFC64(int(torch.randint(2**62, ()))).random_raw(size // 8 + 1).view(np.uint8)[:size]
    kept = torch.from_numpy((drawn >= dropped).view(np.uint8))  # as bytes: torch converts bools ten times slower
    return kept.to(dtype).mul_(LEVELS / (LEVELS - dropped)).view(shape)


class Dropout(nn.Dropout):
    """The same as `nn.Dropout`, with such a mask."""

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or not self.p:
            return values
        return values * dropout_mask(self.p, *values.shape, device=values.device, dtype=values.dtype)


def replace_dropout(network: nn.Module, learning: list[nn.Module]) -> None:
    """Use `Dropout` in the blocks of a network that learn, and none in its other blocks."""
    inside = {id(part) for block in learning for part in block.modules()}
    for part in list(network.modules()):
        for name, child in part.named_children():
            if isinstance(child, nn.Dropout):
                setattr(part, name, Dropout(child.p if id(child) in inside else 0.0))

"""Layers over the encoder's states that give tokens context from beyond the encoder's window.

`LSTM` reads one token after another, so a document takes as many steps as it has tokens. `GatedScan` is a recurrence
whose gates do not depend on its own state, so its T steps are computed sqrt(T) at a time.

A long document is read in blocks of tokens, to limit memory: each block goes through `project`, and `join` reads all of
them. For a document of one block this is the same as calling the layer.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F  # noqa: N812


class LSTM(nn.LSTM):
    """The states, concatenated with those of a bidirectional LSTM: [T, D] -> [T, D + 2 W]."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__(size, width, bidirectional=True, batch_first=True)
        self.size = size + 2 * width

    def forward(self, states: Tensor) -> Tensor:  # type: ignore[override]
        return torch.cat([states, super().forward(states[None])[0].squeeze(0)], dim=1)

    def project(self, states: Tensor) -> Tensor:
        """What is kept of a block of states, [B, D]."""
        return states

    def join(self, blocks: list[Tensor]) -> Tensor:
        """The layer's states [T, D + 2 W] for a document in blocks. The LSTM needs all of them at once."""
        joined: Tensor = self(torch.cat(blocks))
        return joined


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
        return self.join([self.project(states)])

    def join(self, blocks: list[Tensor]) -> Tensor:
        """The layer's states [T, 2 W] for a document in blocks of projected states, [B, 2 W] each.

        The recurrence goes through the blocks in both directions and carries its state from one to the next. Results
        replace the blocks in the list, because both together may not fit into memory.
        """
        if len(blocks) == 1:
            keep, value = self._gates(blocks[0], slice(None))
            return blocks[0].float() + self._out(_both_ways(keep, value))
        half = self.size // 2
        onwards, carried = [], blocks[0].new_zeros(half)
        for block in blocks:
            keep, value = self._gates(block, slice(half))
            onwards.append(scan(keep, (1 - keep) * value, carried))
            carried = onwards[-1][-1]
        carried = torch.zeros_like(carried)
        for number in reversed(range(len(blocks))):
            keep, value = (gate.flip(0) for gate in self._gates(blocks[number], slice(half, None)))
            back = scan(keep, (1 - keep) * value, carried)
            carried = back[-1]
            blocks[number] = blocks[number] + self._out(torch.cat([onwards.pop(), back.flip(0)], dim=1))
        return torch.cat(blocks)

    def _gates(self, projected: Tensor, units: slice) -> tuple[Tensor, Tensor]:
        """keep and value of these units, [B, units] each; the first half of all units reads onwards, the other back."""
        weight = self.gates.weight.view(2, self.size, -1)[:, units].flatten(0, 1)
        bias = self.gates.bias.view(2, self.size)[:, units].flatten()
        keep, value = F.linear(projected, weight, bias).chunk(2, dim=1)
        return torch.sigmoid(keep.float()), torch.tanh(value.float())

    def _out(self, states: Tensor) -> Tensor:
        context: Tensor = self.out(states).float()
        return context


def _both_ways(keep: Tensor, value: Tensor) -> Tensor:
    half = keep.shape[1] // 2
    turned = (torch.cat([each[:, :half], each[:, half:].flip(0)], dim=1) for each in (keep, value))
    keep, value = turned
    states = scan(keep, (1 - keep) * value)
    return torch.cat([states[:, :half], states[:, half:].flip(0)], dim=1)


def scan(keep: Tensor, gain: Tensor, before: Tensor | None = None) -> Tensor:
    """h_t = keep_t * h_(t-1) + gain_t for all t; [T, W] each. h_(-1) is `before`, [W], or 0."""
    if before is not None:
        gain = torch.cat([gain[:1] + keep[:1] * before, gain[1:]])
    states: Tensor = _Scan.apply(keep, gain)  # type: ignore[no-untyped-call]
    return states


class _Scan(torch.autograd.Function):
    """The recurrence. Its gradient is the same recurrence, from the last token to the first."""

    @staticmethod
    def forward(ctx: Any, keep: Tensor, gain: Tensor) -> Tensor:
        states = _scan(keep, gain)
        ctx.save_for_backward(keep, states)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        keep, states = ctx.saved_tensors
        later = F.pad(keep[1:], (0, 0, 0, 1))
        d_gain = _scan(later.flip(0), gradients[0].flip(0)).flip(0)
        return F.pad(states[:-1], (0, 0, 1, 0)) * d_gain, d_gain


def _scan(keep: Tensor, gain: Tensor) -> Tensor:
    """The states [T, W]: first within chunks of sqrt(T) tokens, all chunks at once, then what each adds to the next."""
    length, width = keep.shape
    size = math.isqrt(max(length - 1, 0)) + 1
    count = -(-length // size)
    padding = (0, 0, 0, count * size - length)
    kept = F.pad(keep, padding).view(count, size, width).transpose(0, 1).contiguous()  # [size, chunks, W]
    states = F.pad(gain, padding).view(count, size, width).transpose(0, 1).contiguous()
    for (left_before, state_before), (left, state) in pairwise(zip(kept.unbind(), states.unbind(), strict=True)):
        state.addcmul_(left, state_before)
        left *= left_before  # from here on: how much is left of the state before the chunk
    carried = states[-1].clone()  # [chunks, W] the state at the end of each chunk
    for (_, state_before), (left, state) in pairwise(zip(kept[-1].unbind(), carried.unbind(), strict=True)):
        state.addcmul_(left, state_before)
    states[:, 1:].addcmul_(kept[:, 1:], carried[:-1])
    return states.transpose(0, 1).reshape(-1, width)[:length]

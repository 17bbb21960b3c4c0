"""The weighted sum of an encoder's layers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def mix_layers(weights: Tensor, states: Tensor) -> Tensor:
    """[L] weights and [L, T, H] states -> [T, H]."""
    if states.requires_grad:
        return torch.einsum("l,lth->th", weights, states.float())
    mixed: Tensor = _Mix.apply(weights, states)  # type: ignore[no-untyped-call]
    return mixed


class _Mix(torch.autograd.Function):
    """The sum in float32 for states without a gradient, of any precision: one layer at a time is converted."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, states: Tensor) -> Tensor:
        ctx.save_for_backward(weights, states)
        mixed = torch.zeros(states.shape[1:], device=states.device)
        layer = torch.empty_like(mixed)
        for weight, layer_states in zip(weights.tolist(), states, strict=True):
            mixed.add_(layer.copy_(layer_states), alpha=weight)
        return mixed

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        weights, states = ctx.saved_tensors
        gradient = gradients[0].float().flatten()
        layer = torch.empty_like(gradient)
        products = [torch.dot(layer.copy_(layer_states.flatten()), gradient) for layer_states in states]
        return torch.stack(products).to(weights.dtype), None

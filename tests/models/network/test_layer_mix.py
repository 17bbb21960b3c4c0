"""The weighted sum of layers, and the gradient of its weights."""

from __future__ import annotations

import pytest
import torch

from corefine.models.network.layer_mix import mix_layers


@pytest.mark.parametrize("learning", [False, True])
def test_the_sum_and_its_gradients(learning: bool) -> None:
    """States of a frozen encoder are in half precision and have no gradient; others are part of the graph."""
    torch.manual_seed(0)
    states = torch.randn(3, 5, 4)
    states = states.requires_grad_() if learning else states.half()
    weights = torch.tensor([0.2, 0.5, 0.3], requires_grad=True)
    plain = weights.detach().clone().requires_grad_()
    mixed, expected = mix_layers(weights, states), (plain[:, None, None] * states.float()).sum(0)
    torch.testing.assert_close(mixed, expected)
    mixed.square().sum().backward()
    gradient = states.grad
    states.grad = None
    expected.square().sum().backward()
    torch.testing.assert_close(weights.grad, plain.grad)
    assert (gradient is None) != learning
    if learning:
        torch.testing.assert_close(gradient, states.grad)

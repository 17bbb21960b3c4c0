"""The mention network in blocks: its gradients, and its scores against another way to compute them."""

from __future__ import annotations

import pytest
import torch

from corefine.models.network import hidden_layers
from corefine.models.network.config import HeadConfig
from corefine.models.network.mention_network import MentionNetwork
from corefine.models.network.spans import SpanScorer
from earlier import WindowedSpanScorer


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("block", [1, 10_000])
@pytest.mark.parametrize("kept", [0, 10_000])
def test_gradients_are_those_of_the_function(
    depth: int, dropout: bool, block: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finite differences, in double precision, with small blocks and with one, layers kept or computed again."""
    monkeypatch.setitem(hidden_layers.BLOCK, "cpu", block)
    monkeypatch.setattr("corefine.models.network.mention_network.MOST_KEPT", kept)
    torch.manual_seed(depth)
    size, reach, hidden = 5, 3, 4

    def numbers(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.double, requires_grad=True)

    masks = (torch.rand(depth, size, hidden) > 0.4).double() / 0.6 if dropout else None
    deeper = [value for _ in range(depth - 1) for value in (numbers(hidden, hidden), numbers(hidden))]
    tensors = [numbers(size, hidden), numbers(size + reach - 1, hidden), numbers(size + reach - 1, hidden)]
    tensors += [numbers(reach, hidden), numbers(size, reach - 1), numbers(hidden)]

    def network(*values: torch.Tensor) -> torch.Tensor:
        shares = torch.cat([torch.ones(size, 1, dtype=torch.double), values[4].sigmoid()], dim=1)
        return MentionNetwork.apply(*values[:4], shares, values[5], masks, True, *values[6:])

    assert torch.autograd.gradcheck(network, (*tensors, *deeper))


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("length", [1, 2, 9, 40])
def test_scores_and_gradients_are_those_of_windows_of_tokens(
    depth: int, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(hidden_layers.BLOCK, "cpu", 1_000)
    monkeypatch.setattr("corefine.models.network.spans.TOKENS_AT_ONCE", 17)
    config = HeadConfig(max_span_width=6, hidden=7, mention_depth=depth, dropout=0.0)
    found = []
    for kind in (SpanScorer, WindowedSpanScorer):
        torch.manual_seed(3)
        scorer = kind(config, 5)
        tokens = (4 * torch.randn(length, 5)).requires_grad_()
        mentions = scorer(tokens, torch.zeros(length, dtype=torch.long))
        exists = mentions.scores.isfinite()
        mentions.scores[exists].square().sum().backward()
        found.append([mentions.scores[exists], tokens.grad, *(value.grad for value in scorer.parameters())])
    for ours, plain in zip(*found, strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-4)


def test_attention_of_any_size_has_a_gradient() -> None:
    """Shares of the smallest numbers are 0, and their gradient is no NaN."""
    torch.manual_seed(0)
    scorer = SpanScorer(HeadConfig(max_span_width=4), 6)
    with torch.no_grad():
        scorer.attention.weight.mul_(1e4)
    tokens = torch.randn(20, 6, requires_grad=True)
    scores = scorer(tokens, torch.zeros(20, dtype=torch.long)).scores
    scores[scores.isfinite()].sum().backward()
    assert tokens.grad is not None
    assert tokens.grad.isfinite().all()

"""Dropout: its share, its mean, and where an encoder has it."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from corefine.models.network.dropout import Dropout, dropout_mask, replace_dropout

CPU = torch.device("cpu")


@given(share=st.floats(0.05, 0.9), seed=st.integers(0, 1_000))
def test_a_mask_drops_its_share_and_keeps_the_mean(share: float, seed: int) -> None:
    torch.manual_seed(seed)
    mask = dropout_mask(share, 40, 50, 5, device=CPU)
    assert mask.shape == (40, 50, 5)
    assert len(mask.unique()) <= 2
    assert abs(float(mask.mean()) - 1) < 0.2
    assert abs(float((mask == 0).float().mean()) - share) < 0.03
    torch.manual_seed(seed)
    assert torch.equal(mask, dropout_mask(share, 40, 50, 5, device=CPU))
    assert not torch.equal(mask, dropout_mask(share, 40, 50, 5, device=CPU))  # torch's state has moved on


def test_nothing_is_dropped_from_nothing_or_without_a_share() -> None:
    assert dropout_mask(0.5, 0, 3, device=CPU).shape == (0, 3)
    assert dropout_mask(0.0, 4, device=CPU).tolist() == [1.0] * 4


def test_a_module_drops_in_training_only() -> None:
    module, values = Dropout(0.5), torch.ones(1_000, dtype=torch.bfloat16)
    assert set(module(values).tolist()) == {0.0, 2.0}
    assert module(values).dtype == torch.bfloat16
    assert torch.equal(module.eval()(values), values)


def test_only_blocks_that_learn_keep_their_dropout() -> None:
    blocks = [nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)) for _ in range(2)]
    network = nn.Sequential(*blocks)
    replace_dropout(network, [blocks[1]])
    values = torch.ones(100, 4)
    assert torch.equal(blocks[0](values), blocks[0][0](values))
    assert int((blocks[1](values) == 0).sum()) > 100

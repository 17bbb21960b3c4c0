"""Blocks of rows, and dropout."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from corefine.models.network.hidden_layers import dropout_mask, product_type, rows_in_blocks

CPU = torch.device("cpu")


@given(size=st.integers(0, 50), cost=st.integers(0, 500_000))
def test_blocks_cover_all_rows_once(size: int, cost: int) -> None:
    rows = [row for block in rows_in_blocks(size, cost, CPU) for row in range(block.start, block.stop)]
    assert rows == list(range(size))


@given(share=st.floats(0.05, 0.9), seed=st.integers(0, 1_000))
def test_a_mask_drops_its_share_and_keeps_the_mean(share: float, seed: int) -> None:
    torch.manual_seed(seed)
    mask = dropout_mask(share, 40, 50, 5, device=CPU)
    assert mask.shape == (40, 50, 5)
    assert set(mask.unique().tolist()) <= {0.0, float(torch.tensor(1.0) / (1 - share))}
    assert abs(float((mask == 0).float().mean()) - share) < 0.03
    torch.manual_seed(seed)
    assert torch.equal(mask, dropout_mask(share, 40, 50, 5, device=CPU))
    assert not torch.equal(mask, dropout_mask(share, 40, 50, 5, device=CPU))  # torch's state has moved on


def test_products_are_in_bfloat16_only_in_mixed_precision() -> None:
    values = torch.zeros(2)
    assert product_type(values) == torch.float32
    assert product_type(values.double()) == torch.float64
    with torch.autocast("cpu", torch.bfloat16):
        assert product_type(values) == torch.bfloat16

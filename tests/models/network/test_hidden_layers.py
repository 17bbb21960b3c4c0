"""Blocks of rows, and the type of their products."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from corefine.models.network.hidden_layers import product_type, rows_in_blocks

CPU = torch.device("cpu")


@given(size=st.integers(0, 50), cost=st.integers(0, 500_000))
def test_blocks_cover_all_rows_once(size: int, cost: int) -> None:
    rows = [row for block in rows_in_blocks(size, cost, CPU) for row in range(block.start, block.stop)]
    assert rows == list(range(size))


def test_products_are_in_bfloat16_only_in_mixed_precision() -> None:
    values = torch.zeros(2)
    assert product_type(values) == torch.float32
    assert product_type(values.double()) == torch.float64
    with torch.autocast("cpu", torch.bfloat16):
        assert product_type(values) == torch.bfloat16

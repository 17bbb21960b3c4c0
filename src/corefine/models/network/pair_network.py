"""The network of the pair scorer, computed for the candidates of a block of top spans at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from corefine.models.network.hidden_layers import (
    MOST_KEPT,
    back_through_layers,
    further_layers,
    product_type,
    rows_in_blocks,
)


class PairNetwork(torch.autograd.Function):
    """Scores [N, K] of all pairs (i, j), j = candidates[i, k].

    hidden_1 = mask_1[i] * relu(left[i] + right[j] + table[codes[i, k]] + weight (product[i] * product[j]))
    hidden_d = mask_d[i] * relu(weight_d hidden_(d-1) + bias_d)
    score    = readout . hidden_depth

    Shape: left, right [N, hidden]; table [C, hidden]; product [N, P]; weight [hidden, P]; readout [hidden];
    candidates, codes [N, K], no entry below 0; masks [depth, N, hidden] or None, the same for all candidates of a
    row; learning: whether there will be a backward pass; deeper: weight [hidden, hidden] and bias [hidden] of each
    further layer.
    """

    @staticmethod
    def forward(
        ctx: Any,
        left: Tensor,
        right: Tensor,
        table: Tensor,
        product: Tensor,
        weight: Tensor,
        readout: Tensor,
        candidates: Tensor,
        codes: Tensor,
        masks: Tensor | None,
        learning: bool,
        *deeper: Tensor,
    ) -> Tensor:
        product, weight = (value.to(product_type(left)) for value in (product, weight))
        ctx.save_for_backward(left, right, table, product, weight, readout, candidates, codes, masks, *deeper)
        ctx.blocks = []
        numbers = len(readout) * (1 + len(deeper) // 2) + 2 * product.shape[1]  # of a pair
        keep = learning and candidates.numel() * numbers <= MOST_KEPT
        scores = left.new_empty(candidates.shape)
        with torch.autocast(left.device.type, enabled=False):
            for rows in _blocks(candidates, weight):
                block = _layers(rows, left, right, table, product, weight, candidates, codes, masks, deeper)
                torch.mv(block[0][-1].flatten(0, 1), readout, out=scores[rows].view(-1))
                if keep:
                    ctx.blocks.append(block)
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        left, right, table, product, weight, readout, candidates, codes, masks, *deeper = ctx.saved_tensors
        inputs = (left, right, table, product, weight, readout)
        d_left, d_right, d_table, d_product, d_weight, d_readout = (
            torch.zeros_like(value, dtype=left.dtype) for value in inputs
        )
        d_deeper = [torch.zeros_like(value) for value in deeper]
        for number, rows in enumerate(_blocks(candidates, weight)):
            layers, products, theirs = (
                ctx.blocks[number]
                if ctx.blocks
                else _layers(rows, left, right, table, product, weight, candidates, codes, masks, deeper)
            )
            d_scores = gradients[0][rows]  # [B, K]
            d_readout.addmv_(layers[-1].flatten(0, 1).t(), d_scores.flatten())
            d_first = back_through_layers(d_scores, readout, layers, masks, deeper, d_deeper, weight.dtype)

            others, flat = candidates[rows].flatten(), d_first.flatten(0, 1)
            whole = flat.to(left.dtype)
            d_left[rows] = whole.view_as(d_first).sum(1)
            d_right.index_add_(0, others, whole)
            d_table.index_add_(0, codes[rows].flatten(), whole)
            flat = flat.to(weight.dtype)
            d_weight += flat.t() @ products.flatten(0, 1)
            d_products = (flat @ weight).view_as(products)
            d_product[rows] += (d_products * theirs).sum(1, dtype=left.dtype)
            d_products *= product[rows, None]
            d_product.index_add_(0, others, d_products.flatten(0, 1).to(left.dtype))
        return d_left, d_right, d_table, d_product, d_weight, d_readout, None, None, None, None, *d_deeper


def _blocks(candidates: Tensor, weight: Tensor) -> Iterator[slice]:
    size, reach = candidates.shape
    return rows_in_blocks(size, reach * max(weight.shape), weight.device) if reach else iter(())


def _masks(masks: Tensor | None, rows: slice) -> list[Tensor]:
    return [] if masks is None else list(masks[:, rows, None])


def _layers(
    rows: slice,
    left: Tensor,
    right: Tensor,
    table: Tensor,
    product: Tensor,
    weight: Tensor,
    candidates: Tensor,
    codes: Tensor,
    masks: Tensor | None,
    deeper: Sequence[Tensor],
) -> tuple[list[Tensor], Tensor, Tensor]:
    """A block's hidden layers [B, K, hidden], the products they came from and the products' right sides [B, K, P]."""
    reach = candidates.shape[1]
    others = candidates[rows].flatten()
    theirs = product.index_select(0, others).view(-1, reach, product.shape[1])
    products = theirs * product[rows, None]
    flat = right.index_select(0, others)
    flat += products.flatten(0, 1) @ weight.t()
    flat += table.index_select(0, codes[rows].flatten())
    hidden = flat.view(-1, reach, left.shape[1])
    hidden += left[rows, None]
    hidden.relu_()
    dropped = _masks(masks, rows)
    if dropped:
        hidden *= dropped[0]
    return further_layers(hidden, dropped, deeper, weight.dtype), products, theirs

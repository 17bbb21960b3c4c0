"""The network of the pair scorer, computed for a block of rows at a time.

For all pairs at once, each layer would be an array of N x K x hidden numbers (a hundred thousand pairs in a document
of 2,000 tokens), and most of the time would go into moving it through memory. A block fits the processor's cache; the
backward pass computes it again instead of keeping it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

BLOCK = {"cpu": 400_000, "cuda": 64_000_000, "mps": 16_000_000}
"""How many numbers the largest array of a block may have, by device."""


def rows_in_blocks(size: int, cost: int, device: torch.device) -> Iterator[slice]:
    """`size` rows in blocks; `cost` is how many numbers a row needs."""
    step = max(1, BLOCK.get(device.type, BLOCK["cpu"]) // max(cost, 1))
    return (slice(start, min(start + step, size)) for start in range(0, size, step))


class PairNetwork(torch.autograd.Function):
    """Scores [N, K] of all pairs (i, j), j = candidates[i, k].

    hidden_1 = mask_1[i] * relu(left[i] + right[j] + table[codes[i, k]] + weight (product[i] * product[j]))
    hidden_d = mask_d[i] * relu(weight_d hidden_(d-1) + bias_d)
    score    = readout . hidden_depth

    Shape: left, right [N, hidden]; table [C, hidden]; product [N, P]; weight [hidden, P]; readout [hidden];
    candidates, codes [N, K], no entry below 0; masks [depth, N, hidden] or None, the same for all candidates of a
    row; deeper: weight [hidden, hidden] and bias [hidden] of each further layer.
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
        *deeper: Tensor,
    ) -> Tensor:
        ctx.save_for_backward(left, right, table, product, weight, readout, candidates, codes, masks, *deeper)
        scores = left.new_empty(candidates.shape)
        for rows in _blocks(candidates, weight):
            hidden = _first(rows, left, right, table, product, weight, candidates, codes, masks)[0]
            for depth in range(len(deeper) // 2):
                hidden = _next(hidden, rows, depth, masks, deeper)
            torch.mv(hidden.flatten(0, 1), readout, out=scores[rows].view(-1))
        return scores

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        left, right, table, product, weight, readout, candidates, codes, masks, *deeper = ctx.saved_tensors
        inputs = (left, right, table, product, weight, readout)
        d_left, d_right, d_table, d_product, d_weight, d_readout = map(torch.zeros_like, inputs)
        d_deeper = [torch.zeros_like(value) for value in deeper]
        for rows in _blocks(candidates, weight):
            first, products, theirs = _first(
                rows, left, right, table, product, weight, candidates, codes, masks
            )  # [B, K, hidden], [B, K, P], [B, K, P]
            layers = [first]
            for depth in range(len(deeper) // 2):
                layers.append(_next(layers[-1], rows, depth, masks, deeper))

            d_scores = gradients[0][rows]  # [B, K]
            d_readout.addmv_(layers[-1].flatten(0, 1).t(), d_scores.flatten())
            d_hidden = d_scores[:, :, None] * readout
            for depth in reversed(range(len(layers))):
                # Where relu or the mask gave 0, the gradient is 0.
                d_hidden = torch.ops.aten.threshold_backward(d_hidden, layers[depth], 0)
                if masks is not None:
                    d_hidden *= masks[depth, rows, None]
                flat = d_hidden.flatten(0, 1)
                if depth:
                    d_deeper[2 * depth - 2].addmm_(flat.t(), layers[depth - 1].flatten(0, 1))
                    d_deeper[2 * depth - 1] += flat.sum(0)
                    d_hidden = (flat @ deeper[2 * depth - 2]).view_as(d_hidden)

            others = candidates[rows].flatten()
            d_left[rows] = d_hidden.sum(1)
            d_right.index_add_(0, others, flat)
            d_table.index_add_(0, codes[rows].flatten(), flat)
            d_weight.addmm_(flat.t(), products.flatten(0, 1))
            d_products = (flat @ weight).view_as(products)
            d_product[rows] += torch.mul(d_products, theirs, out=theirs).sum(1)
            d_products *= product[rows, None]
            d_product.index_add_(0, others, d_products.flatten(0, 1))
        return d_left, d_right, d_table, d_product, d_weight, d_readout, None, None, None, *d_deeper


def _blocks(candidates: Tensor, weight: Tensor) -> Iterator[slice]:
    size, reach = candidates.shape
    return rows_in_blocks(size, reach * max(weight.shape), weight.device) if reach else iter(())


def _first(
    rows: slice,
    left: Tensor,
    right: Tensor,
    table: Tensor,
    product: Tensor,
    weight: Tensor,
    candidates: Tensor,
    codes: Tensor,
    masks: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """A block's first hidden layer [B, K, hidden], the products it came from and their right sides [B, K, P]."""
    reach = candidates.shape[1]
    others = candidates[rows].flatten()
    theirs = product.index_select(0, others).view(-1, reach, product.shape[1])
    products = theirs * product[rows, None]
    flat = torch.addmm(right.index_select(0, others), products.flatten(0, 1), weight.t())
    flat += table.index_select(0, codes[rows].flatten())
    hidden = flat.view(-1, reach, left.shape[1])
    hidden += left[rows, None]
    hidden.relu_()
    if masks is not None:
        hidden *= masks[0, rows, None]
    return hidden, products, theirs


def _next(hidden: Tensor, rows: slice, depth: int, masks: Tensor | None, deeper: Sequence[Tensor]) -> Tensor:
    """A further hidden layer of a block, [B, K, hidden]."""
    layer = torch.addmm(deeper[2 * depth + 1], hidden.flatten(0, 1), deeper[2 * depth].t()).relu_().view_as(hidden)
    if masks is not None:
        layer *= masks[depth + 1, rows, None]
    return layer

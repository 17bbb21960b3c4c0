"""The network of the mention scorer, computed for the spans of a block of tokens at a time.

All spans of one width are computed together: they are matrices of tokens, shifted against each other and added up. The
head of a span is made from that of the span that is one token shorter.
"""

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


class MentionNetwork(torch.autograd.Function):
    """Scores [T, W] of all spans (t, w), which start at token t and end at token t + w.

    head[t, w] = (1 - shares[t, w]) * head[t, w - 1] + shares[t, w] * heads[t + w]
    hidden_1   = mask_1[t] * relu(starts[t] + ends[t + w] + widths[w] + head[t, w])
    hidden_d   = mask_d[t] * relu(weight_d hidden_(d-1) + bias_d)
    score      = readout . hidden_depth

    Shape: starts [T, hidden]; ends, heads [T + W - 1, hidden], the last W - 1 for spans that do not exist;
    widths [W, hidden]; shares [T, W], 1 for w = 0; readout [hidden]; masks [depth, T, hidden] or None; learning:
    whether there will be a backward pass; deeper: weight [hidden, hidden] and bias [hidden] of each further layer.
    """

    @staticmethod
    def forward(
        ctx: Any,
        starts: Tensor,
        ends: Tensor,
        heads: Tensor,
        widths: Tensor,
        shares: Tensor,
        readout: Tensor,
        masks: Tensor | None,
        learning: bool,
        *deeper: Tensor,
    ) -> Tensor:
        ctx.save_for_backward(starts, ends, heads, widths, shares, readout, masks, *deeper)
        ctx.products = product_type(starts)
        ctx.blocks = []
        keep = learning and len(starts) * widths.numel() * (2 + len(deeper) // 2) <= MOST_KEPT
        scores = torch.empty_like(shares)
        with torch.autocast(starts.device.type, enabled=False):
            for rows in _blocks(starts, widths):
                layers, spans = _layers(rows, ctx.products, starts, ends, heads, widths, shares, masks, deeper)
                scores[rows] = (layers[-1] @ readout).t()
                if keep:
                    ctx.blocks.append((layers, spans))
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        starts, ends, heads, widths, shares, readout, masks, *deeper = ctx.saved_tensors
        d_ends, d_heads, d_widths, d_readout = map(torch.zeros_like, (ends, heads, widths, readout))
        d_starts, d_shares = map(torch.empty_like, (starts, shares))
        d_deeper = [torch.zeros_like(value) for value in deeper]
        for number, rows in enumerate(_blocks(starts, widths)):
            layers, spans = (
                ctx.blocks[number]
                if ctx.blocks
                else _layers(rows, ctx.products, starts, ends, heads, widths, shares, masks, deeper)
            )
            d_scores = gradients[0][rows].t().contiguous()  # [W, B]
            d_readout.addmv_(layers[-1].flatten(0, 1).t(), d_scores.flatten())
            d_first = back_through_layers(d_scores, readout, layers, masks, deeper, d_deeper, ctx.products)
            d_first = d_first.to(starts.dtype)

            torch.sum(d_first, 0, out=d_starts[rows])
            d_widths += d_first.sum(1)
            d_spans = torch.zeros_like(starts[rows])  # of the heads of one width
            for width in reversed(range(len(widths))):
                reached = slice(rows.start + width, rows.stop + width)
                share = shares[rows, width, None]
                d_ends[reached] += d_first[width]
                d_spans += d_first[width]
                d_heads[reached].addcmul_(d_spans, share)
                if width:
                    d_shares[rows, width] = (heads[reached] - spans[width - 1]).mul_(d_spans).sum(1)
                    d_spans *= 1 - share
            d_shares[rows, 0] = 0  # it is always 1
        return d_starts, d_ends, d_heads, d_widths, d_shares, d_readout, None, None, *d_deeper


def _blocks(starts: Tensor, widths: Tensor) -> Iterator[slice]:
    return rows_in_blocks(len(starts), widths.numel(), starts.device)


def _masks(masks: Tensor | None, rows: slice) -> list[Tensor]:
    return [] if masks is None else list(masks[:, rows])


def _layers(
    rows: slice,
    products: torch.dtype,
    starts: Tensor,
    ends: Tensor,
    heads: Tensor,
    widths: Tensor,
    shares: Tensor,
    masks: Tensor | None,
    deeper: Sequence[Tensor],
) -> tuple[list[Tensor], Tensor]:
    """A block's hidden layers and the heads of its spans, [W, B, hidden] each."""
    own = starts[rows]
    hidden, spans = (own.new_empty(len(widths), *own.shape) for _ in range(2))
    spans[0] = heads[rows]
    for width in range(len(widths)):
        reached = slice(rows.start + width, rows.stop + width)
        if width:
            torch.lerp(spans[width - 1], heads[reached], shares[rows, width, None], out=spans[width])
        torch.add(spans[width], ends[reached], out=hidden[width])
        hidden[width] += own
        hidden[width] += widths[width]
    hidden.relu_()
    dropped = _masks(masks, rows)
    if dropped:
        hidden *= dropped[0]
    return further_layers(hidden, dropped, deeper, products), spans

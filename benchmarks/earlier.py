"""Parts of training as they were before they were made faster, for comparison; they compute the same functions.

Mention scores came from windows over the tokens: every span of a block had a row of its own, and autograd kept all of
them. Layers were mixed in one array, dropout was torch's, and the pair network computed its layers again in the
backward pass, where each step of a gradient was an array of its own. Equal spans were found by sorting rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from corefine.models.network.hidden_layers import rows_in_blocks
from corefine.models.network.model import Model
from corefine.models.network.spans import MASKED, SpanScorer


class WindowedSpanScorer(SpanScorer):
    """Computes the scores of all spans from windows over the tokens."""

    def _scores(self, tokens: Tensor, attention: Tensor) -> Tensor:
        blocks = []
        for rows in rows_in_blocks(len(tokens), self.config.max_span_width * self.config.hidden, tokens.device):
            reach = slice(rows.start, rows.stop + self.config.max_span_width - 1)
            hidden = torch.relu(self._first_layer(tokens[reach], attention[reach], rows.stop - rows.start))
            hidden = self._one_mask(hidden)
            for layer in self.deeper:
                hidden = self._one_mask(torch.relu(layer(hidden)))
            blocks.append(self.score(hidden).squeeze(-1))  # [B, W]
        return torch.cat(blocks)

    def _first_layer(self, tokens: Tensor, attention: Tensor, size: int) -> Tensor:
        """[B, W, hidden] the first layer for all spans that start at the first `size` tokens."""
        parts = [self.ends_width, self.ends_width, self.head_width, self.config.feature_width]
        start, end, head, width = torch.split(self.first.weight, parts, dim=1)
        reach = self.config.max_span_width
        starts = F.linear(self._ends(tokens[:size]), start, self.first.bias)  # [B, hidden]
        ends = self._windows(F.linear(self._ends(tokens), end), size)  # [B, W, hidden]
        heads = self._windows(F.linear(self._heads(tokens), head), size)  # [B, W, hidden]
        logits = self._windows(attention[:, None], size).transpose(1, 2)  # [B, 1, W]
        triangle = torch.ones(reach, reach, dtype=torch.bool, device=tokens.device).tril()
        weights = logits.masked_fill(~triangle, MASKED).softmax(2)  # [B, W, W]
        return torch.baddbmm(ends, weights, heads) + starts[:, None] + F.linear(self.widths.weight, width)

    def _windows(self, values: Tensor, size: int) -> Tensor:
        """[.., D] -> [B, W, D]: each of the first `size` tokens with those after it; zeros after the last."""
        reach = self.config.max_span_width
        padded = F.pad(values, (0, 0, 0, size + reach - 1 - len(values)))
        return padded.unfold(0, reach, 1).transpose(1, 2)

    def _one_mask(self, hidden: Tensor) -> Tensor:
        """One mask for all widths of a start."""
        return hidden * F.dropout(torch.ones_like(hidden[:, :1]), self.config.dropout, self.training)


@contextmanager
def earlier_parts(model: Model) -> Iterator[None]:
    """Train this model with those parts for a while; its weights stay."""
    model.ranker.spans.__class__ = WindowedSpanScorer
    changed = {
        "corefine.models.network.ranker.dropout_mask": _mask,
        "corefine.models.network.pairs.dropout_mask": _mask,
        "corefine.models.network.ranker.mix_layers": _mix,
        "corefine.models.network.pair_network.MOST_KEPT": 0,
        "corefine.models.network.pair_network.back_through_layers": _back_through_layer,
        "corefine.models.network.pair_features._numbered": _numbered,
    }
    with ExitStack() as stack:
        for name, value in changed.items():
            stack.enter_context(patch(name, value))
        stack.callback(setattr, model.ranker.spans, "__class__", SpanScorer)
        yield


def _mask(share: float, *shape: int, device: torch.device) -> Tensor:
    return F.dropout(torch.ones(shape, device=device), share)


def _mix(weights: Tensor, states: Tensor) -> Tensor:
    return torch.einsum("l,lth->th", weights, states.float())


def _back_through_layer(
    d_scores: Tensor, readout: Tensor, layers: Sequence[Tensor], masks: Tensor | None, *_: Any
) -> Tensor:
    """Through the only hidden layer that the pair network of the default recipe has."""
    d_layer: Tensor = torch.ops.aten.threshold_backward(d_scores[:, :, None] * readout, layers[0], 0)
    return d_layer if masks is None else d_layer.mul_(masks.amax())


def _numbered(rows: Tensor) -> Tensor:
    numbers: Tensor = torch.unique(rows, dim=0, return_inverse=True)[1]
    return numbers

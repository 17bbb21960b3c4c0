"""The mention scorer as it was before `MentionNetwork`, for comparison: the same function, with windows of tokens.

Every span of a block has a row of its own, gathered from windows over the tokens, and autograd keeps all of them.
"""

from __future__ import annotations

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


def with_windows(model: Model) -> Model:
    """The model with that mention scorer, in place; its weights stay."""
    model.ranker.spans.__class__ = WindowedSpanScorer
    return model

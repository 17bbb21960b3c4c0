"""Stage one: every span up to a width, its mention score, and which spans are kept.

A span's representation is g = [start; end; head; width], where head is an attention-weighted mean of its tokens.
Of all spans only the mention score is needed, so g is never built for them: the first linear map of the scorer is
pushed through the concatenation (tokens are projected once, then gathered and added). g itself is built for the
top spans alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from corefine.document import Span
from corefine.models.network.config import HeadConfig
from corefine.models.network.pair_network import rows_in_blocks

MASKED = float("-inf")


@dataclass(frozen=True, slots=True)
class MentionScores:
    """Every span of a document, by start and width, and how much each looks like a mention.

    scores       [T, W] of the span that starts at t and has w + 1 tokens; -inf where there is no such span
    tokens       [T, D] what spans are made of
    attention    [T] log-weight of each token within any span that holds it
    """

    scores: Tensor
    tokens: Tensor
    attention: Tensor

    def with_scores(self, scores: Tensor) -> MentionScores:
        return replace(self, scores=scores)


@dataclass(frozen=True, slots=True)
class TopSpans:
    """The spans that are kept, in document order: starts [N] and ends [N], both inclusive."""

    starts: Tensor
    ends: Tensor

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def spans(self) -> tuple[Span, ...]:
        return tuple(Span(s, e) for s, e in zip(self.starts.tolist(), self.ends.tolist(), strict=True))

    @classmethod
    def of(cls, spans: Sequence[Span], device: torch.device | str = "cpu") -> TopSpans:
        """Given spans, to be ranked as they are."""
        ordered = torch.tensor(sorted(spans), dtype=torch.long, device=device).reshape(-1, 2)
        return cls(ordered[:, 0].contiguous(), ordered[:, 1].contiguous())


class SpanScorer(nn.Module):
    """Mention scores of all spans, and representations of a few."""

    def __init__(self, config: HeadConfig, width: int) -> None:
        super().__init__()
        self.config = config
        self.width = width
        self.size = 3 * width + config.feature_width  # of g
        self.attention = nn.Linear(width, 1)
        self.widths = nn.Embedding(config.max_span_width, config.feature_width)
        self.first = nn.Linear(self.size, config.hidden)
        self.deeper = nn.ModuleList(nn.Linear(config.hidden, config.hidden) for _ in range(config.mention_depth - 1))
        self.score = nn.Linear(config.hidden, 1)

    def forward(self, tokens: Tensor, sentences: Tensor) -> MentionScores:
        """Scores of all spans.

        Shape: tokens [T, D], sentences [T].
        """
        attention = self.attention(tokens).squeeze(1)  # [T]
        if not len(tokens):
            return MentionScores(tokens.new_zeros(0, self.config.max_span_width), tokens, attention)
        blocks = []
        for rows in rows_in_blocks(len(tokens), self.config.max_span_width * self.config.hidden, tokens.device):
            reach = slice(rows.start, rows.stop + self.config.max_span_width - 1)
            blocks.append(self._scores(tokens[reach], attention[reach], rows.stop - rows.start))
        scores = torch.cat(blocks)  # [T, W]
        return MentionScores(scores.masked_fill(~self._exists(sentences), MASKED), tokens, attention)

    def represent(self, mentions: MentionScores, top: TopSpans) -> Tensor:
        """g of the top spans, [N, 3 D + F]."""
        offsets = torch.arange(self._reach(top), device=top.starts.device)  # [R]
        inside = top.starts[:, None] + offsets  # [N, R]
        beyond = inside > top.ends[:, None]
        inside = torch.where(beyond, top.ends[:, None], inside)
        weights = mentions.attention[inside].masked_fill(beyond, MASKED).softmax(1)  # [N, R]
        head = torch.bmm(weights[:, None], mentions.tokens[inside]).squeeze(1)  # [N, D]
        return torch.cat(
            [
                mentions.tokens[top.starts],
                mentions.tokens[top.ends],
                head,
                self.widths((top.ends - top.starts).clamp(max=self.config.max_span_width - 1)),
            ],
            dim=1,
        )

    def of(self, mentions: MentionScores, top: TopSpans, spans: Tensor) -> Tensor:
        """Mention scores [N] of the top spans; one that is wider than any that was scored is scored from g."""
        columns = top.ends - top.starts  # [N]
        wide = columns >= self.config.max_span_width
        scores = mentions.scores[top.starts, columns.clamp(max=self.config.max_span_width - 1)]
        wide = wide | ~torch.isfinite(scores)
        if not bool(wide.any()):
            return scores
        return torch.where(wide, self._rest(torch.relu(self.first(spans))), scores)

    def _scores(self, tokens: Tensor, attention: Tensor, size: int) -> Tensor:
        """Scores [size, W] of the spans that start at the first tokens of a block, which has those they reach."""
        hidden = torch.relu(self._first_layer(tokens, attention, size))  # [B, W, hidden]
        return self._rest(hidden)

    def _rest(self, hidden: Tensor) -> Tensor:
        """What follows the first layer: [..., hidden] -> [...]."""
        # One mask for all widths of a start: sampling one for each span costs more than the layer itself.
        hidden = self._drop(hidden)
        for layer in self.deeper:
            hidden = self._drop(torch.relu(layer(hidden)))
        scores: Tensor = self.score(hidden)
        return scores.squeeze(-1)

    def _first_layer(self, tokens: Tensor, attention: Tensor, size: int) -> Tensor:
        """The first linear map of every g, without any g: [B, W, hidden]."""
        start, end, head, width = torch.split(
            self.first.weight, [self.width, self.width, self.width, self.config.feature_width], dim=1
        )
        reach = self.config.max_span_width
        starts = F.linear(tokens[:size], start, self.first.bias)  # [B, hidden]
        ends = self._windows(F.linear(tokens, end), size)  # [B, W, hidden]
        heads = self._windows(F.linear(tokens, head), size)  # [B, W, hidden]
        # weights[t, w, k] is what token t + k contributes to the span of w + 1 tokens that starts at t.
        logits = self._windows(attention[:, None], size).transpose(1, 2)  # [B, 1, W]
        triangle = torch.ones(reach, reach, dtype=torch.bool, device=tokens.device).tril()
        weights = logits.masked_fill(~triangle, MASKED).softmax(2)  # [B, W, W]
        widths = F.linear(self.widths.weight, width)  # [W, hidden]
        return torch.baddbmm(ends, weights, heads) + starts[:, None] + widths

    def _windows(self, values: Tensor, size: int) -> Tensor:
        """[B.., D] -> [B, W, D]: for each of the first tokens, itself and those after it; zeros behind the last."""
        reach = self.config.max_span_width
        padded = F.pad(values, (0, 0, 0, size + reach - 1 - len(values)))
        return padded.unfold(0, reach, 1).transpose(1, 2)

    def _exists(self, sentences: Tensor) -> Tensor:
        """[T, W]: which spans there are."""
        reach = self.config.max_span_width
        last = torch.arange(len(sentences), device=sentences.device)[:, None] + torch.arange(
            reach, device=sentences.device
        )
        exists = last < len(sentences)
        if self.config.within_sentences:
            exists &= sentences[last.clamp(max=len(sentences) - 1)] == sentences[:, None]
        return exists

    def _drop(self, hidden: Tensor) -> Tensor:
        if not self.training or not self.config.dropout:
            return hidden
        mask = hidden.new_ones(hidden.shape[0], *[1] * (hidden.ndim - 2), hidden.shape[-1])
        return hidden * F.dropout(mask, self.config.dropout)

    def _reach(self, top: TopSpans) -> int:
        return int((top.ends - top.starts).max()) + 1 if len(top) else 1


def prune(mentions: MentionScores, config: HeadConfig) -> TopSpans:
    """The best `spans_per_word` x T spans, in document order."""
    scores = mentions.scores.detach()
    length, reach = scores.shape
    flat = scores.flatten()
    keep = min(max(1, int(config.spans_per_word * length)), int(torch.isfinite(flat).sum()))
    if config.non_crossing:
        chosen = torch.tensor(_without_crossing(flat, keep, reach), dtype=torch.long, device=flat.device)
    else:
        chosen = flat.topk(keep).indices
    chosen = chosen.sort().values  # by start, then by width: document order
    starts = chosen // reach
    return TopSpans(starts, starts + chosen % reach)


def _without_crossing(flat: Tensor, keep: int, reach: int) -> list[int]:
    """The best spans, best first, none of which crosses a better one."""
    chosen: list[int] = []
    latest_end: dict[int, int] = {}  # the last token of the widest chosen span that starts here
    earliest_start: dict[int, int] = {}  # the first token of the widest chosen span that ends here
    order = flat.argsort(descending=True, stable=True)
    for index in order[torch.isfinite(flat[order])].tolist():
        if len(chosen) == keep:
            break
        start, end = index // reach, index // reach + index % reach
        crosses = any(
            (token > start and latest_end.get(token, -1) > end)
            or (token < end and earliest_start.get(token, start) < start)
            for token in range(start, end + 1)
        )
        if not crosses:
            chosen.append(index)
            latest_end[start] = max(end, latest_end.get(start, end))
            earliest_start[end] = min(start, earliest_start.get(end, start))
    return chosen

"""Stage one: the mention scores of all spans up to a width, and which spans are kept.

A span is represented by g = [start; end; head; width], where head is an attention-weighted mean of its tokens. g is
built only for the top spans. The mention scores of all spans do not need it: the first linear layer is applied to
each token once, and `MentionNetwork` adds up its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from corefine.document import Span
from corefine.models.network.config import HeadConfig
from corefine.models.network.dropout import dropout_mask
from corefine.models.network.mention_network import MentionNetwork

MASKED = float("-inf")

LEAST_LOGIT = -80.0
"""Log-weights in the head of a span are at least this far below the largest, so that none of their sums is 0."""

TOKENS_AT_ONCE = 8_192
"""Tokens whose spans are scored at once, to limit memory."""


@dataclass(frozen=True, slots=True)
class MentionScores:
    """The mention scores of all spans of a document.

    scores       [T, W] of the span that starts at t and has w + 1 tokens; -inf if there is no such span
    tokens       [T, D] what spans are made of
    attention    [T] the log-weight of each token in the head of a span
    """

    scores: Tensor
    tokens: Tensor
    attention: Tensor

    @property
    def nbytes(self) -> int:
        """The size in memory."""
        return sum(each.nbytes for each in (self.scores, self.tokens, self.attention))


@dataclass(frozen=True, slots=True)
class TopSpans:
    """The top spans in document order: starts [N] and ends [N], both inclusive."""

    starts: Tensor
    ends: Tensor

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: slice) -> TopSpans:
        return TopSpans(self.starts[rows], self.ends[rows])

    @property
    def spans(self) -> tuple[Span, ...]:
        return tuple(Span(s, e) for s, e in zip(self.starts.tolist(), self.ends.tolist(), strict=True))

    @classmethod
    def of(cls, spans: Sequence[Span], device: torch.device | str = "cpu") -> TopSpans:
        """These spans, in document order."""
        ordered = torch.tensor(sorted(spans), dtype=torch.long, device=device).reshape(-1, 2)
        return cls(ordered[:, 0].contiguous(), ordered[:, 1].contiguous())


class SpanScorer(nn.Module):
    """Mention scores of all spans, and representations of the top spans.

    width    D, the size of a token's state
    words    how many of the last dimensions of a state are used for the head only, and not for start and end; with 0,
             head, start and end use all dimensions
    """

    def __init__(self, config: HeadConfig, width: int, words: int = 0) -> None:
        super().__init__()
        self.config = config
        self.ends_width, self.head_width = width - words, words or width
        self.size = 2 * self.ends_width + self.head_width + config.feature_width  # of g
        self.attention = nn.Linear(self.head_width, 1)
        self.widths = nn.Embedding(config.max_span_width, config.feature_width)
        self.first = nn.Linear(self.size, config.hidden)
        self.deeper = nn.ModuleList(nn.Linear(config.hidden, config.hidden) for _ in range(config.mention_depth - 1))
        self.score = nn.Linear(config.hidden, 1)

    def forward(self, tokens: Tensor, sentences: Tensor) -> MentionScores:
        """Scores of all spans.

        Shape: tokens [T, D], sentences [T].
        """
        with torch.autocast(tokens.device.type, enabled=False):  # float32 is faster for a single column
            attention = self.attention(self._heads(tokens).float()).squeeze(1)  # [T]
        if not len(tokens):
            return MentionScores(tokens.new_zeros(0, self.config.max_span_width), tokens, attention)
        reach = TOKENS_AT_ONCE + self.config.max_span_width - 1
        scores = torch.cat(
            [
                self._scores(tokens[start : start + reach], attention[start : start + reach])[:TOKENS_AT_ONCE]
                for start in range(0, len(tokens), TOKENS_AT_ONCE)
            ]
        )  # [T, W]
        return MentionScores(scores.masked_fill(~self._exists(sentences), MASKED), tokens, attention)

    def represent(self, mentions: MentionScores, top: TopSpans) -> Tensor:
        """g of the top spans, [N, G]."""
        reach = int((top.ends - top.starts).max()) + 1 if len(top) else 1
        offsets = torch.arange(reach, device=top.starts.device)  # [R]
        inside = top.starts[:, None] + offsets  # [N, R]
        beyond = inside > top.ends[:, None]
        inside = torch.where(beyond, top.ends[:, None], inside)
        weights = mentions.attention[inside].masked_fill(beyond, MASKED).softmax(1)  # [N, R]
        # the gradient of `index_select` takes less time than that of an index
        tokens = self._heads(mentions.tokens).index_select(0, inside.flatten())
        tokens = tokens.view(*inside.shape, self.head_width)  # [N, R, D]
        with torch.autocast(tokens.device.type, enabled=False):  # converting takes longer than these products
            head = torch.bmm(weights[:, None].to(tokens.dtype), tokens).squeeze(1)  # [N, D]
        ends = self._ends(mentions.tokens)
        return torch.cat(
            [
                ends.index_select(0, top.starts),
                ends.index_select(0, top.ends),
                head,
                self.widths((top.ends - top.starts).clamp(max=self.config.max_span_width - 1)),
            ],
            dim=1,
        )

    def of(self, mentions: MentionScores, top: TopSpans, spans: Tensor) -> Tensor:
        """[N] the mention scores of the top spans; spans wider than `max_span_width` are scored from g."""
        columns = top.ends - top.starts  # [N]
        wide = columns >= self.config.max_span_width
        scores = mentions.scores[top.starts, columns.clamp(max=self.config.max_span_width - 1)]
        wide = wide | ~torch.isfinite(scores)
        if not bool(wide.any()):
            return scores
        return torch.where(wide, self._rest(torch.relu(self.first(spans))), scores)

    def _rest(self, hidden: Tensor) -> Tensor:
        """The layers after the first: [N, hidden] -> [N]."""
        hidden = self._drop(hidden)
        for layer in self.deeper:
            hidden = self._drop(torch.relu(layer(hidden)))
        scores: Tensor = self.score(hidden)
        return scores.squeeze(-1)

    def _scores(self, tokens: Tensor, attention: Tensor) -> Tensor:
        """[T, W] the scores of all spans, also of those that do not exist."""
        start, end, head, width = torch.split(
            self.first.weight,
            [self.ends_width, self.ends_width, self.head_width, self.config.feature_width],
            dim=1,
        )
        reach = self.config.max_span_width
        logits = self._lengthened(attention[:, None]).squeeze(1).unfold(0, reach, 1).float()  # [T, W]
        weights = (logits - logits.detach().amax(1, keepdim=True)).clamp(min=LEAST_LOGIT).exp()
        shares = weights / weights.cumsum(1)  # [T, W] of the last token of each span in its head
        scores: Tensor = MentionNetwork.apply(  # type: ignore[no-untyped-call]
            F.linear(self._ends(tokens), start, self.first.bias).float(),
            self._lengthened(F.linear(self._ends(tokens), end).float()),
            self._lengthened(F.linear(self._heads(tokens), head).float()),
            F.linear(self.widths.weight, width).float(),
            shares,
            self.score.weight[0],
            self._masks(tokens),
            torch.is_grad_enabled(),
            *self.deeper.parameters(),
        )
        return scores + self.score.bias

    def _ends(self, tokens: Tensor) -> Tensor:
        """The dimensions of the states that start and end use."""
        return tokens if self.ends_width == tokens.shape[1] else tokens[:, : self.ends_width]

    def _heads(self, tokens: Tensor) -> Tensor:
        """The dimensions of the states that the head uses."""
        return tokens if self.head_width == tokens.shape[1] else tokens[:, -self.head_width :]

    def _lengthened(self, values: Tensor) -> Tensor:
        """[T, .] -> [T + W - 1, .]: zeros for the tokens that spans at the end of the document lack."""
        return F.pad(values, (0, 0, 0, self.config.max_span_width - 1))

    def _exists(self, sentences: Tensor) -> Tensor:
        """[T, W] which spans exist."""
        reach = self.config.max_span_width
        last = torch.arange(len(sentences), device=sentences.device)[:, None] + torch.arange(
            reach, device=sentences.device
        )
        exists = last < len(sentences)
        if self.config.within_sentences:
            exists &= sentences[last.clamp(max=len(sentences) - 1)] == sentences[:, None]
        return exists

    def _masks(self, tokens: Tensor) -> Tensor | None:
        """Dropout of each hidden layer, [depth, T, hidden]: one mask for all spans that begin at a token."""
        if not self.training or not self.config.dropout:
            return None
        shape = (self.config.mention_depth, len(tokens), self.config.hidden)
        return dropout_mask(self.config.dropout, *shape, device=tokens.device)

    def _drop(self, hidden: Tensor) -> Tensor:
        return F.dropout(hidden, self.config.dropout, self.training)


def prune(mentions: MentionScores, config: HeadConfig) -> TopSpans:
    """The best `spans_per_word` x T spans, in document order."""
    scores = mentions.scores.detach()
    length, reach = scores.shape
    flat = scores.flatten()
    keep = min(max(config.min_spans, int(config.spans_per_word * length)), int(torch.isfinite(flat).sum()))
    if config.non_crossing:
        chosen = torch.tensor(_without_crossing(flat, keep, reach), dtype=torch.long, device=flat.device)
    else:
        chosen = flat.topk(keep).indices
    chosen = chosen.sort().values  # by start, then by width: document order
    starts = chosen // reach
    return TopSpans(starts, starts + chosen % reach)


def _without_crossing(flat: Tensor, keep: int, reach: int) -> list[int]:
    """The best spans, best first, without those that cross a better one."""
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

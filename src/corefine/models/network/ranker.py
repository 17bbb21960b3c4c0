"""The span ranker: a document's states in, a ranking of antecedents out.

Its stages in order: `tokens` mixes layers and adds context, `mentions` scores all spans, `prune` keeps the best, and
`pairs` scores these against their candidates. A committee prunes once, on the mean of its members' mention scores.

Training has the states of a whole document, or of a piece of it, as `Inputs`. Prediction reads states in blocks of
tokens: `reduce` keeps of each block only what later stages need, and `join` makes of all blocks what `tokens` returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from corefine.models.network.config import HeadConfig, ModelConfig
from corefine.models.network.context import LSTM, GatedScan
from corefine.models.network.dropout import dropout_mask
from corefine.models.network.inputs import Inputs, Surface, TokenFeatures
from corefine.models.network.layer_mix import mix_layers
from corefine.models.network.pairs import PairScorer, Sides
from corefine.models.network.spans import MASKED, MentionScores, SpanScorer, TopSpans, prune
from corefine.prediction import NONE, Prediction

SPANS_IN_BLOCK = 8_192
"""Top spans whose representations are built at once. Each needs about fifty times the memory of what is kept of it."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Top spans and the scores of their candidates, with gradients.

    top               N spans in document order
    mention_scores    [N]
    candidates        [N, K] indices of earlier top spans; -1 is padding
    scores            [N, 1 + K]; column 0 is epsilon and always 0; padding is -inf
    mentions          the scores of all spans, for the loss on mentions
    config            the head that made it
    """

    top: TopSpans
    mention_scores: Tensor
    candidates: Tensor
    scores: Tensor
    mentions: MentionScores
    config: HeadConfig = field(default_factory=HeadConfig)

    def prediction(self) -> Prediction:
        """The same as probabilities, without torch."""
        return Prediction(
            spans=self.top.spans,
            candidates=self.candidates.cpu().numpy(),
            probabilities=self.probabilities().numpy(),
            mention_scores=self.mention_scores.detach().cpu().double().numpy(),
            decoding=self.config.decoding,
            threshold=self.config.threshold,
        )

    def probabilities(self) -> Tensor:
        """[N, 1 + K] the calibrated probabilities, on the CPU."""
        return (self.scores.detach().cpu().double() / self.config.temperature).softmax(1)


class SpanRanker(nn.Module):
    """The head. `width` and `layers` are those of the encoder."""

    def __init__(self, config: ModelConfig, width: int, layers: int = 1) -> None:
        super().__init__()
        self.config = config
        head = config.head
        self.mix = nn.Parameter(torch.zeros(layers)) if layers > 1 else None
        self.surfaces = nn.Embedding(2 * len(Surface), head.feature_width) if head.surface else None
        size = width + (head.feature_width if head.surface else 0)
        self.context: LSTM | GatedScan | None = None
        if head.context != "none":
            self.context = (LSTM if head.context == "lstm" else GatedScan)(size, head.context_width)
            size = self.context.size
        self.spans = SpanScorer(head, size, config.encoder.words_width)
        self.pair = PairScorer(head, self.spans.size)

    def forward(self, inputs: Inputs) -> Ranking:
        mentions = self.mentions(inputs)
        return self.pairs(inputs, mentions, self.prune(mentions))

    def mentions(self, inputs: Inputs) -> MentionScores:
        """Scores of all spans up to `max_span_width`."""
        return self.score(self.tokens(inputs), inputs)

    def score(self, tokens: Tensor, features: TokenFeatures) -> MentionScores:
        """Scores of all spans up to `max_span_width`, from what `tokens` or `join` returned."""
        scores: MentionScores = self.spans(tokens, features.sentences)
        return scores

    def prune(self, mentions: MentionScores | Sequence[MentionScores]) -> TopSpans:
        """The top spans; of several members, by the mean of their scores."""
        if isinstance(mentions, MentionScores):
            return prune(mentions, self.config.head)
        mean = torch.stack([member.scores for member in mentions]).mean(0)
        return prune(replace(mentions[0], scores=mean), self.config.head)

    def candidates(self, mentions: MentionScores, top: TopSpans) -> Tensor:
        """[N, K] the candidates that this model chooses, the best or nearest first."""
        if not self.config.head.coarse_to_fine:
            return self.pair.nearest(len(top), top.starts.device)
        sides, mention_scores = self._sides(mentions, top)
        return self.pair.coarse(sides, mention_scores)[0]

    def pairs(
        self, features: TokenFeatures, mentions: MentionScores, top: TopSpans, candidates: Tensor | None = None
    ) -> Ranking:
        """The ranking of the top spans, with this model's own candidates if none are given."""
        sides, mention_scores = self._sides(mentions, top)
        coarse: Tensor | None = None
        if self.config.head.coarse_to_fine:
            candidates, coarse = self.pair.coarse(sides, mention_scores, candidates)
        elif candidates is None:
            candidates = self.pair.nearest(len(top), top.starts.device)
        scores = self.pair(features, top, sides, candidates)  # [N, K]
        scores = scores + mention_scores[:, None] + mention_scores[candidates.clamp(min=0)]
        if coarse is not None:
            scores = scores + coarse
        scores = F.pad(scores.masked_fill(candidates == NONE, MASKED), (1, 0))  # [N, 1 + K], epsilon = 0
        return Ranking(top, mention_scores, candidates, scores, mentions, self.config.head)

    def _sides(self, mentions: MentionScores, top: TopSpans) -> tuple[Sides, Tensor]:
        """What pairs are scored from, and the mention scores [N] of the top spans."""
        sides, scores = [], []
        for start in range(0, max(len(top), 1), SPANS_IN_BLOCK):
            some = top[start : start + SPANS_IN_BLOCK]
            spans = self.spans.represent(mentions, some)  # [B, G]
            scores.append(self.spans.of(mentions, some, spans))
            sides.append(self.pair.sides(spans))
        return Sides.join(sides), torch.cat(scores)

    def tokens(self, inputs: Inputs) -> Tensor:
        """[T, D] what spans are made of: mixed states, the surface of tokens, the context layer's states."""
        return self.join([self.reduce(inputs.states, inputs.surfaces)])

    def reduce(self, states: Tensor, surfaces: Tensor) -> Tensor:
        """What is kept of a block of tokens: [B, H] or [L, B, H] and [B] -> [B, .]."""
        states = states.float() if self.mix is None else mix_layers(self.mix.softmax(0), states)
        if self.training and self.config.head.state_dropout:
            states = states * dropout_mask(self.config.head.state_dropout, *states.shape, device=states.device)
        if self.surfaces is not None:
            states = torch.cat([states, self.surfaces(surfaces)], dim=1)
        return states if self.context is None else self.context.project(states)

    def join(self, blocks: list[Tensor]) -> Tensor:
        """[T, D] what spans are made of, from what `reduce` kept of each block. The list is used up."""
        if self.context is None:
            return torch.cat(blocks) if len(blocks) > 1 else blocks[0]
        return self.context.join(blocks) if len(blocks[0]) else blocks[0].new_zeros(0, self.context.size)

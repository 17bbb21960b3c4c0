"""Stage two: scores of each top span against its candidate antecedents.

The pair scorer is a feed-forward network over [g_i; g_j; g_i * g_j; features]. The concatenation is never built, nor,
in the default head, the product of whole g's: see `PairNetwork`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from corefine.models.network.config import FULL, HeadConfig
from corefine.models.network.dropout import dropout_mask
from corefine.models.network.hidden_layers import rows_in_blocks
from corefine.models.network.inputs import TokenFeatures
from corefine.models.network.pair_features import (
    DISTANCE_VALUES,
    MATCH_VALUES,
    SPEAKER_VALUES,
    SpanWords,
    distances,
    speakers,
)
from corefine.models.network.pair_network import PairNetwork
from corefine.models.network.spans import MASKED, TopSpans
from corefine.prediction import NONE

COARSE_WIDTH = 64
"""The width of the two projections whose product is a pair's coarse score."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What the scorer needs of each top span, in place of its g.

    coarse_left      [N, COARSE_WIDTH] its part of the coarse score as mention; None without coarse_to_fine
    coarse_right     the same as antecedent
    left, right      [N, hidden] its part of the first layer, as mention and as antecedent
    products         [N, P] what is multiplied with that of the other span
    """

    coarse_left: Tensor | None
    coarse_right: Tensor | None
    left: Tensor
    right: Tensor
    products: Tensor

    @classmethod
    def join(cls, blocks: Sequence[Sides]) -> Sides:
        """The sides of all spans, from those of one block of spans after another."""
        if len(blocks) == 1:
            return blocks[0]
        columns = ([getattr(block, each.name) for block in blocks] for each in fields(cls))
        return cls(*(None if column[0] is None else torch.cat(column) for column in columns))  # type: ignore[arg-type]


class PairScorer(nn.Module):
    """Scores of pairs of top spans, without their mention scores."""

    def __init__(self, config: HeadConfig, size: int) -> None:
        super().__init__()
        self.config = config
        self.size = size  # of g
        self.product_size = size if config.pair_width == FULL else int(config.pair_width)
        self.project: nn.Module | None = None
        if config.pair_width != FULL:  # normalised: products of small numbers learn slowly
            normal = nn.LayerNorm(self.product_size, elementwise_affine=False)
            self.project = nn.Sequential(nn.Linear(size, self.product_size), normal)
        feature = config.feature_width
        self.distances = nn.Embedding(DISTANCE_VALUES, feature)
        self.matches = nn.Embedding(MATCH_VALUES, feature) if config.string_match else None
        self.speakers = nn.Embedding(SPEAKER_VALUES, feature) if config.speakers else None
        self.genres = nn.Embedding(1 + len(config.genres), feature) if config.genres else None
        tables = [self.distances, self.matches, self.speakers, self.genres]
        features = feature * sum(table is not None for table in tables)
        self.first = nn.Linear(2 * size + self.product_size + features, config.hidden)
        self.deeper = nn.ModuleList(nn.Linear(config.hidden, config.hidden) for _ in range(config.pair_depth - 1))
        self.score = nn.Linear(config.hidden, 1)
        self.coarse_left = nn.Linear(size, COARSE_WIDTH) if config.coarse_to_fine else None
        self.coarse_right = nn.Linear(size, COARSE_WIDTH, bias=False) if config.coarse_to_fine else None

    @property
    def most_candidates(self) -> int:
        """K: how many antecedents are considered for each top span."""
        return self.config.candidates if self.training else self.config.candidates_predicted or self.config.candidates

    def sides(self, spans: Tensor) -> Sides:
        """What is needed of these spans, whose g's are [N, G]."""
        own, other, _, _ = self._first_weights()
        return Sides(
            coarse_left=None if self.coarse_left is None else self.coarse_left(spans),
            coarse_right=None if self.coarse_right is None else self.coarse_right(spans),
            left=F.linear(spans, own, self.first.bias),
            right=F.linear(spans, other),
            products=spans if self.project is None else self.project(spans),
        )

    def forward(self, features: TokenFeatures, top: TopSpans, sides: Sides, candidates: Tensor) -> Tensor:
        """Scores [N, K]; ignore those of padding.

        Shape: candidates [N, K] with `NONE` as padding.
        """
        _, _, product, of_features = self._first_weights()
        others = candidates.clamp(min=0)
        codes, table = self._features(features, top, others, of_features)
        left = sides.left.float()
        scores: Tensor = PairNetwork.apply(  # type: ignore[no-untyped-call]
            left,
            sides.right.float(),
            table.float(),
            sides.products.float(),
            product,
            self.score.weight[0],
            others,
            codes,
            self._masks(left),
            torch.is_grad_enabled(),
            *self.deeper.parameters(),
        )
        return scores + self.score.bias

    def _first_weights(self) -> tuple[Tensor, ...]:
        """The weights of the first layer for g_i, g_j, g_i * g_j and the features."""
        rest = self.first.in_features - 2 * self.size - self.product_size
        return torch.split(self.first.weight, [self.size, self.size, self.product_size, rest], dim=1)

    def nearest(self, size: int, device: torch.device) -> Tensor:
        """The K previous spans of each span, nearest first: [N, K]."""
        reach = min(self.most_candidates, max(size - 1, 0))
        own = torch.arange(size, device=device)[:, None]
        return (own - 1 - torch.arange(reach, device=device)).clamp(min=NONE)

    def _features(self, inputs: TokenFeatures, top: TopSpans, others: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
        """The features of each pair as one code [N, K], and what each code adds to the first layer: [C, hidden]."""
        own = torch.arange(len(top), device=others.device)[:, None]
        tables = [(self.distances.weight, distances(own, others))]
        words = SpanWords.of(inputs, top)
        if self.matches is not None:
            tables.append((self.matches.weight, words.matches(own, others)))
        if self.speakers is not None:
            tables.append((self.speakers.weight, speakers(inputs, top, own, others)))
        if self.genres is not None:
            tables.append((self.genres.weight[inputs.genre : inputs.genre + 1], torch.zeros_like(others)))
        codes = torch.zeros_like(others)
        for values, numbers in tables:
            codes = codes * len(values) + numbers
        sizes = [len(values) for values, _ in tables]
        table = weight.new_zeros(())
        parts = torch.split(weight, self.config.feature_width, dim=1)
        for number, ((values, _), part) in enumerate(zip(tables, parts, strict=True)):
            shape = [1] * len(sizes)
            shape[number] = sizes[number]
            table = table + F.linear(values, part).view(*shape, -1)
        return codes, table.reshape(-1, self.config.hidden)

    def _masks(self, spans: Tensor) -> Tensor | None:
        """Dropout of each hidden layer, [depth, N, hidden]: one mask for all candidates of a span."""
        if not self.training or not self.config.dropout:
            return None
        shape = (self.config.pair_depth, len(spans), self.config.hidden)
        return dropout_mask(self.config.dropout, *shape, device=spans.device)

    def coarse(self, sides: Sides, mention_scores: Tensor, candidates: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The best K candidates [N, K] by a bilinear score, best first, and those scores [N, K].

        If `candidates` are given, they are only scored.
        """
        left, right = sides.coarse_left, sides.coarse_right
        if left is None or right is None:
            raise ValueError("coarse scores need coarse_to_fine")
        if candidates is None:
            candidates = self._best(left.detach(), right.detach(), mention_scores.detach())
        others = candidates.clamp(min=0)
        blocks = []
        for rows in rows_in_blocks(len(left), others.shape[1] * COARSE_WIDTH, left.device):
            # the gradient of `index_select` takes less time than that of an index
            antecedents = right.index_select(0, others[rows].flatten()).view(*others[rows].shape, COARSE_WIDTH)
            blocks.append(torch.bmm(antecedents, left[rows, :, None]).squeeze(2))  # [B, K]
        return candidates, torch.cat(blocks) if blocks else left.new_zeros(others.shape)

    def _best(self, left: Tensor, right: Tensor, mention_scores: Tensor) -> Tensor:
        """[N, K] the K best of the `coarse_window` previous spans, by product and mention score."""
        size, window = len(left), self.config.coarse_window
        reach = min(self.most_candidates, max(size - 1, 0))
        chosen = []
        for rows in rows_in_blocks(size, min(size, window) + 1, left.device):
            begin = max(0, rows.start - window)
            scores = left[rows] @ right[begin : rows.stop].t()
            scores += mention_scores[begin : rows.stop]
            own = torch.arange(rows.start, rows.stop, device=left.device)[:, None]
            other = torch.arange(begin, rows.stop, device=left.device)
            scores.masked_fill_((other >= own) | (other < own - window), MASKED)
            best = scores.topk(min(reach, scores.shape[1]), dim=1)
            block = torch.where(torch.isfinite(best.values), best.indices + begin, NONE)
            chosen.append(F.pad(block, (0, reach - block.shape[1]), value=NONE))
        return torch.cat(chosen) if chosen else torch.zeros(0, reach, dtype=torch.long, device=left.device)

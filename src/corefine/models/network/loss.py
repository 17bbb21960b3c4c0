"""What training maximises: the probability that labels permit.

Every kind of label comes down to one thing for each row: which columns (epsilon and candidates) it may be. The
loss is minus the log of their summed probability. Full labels permit the antecedents of the span's cluster, or
epsilon; a must-link permits the linked antecedents; a cannot-link everything but the excluded ones; "first
appearance" epsilon.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from corefine.document import Span
from corefine.models.network.ranker import Ranking
from corefine.models.network.spans import MentionScores

Spans = Iterable[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Targets:
    """What the labels of a document say about a ranking.

    allowed    [N, 1 + K] the columns a row may be; no row is without any
    weights    [N] how much each row counts; 0 for one that labels say nothing of
    """

    allowed: Tensor
    weights: Tensor

    def weighted(self, ranking: Ranking, factors: Mapping[Span, float]) -> Targets:
        """The same, with the rows of some spans counting so much more or less."""
        listed = [factors.get(span, 1.0) for span in ranking.top.spans]
        return Targets(self.allowed, self.weights * self.weights.new_tensor(listed))


def targets_from_clusters(ranking: Ranking, clusters: Iterable[Spans]) -> Targets:
    """Full labels: the antecedents in the span's cluster, epsilon if none is among its candidates."""
    labels = _labels(ranking, clusters)
    allowed = _same(ranking, labels)
    return Targets(allowed, torch.ones(len(allowed), device=allowed.device))


def targets_from_answers(
    ranking: Ranking,
    *,
    together: Iterable[Spans],
    apart: Iterable[tuple[tuple[int, int], tuple[int, int]]] = (),
    first: Spans = (),
    clusters: Iterable[Spans] | None = None,
    rest: float = 0.0,
) -> Targets:
    """Partial labels: what people answered, and optionally the model's own labels for the rest.

    together    groups of mentions that are one entity (closed over must-links)
    apart       pairs of mentions that are not (closed over cannot-links)
    first       mentions known to have no antecedent, and spans known not to be mentions
    clusters    labels for the rows that no answer is about, which count `rest` times as much
    """
    linked = _same(ranking, _labels(ranking, together))
    excluded = _excluded(ranking, apart)
    starts = _among(ranking, first)
    allowed = linked.clone()
    has_link = linked[:, 1:].any(1)
    has_exclusion = excluded.any(1)
    only_exclusion = has_exclusion & ~has_link
    allowed[only_exclusion] = ~excluded[only_exclusion] & torch.isfinite(ranking.scores[only_exclusion])
    allowed[starts] = False
    allowed[starts, 0] = True
    answered = has_link | has_exclusion | starts
    weights = answered.float()
    if clusters is not None:
        labelled = targets_from_clusters(ranking, clusters)
        allowed = torch.where(answered[:, None], allowed, labelled.allowed)
        weights = torch.where(answered, weights, rest)
    return Targets(allowed, weights)


def marginal_loss(ranking: Ranking, targets: Targets) -> Tensor:
    """Minus the weighted log-probability of what is allowed, summed over rows."""
    chosen = ranking.scores.masked_fill(~targets.allowed, float("-inf")).logsumexp(1)
    total = ranking.scores.logsumexp(1)
    return ((total - chosen) * targets.weights).sum()


def mention_loss(mentions: MentionScores, clusters: Iterable[Spans]) -> Tensor:
    """Cross-entropy of "is it a mention" over all spans, summed; singletons are mentions here."""
    exists = torch.isfinite(mentions.scores)
    truth = torch.zeros_like(mentions.scores)
    reach = truth.shape[1]
    gold = [(start, end - start) for cluster in clusters for start, end in cluster if end - start < reach]
    if gold:
        truth[tuple(torch.tensor(gold, device=truth.device).t())] = 1.0
    return F.binary_cross_entropy_with_logits(mentions.scores[exists], truth[exists], reduction="sum")


def _labels(ranking: Ranking, clusters: Iterable[Spans]) -> Tensor:
    """[N] which cluster each top span is in, 0 for none."""
    owner = {Span(*span): number for number, cluster in enumerate(clusters, 1) for span in cluster}
    labels = [owner.get(span, 0) for span in ranking.top.spans]
    return torch.tensor(labels, dtype=torch.long, device=ranking.scores.device)


def _same(ranking: Ranking, labels: Tensor) -> Tensor:
    """[N, 1 + K] candidates with the row's own label; epsilon where there is none."""
    others = labels[ranking.candidates.clamp(min=0)]
    same = (others == labels[:, None]) & (labels[:, None] > 0) & (ranking.candidates >= 0)
    return torch.cat([~same.any(1, keepdim=True), same], dim=1)


def _excluded(ranking: Ranking, apart: Iterable[tuple[tuple[int, int], tuple[int, int]]]) -> Tensor:
    """[N, 1 + K] candidates that a row is known not to corefer with."""
    index = {span: row for row, span in enumerate(ranking.top.spans)}
    excluded = torch.zeros_like(ranking.scores, dtype=torch.bool)
    banned: dict[int, list[int]] = {}
    for left, right in apart:
        one, two = index.get(Span(*left)), index.get(Span(*right))
        if one is not None and two is not None:
            banned.setdefault(max(one, two), []).append(min(one, two))
    for row, others in banned.items():
        excluded[row, 1:] = torch.isin(ranking.candidates[row], torch.tensor(others, device=excluded.device))
    return excluded


def _among(ranking: Ranking, spans: Spans) -> Tensor:
    """[N] which top spans are among these."""
    wanted = {Span(*span) for span in spans}
    return torch.tensor([span in wanted for span in ranking.top.spans], dtype=torch.bool, device=ranking.scores.device)

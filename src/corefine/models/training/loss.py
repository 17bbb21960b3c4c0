"""The training loss: minus the log of the total probability of the antecedents that the labels allow.

Every kind of label comes down to one thing for each row: which columns (epsilon and candidates) are allowed. The loss
is minus the log of their summed probability. Full labels allow the antecedents in the span's cluster, or epsilon if
there are none; a must-link allows the linked antecedents; a cannot-link everything except the excluded ones; "has no
antecedent" allows epsilon.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from corefine.annotation.completed import covers
from corefine.annotation.labels import LabelPolicy, Labels
from corefine.document import Span
from corefine.models.network.inputs import Inputs
from corefine.models.network.ranker import Ranking, SpanRanker
from corefine.models.network.spans import MentionScores, TopSpans

PSEUDO = LabelPolicy()

MOST_FORCED = 4
"""A mention that answers link to an entity gets this many of the entity's nearest earlier mentions as candidates."""


@dataclass(frozen=True, slots=True)
class Targets:
    """What the labels of a document say about a ranking.

    allowed    [N, 1 + K] the columns a row may take; every row has at least one
    weights    [N] how much each row counts
    kept       [N] how much each row is held to the probabilities of the model that training begins with
    """

    allowed: Tensor
    weights: Tensor
    kept: Tensor

    @property
    def total(self) -> Tensor:
        """What all rows together count, and at least 1."""
        return (self.weights.sum() + self.kept.sum()).clamp(min=1)


def targets_for(ranking: Ranking, labels: Labels, policy: LabelPolicy = PSEUDO) -> Targets:
    """What labels say about a ranking of their document; the policy applies where they are not full."""
    allowed = _same(ranking, labels.document.clusters)
    weights = torch.ones(len(allowed), device=allowed.device)
    none = torch.zeros_like(weights)
    if labels.full:
        return Targets(allowed, weights, none)
    others = weights * policy.unanswered
    if policy.certainty:
        chances = dict(labels.certainty)
        others = others * weights.new_tensor([chances.get(span, 1.0) for span in ranking.top.spans])
    if policy.unlinked != 1.0:
        others = torch.where(allowed[:, 0], others * policy.unlinked, others)
    if not policy.answers:
        return Targets(allowed, others, none)
    said, answered = _answered(ranking, labels)
    if labels.complete:  # what nobody linked there has no antecedent
        inside = torch.tensor([covers(labels.complete, span) for span in ranking.top.spans], device=allowed.device)
        new = inside & ~answered
        said[new] = False
        said[new, 0] = True
        answered = answered | inside
    return Targets(
        allowed=torch.where(answered[:, None], said, allowed),
        weights=torch.where(answered, weights, others),
        kept=torch.where(answered, none, policy.keep),
    )


def marginal_loss(ranking: Ranking, targets: Targets) -> Tensor:
    """Minus the weighted log-probability of what is allowed, summed over rows."""
    chosen = ranking.scores.masked_fill(~targets.allowed, float("-inf")).logsumexp(1)
    total = ranking.scores.logsumexp(1)
    return ((total - chosen) * targets.weights).sum()


def kept_loss(ranking: Ranking, before: Ranking, targets: Targets) -> Tensor:
    """How far the probabilities have moved from those of an earlier model: the weighted divergence, summed over rows.

    `before` is the earlier model's ranking of the same spans with the same candidates.
    """
    padding = torch.isinf(ranking.scores)
    earlier = before.scores.log_softmax(1).masked_fill(padding, 0.0)
    present = ranking.scores.log_softmax(1).masked_fill(padding, 0.0)
    chances = earlier.exp().masked_fill(padding, 0.0)
    return ((chances * (earlier - present)).sum(1) * targets.kept).sum()


def mention_loss(mentions: MentionScores, clusters: Iterable[Iterable[Span]]) -> Tensor:
    """Cross-entropy of "is it a mention" over all spans, summed; singletons are mentions here."""
    exists = torch.isfinite(mentions.scores)
    truth = torch.zeros_like(mentions.scores)
    reach = truth.shape[1]
    gold = [(start, end - start) for cluster in clusters for start, end in cluster if end - start < reach]
    if gold:
        truth[tuple(torch.tensor(gold, device=truth.device).t())] = 1.0
    return F.binary_cross_entropy_with_logits(mentions.scores[exists], truth[exists], reduction="sum")


def answered_mention_loss(mentions: MentionScores, labels: Labels) -> Tensor:
    """The same loss for spans that answers settle: those that are mentions, and those called "not a mention".

    In parts that were annotated in full, this covers all spans.

    A span that is only known to be alone, or the first of its entity, teaches nothing here. A person may say this of a
    span that is not a mention, because that was not the question.
    """
    known = dict.fromkeys(_known_mentions(labels), 1.0) | dict.fromkeys(labels.no_mentions, 0.0)
    reach = mentions.scores.shape[1]
    for part in labels.complete:
        every = (Span(start, end) for start in range(part.start, part.end + 1) for end in _ends(start, reach, part))
        known |= dict.fromkeys(every, 0.0)
    if labels.complete:
        marked = (span for cluster in labels.document.clusters for span in cluster)
        known |= {span: 1.0 for span in marked if covers(labels.complete, span)}
    places = [
        (span.start, span.end - span.start, truth)
        for span, truth in sorted(known.items())
        if len(span.parts) == 1 and span.end - span.start < reach
    ]
    if not places:
        return mentions.scores.new_zeros(())
    starts, widths, truth = zip(*places, strict=True)
    scores = mentions.scores[list(starts), list(widths)]
    exists = torch.isfinite(scores)
    targets = scores.new_tensor(truth)
    return F.binary_cross_entropy_with_logits(scores[exists], targets[exists], reduction="sum")


def boundary_loss(mentions: MentionScores, labels: Labels) -> Tensor:
    """How far other spans with the same start, or the same end, outrank the mentions that answers name; the mean.

    A person who links or corrects a mention also says where it begins and ends. Another span with the same start or the
    same end is hardly ever a mention. This teaches the form of mentions, and claims nothing about the rest of the text.
    """
    scores = mentions.scores
    reach = scores.shape[1]
    known = [span for span in sorted(_known_mentions(labels)) if len(span.parts) == 1 and span.end - span.start < reach]
    known = [span for span in known if bool(torch.isfinite(scores[span.start, span.end - span.start]))]
    if not known:
        return scores.new_zeros(())
    starts = torch.tensor([span.start for span in known], device=scores.device)
    widths = torch.tensor([span.end - span.start for span in known], device=scores.device)
    every = torch.arange(reach, device=scores.device)
    others = (starts + widths)[:, None] - every  # [M, W] where spans of each width begin that end at the same token
    same_end = scores[others.clamp(min=0), every].masked_fill(others < 0, float("-inf"))
    outranked = scores[starts].logsumexp(1) + same_end.logsumexp(1)
    return (outranked - 2 * scores[starts, widths]).mean()


def _known_mentions(labels: Labels) -> set[Span]:
    """Spans that answers link to others, or call mentions."""
    return {span for group in (*labels.together, labels.mentions) for span in group}


def _ends(start: int, reach: int, part: Span) -> range:
    """The ends of the spans that begin at each token and lie within the part."""
    return range(start, min(start + reach - 1, part.end) + 1)


def ranking_with_answers(ranker: SpanRanker, inputs: Inputs, labels: Labels) -> Ranking:
    """A ranking whose top spans include every span that answers name, and whose candidates include linked spans.

    In a new field the model prunes many mentions that answers are about, and rarely considers distant antecedents. Such
    answers would otherwise teach nothing.
    """
    mentions = ranker.mentions(inputs)
    top = ranker.prune(mentions)
    top = TopSpans.of(sorted({*top.spans, *labels.said}), top.starts.device)
    candidates = ranker.candidates(mentions, top)
    width = candidates.shape[1]
    rows = {span: row for row, span in enumerate(top.spans)}
    for group in labels.together:
        known = sorted(rows[span] for span in group if span in rows)
        for place, row in enumerate(known[1:], start=1):
            earlier = known[max(0, place - MOST_FORCED) : place]
            missing = [each for each in earlier if not bool((candidates[row] == each).any())]
            for column, each in enumerate(missing[:width], start=1):  # replaces the least probable
                candidates[row, -column] = each
    return ranker.pairs(inputs, mentions, top, candidates)


def _answered(ranking: Ranking, labels: Labels) -> tuple[Tensor, Tensor]:
    """[N, 1 + K] what answers allow, and [N] the rows they are about."""
    allowed = _same(ranking, labels.together)
    linked = allowed[:, 1:].any(1)
    excluded = _excluded(ranking, labels.apart)
    restricted = excluded.any(1)
    only_restricted = restricted & ~linked
    allowed[only_restricted] = ~excluded[only_restricted] & torch.isfinite(ranking.scores[only_restricted])
    known = {span.hull for span in labels.first}
    first = torch.tensor([span in known for span in ranking.top.spans], dtype=torch.bool, device=allowed.device)
    allowed[first] = False
    allowed[first, 0] = True
    return allowed, linked | restricted | first


def _same(ranking: Ranking, clusters: Iterable[Iterable[Span]]) -> Tensor:
    """[N, 1 + K] the candidates in the row's own cluster; epsilon where there are none."""
    owner = {span.hull: number for number, cluster in enumerate(clusters, 1) for span in cluster}
    numbers = [owner.get(span, 0) for span in ranking.top.spans]
    own = torch.tensor(numbers, dtype=torch.long, device=ranking.scores.device)
    others = own[ranking.candidates.clamp(min=0)]
    same = (others == own[:, None]) & (own[:, None] > 0) & (ranking.candidates >= 0)
    return torch.cat([~same.any(1, keepdim=True), same], dim=1)


def _excluded(ranking: Ranking, apart: Iterable[tuple[Span, Span]]) -> Tensor:
    """[N, 1 + K] the candidates that a row is known not to corefer with."""
    index = {span: row for row, span in enumerate(ranking.top.spans)}
    excluded = torch.zeros_like(ranking.scores, dtype=torch.bool)
    banned: dict[int, list[int]] = {}
    for left, right in apart:
        one, two = index.get(left.hull), index.get(right.hull)
        if one is not None and two is not None:
            banned.setdefault(max(one, two), []).append(min(one, two))
    for row, others in banned.items():
        excluded[row, 1:] = torch.isin(ranking.candidates[row], torch.tensor(others, device=excluded.device))
    return excluded

"""The paper's ranker as one would first write it: the reference that the fast one is tested and timed against.

Every span and every pair is one row of a matrix, its parts concatenated, as the formulas read:

    g_i     = [x_start; x_end; sum of attention x tokens; width]
    s_m(i)  = FFNN(g_i)
    s(i, j) = s_m(i) + s_m(j) + FFNN([g_i; g_j; g_i * g_j; features])

It takes its parameters from a `SpanRanker`, so that outputs and gradients can be compared one by one, and shares
none of its code for spans and pairs.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from corefine.models.network.inputs import Inputs
from corefine.models.network.pair_features import DISTANCES
from corefine.models.network.pairs import PairScorer
from corefine.models.network.ranker import Ranking, SpanRanker
from corefine.models.network.spans import MentionScores, SpanScorer, TopSpans


def naive_ranking(ranker: SpanRanker, inputs: Inputs) -> Ranking:
    """What `ranker(inputs)` is, the slow way. Only the nearest candidates; no switch of Lee et al. 2018."""
    head = ranker.config.head
    tokens = ranker.tokens(inputs)  # [T, D]

    length = inputs.length
    grid = [(start, start + width) for start in range(length) for width in range(head.max_span_width)]
    listed = [(start, end) for start, end in grid if end < length]
    if head.within_sentences:
        listed = [(start, end) for start, end in listed if inputs.sentences[start] == inputs.sentences[end]]
    starts, ends = torch.tensor(listed, dtype=torch.long).reshape(-1, 2).t()  # [S]
    spans = _representations(ranker.spans, tokens, starts, ends)  # [S, G]
    scores = _network(spans, ranker.spans, head.dropout)  # [S]

    keep = min(max(head.min_spans, int(head.spans_per_word * length)), len(scores))
    kept = scores.topk(keep).indices.sort().values  # spans were listed in document order
    top = TopSpans(starts[kept], ends[kept])
    g, mention_scores = spans[kept], scores[kept]  # [N, G], [N]

    own = torch.arange(keep)[:, None]
    candidates = (own - 1 - torch.arange(min(head.candidates, max(keep - 1, 0)))).clamp(min=-1)  # [N, K]
    others = candidates.clamp(min=0)
    pairs = _pairs(ranker.pair, inputs, top, g, others)  # [N, K, everything]
    antecedents = _network(pairs, ranker.pair, head.dropout) + mention_scores[:, None] + mention_scores[others]
    antecedents = antecedents.masked_fill(candidates < 0, float("-inf"))
    scores_with_epsilon = torch.cat([antecedents.new_zeros(keep, 1), antecedents], dim=1)  # [N, 1 + K]

    table = scores.new_full((length, head.max_span_width), float("-inf"))
    table = table.index_put((starts, ends - starts), scores)
    mentions = MentionScores(table, tokens, ranker.spans.attention(tokens).squeeze(1))
    return Ranking(top, mention_scores, candidates, scores_with_epsilon, mentions)


def _representations(scorer: SpanScorer, tokens: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
    """g of every span, [S, 3 D + F]."""
    inside = starts[:, None] + torch.arange(scorer.config.max_span_width)  # [S, W]
    outside = inside > ends[:, None]
    inside = inside.clamp(max=len(tokens) - 1)
    attention = scorer.attention(tokens).squeeze(1)[inside]  # [S, W]
    weights = attention.masked_fill(outside, float("-inf")).softmax(1)
    head = (weights[:, :, None] * tokens[inside]).sum(1)  # [S, D]
    return torch.cat([tokens[starts], tokens[ends], head, scorer.widths(ends - starts)], dim=1)


def _pairs(scorer: PairScorer, inputs: Inputs, top: TopSpans, g: Tensor, others: Tensor) -> Tensor:
    """[g_i; g_j; g_i * g_j; features] of every pair, [N, K, everything]."""
    size, reach = others.shape
    mine = g[:, None].expand(-1, reach, -1)  # [N, K, G]
    theirs = g[others]  # [N, K, G]
    product = mine * theirs if scorer.project is None else scorer.project(mine) * scorer.project(theirs)
    distance = torch.arange(size)[:, None] - others
    features = [scorer.distances(sum((distance >= bound).long() for bound in DISTANCES))]  # [N, K, F]
    if scorer.matches is not None:
        words = [tuple(inputs.words[span.start : span.end + 1].tolist()) for span in top.spans]
        same = [
            [(words[row] == words[other]) + (words[row][-1] == words[other][-1]) for other in line]
            for row, line in enumerate(others.tolist())
        ]
        features.append(scorer.matches(torch.tensor(same, dtype=torch.long).reshape(size, reach)))
    if scorer.speakers is not None:
        speaker = inputs.speakers[top.starts]
        known = (speaker[:, None] > 0) & (speaker[others] > 0)
        same_speaker = (speaker[:, None] == speaker[others]).long()
        features.append(scorer.speakers(torch.where(known, 1 + same_speaker, 0)))
    if scorer.genres is not None:
        features.append(scorer.genres(torch.full((size, reach), inputs.genre)))
    return torch.cat([mine, theirs, product, *features], dim=2)


def _network(values: Tensor, scorer: SpanScorer | PairScorer, dropout: float) -> Tensor:
    """The feed-forward network over concatenations: [..., everything] -> [...]."""
    layers: list[nn.Module] = [scorer.first, *scorer.deeper]
    for layer in layers:
        values = F.dropout(torch.relu(layer(values)), dropout, scorer.training)
    score: Tensor = scorer.score(values).squeeze(-1)
    return score

"""All spans, their scores, and which are kept."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from corefine.document import Document, Span
from corefine.models.network.config import HeadConfig
from corefine.models.network.inputs import make_inputs
from corefine.models.network.spans import MentionScores, SpanScorer, TopSpans, prune


def scores_of(table: torch.Tensor) -> MentionScores:
    return MentionScores(table, torch.zeros(len(table), 1), torch.zeros(len(table)))


@st.composite
def tables(draw: st.DrawFn) -> torch.Tensor:
    """Scores of all spans of a document, some of which do not exist."""
    length, reach, seed = draw(st.integers(1, 25)), draw(st.integers(1, 6)), draw(st.integers(0, 10_000))
    table = torch.randn(length, reach, generator=torch.Generator().manual_seed(seed))
    table[torch.arange(length)[:, None] + torch.arange(reach) >= length] = float("-inf")
    return table


@given(table=tables(), share=st.floats(0.05, 3))
def test_the_best_spans_are_kept_in_document_order(table: torch.Tensor, share: float) -> None:
    top = prune(scores_of(table), HeadConfig(spans_per_word=share, min_spans=1))
    spans = top.spans
    assert list(spans) == sorted(set(spans))
    assert len(spans) == min(max(1, int(share * len(table))), int(torch.isfinite(table).sum()))
    kept = {(span.start, span.end - span.start) for span in spans}
    worst = min(float(table[place]) for place in kept)
    others = [float(table[s, w]) for s in range(len(table)) for w in range(table.shape[1]) if (s, w) not in kept]
    assert all(score <= worst for score in others)


def crossing(one: Span, two: Span) -> bool:
    return one.start < two.start <= one.end < two.end or two.start < one.start <= two.end < one.end


@given(table=tables(), share=st.floats(0.05, 3))
def test_no_kept_span_crosses_another(table: torch.Tensor, share: float) -> None:
    config = HeadConfig(spans_per_word=share, min_spans=1, non_crossing=True)
    spans = prune(scores_of(table), config).spans
    assert not any(crossing(one, two) for one in spans for two in spans)
    # Greedy, best first: what was left out crosses something better, or there was no room.
    wanted = max(1, int(share * len(table)))
    chosen: list[Span] = []
    places = [(s, w) for s in range(len(table)) for w in range(table.shape[1]) if torch.isfinite(table[s, w])]
    for start, width in sorted(places, key=lambda place: -float(table[place])):
        span = Span(start, start + width)
        if len(chosen) < wanted and not any(crossing(span, other) for other in chosen):
            chosen.append(span)
    assert sorted(chosen) == list(spans)


def test_spans_may_be_held_within_sentences() -> None:
    doc = Document.from_sentences("d", [["a", "b"], ["c", "d", "e"]])
    inputs = make_inputs(doc, torch.randn(5, 4))
    for within, count in ((True, 3 + 6), (False, 5 + 4 + 3)):
        scorer = SpanScorer(HeadConfig(max_span_width=3, within_sentences=within), 4)
        found = torch.isfinite(scorer(inputs.states, inputs.sentences).scores)
        assert int(found.sum()) == count


def test_the_head_is_a_weighted_mean_of_the_span_alone() -> None:
    torch.manual_seed(0)
    scorer = SpanScorer(HeadConfig(max_span_width=4, feature_width=3), 6)
    tokens = torch.randn(9, 6)
    mentions = scorer(tokens, torch.zeros(9, dtype=torch.long))
    g = scorer.represent(mentions, TopSpans.of([Span(2, 4), Span(8, 8)]))
    weights = mentions.attention[2:5].softmax(0)
    torch.testing.assert_close(g[0, 12:18], weights @ tokens[2:5])
    torch.testing.assert_close(g[0, :12], torch.cat([tokens[2], tokens[4]]))
    torch.testing.assert_close(g[1], torch.cat([tokens[8], tokens[8], tokens[8], scorer.widths.weight[0]]))


def test_attention_far_out_of_range_does_not_break_scores() -> None:
    """A plain running sum of exponentials would overflow, or divide nothing by nothing."""
    scorer = SpanScorer(HeadConfig(max_span_width=4), 6)
    with torch.no_grad():
        scorer.attention.weight.mul_(1e4)
    mentions = scorer(torch.randn(20, 6), torch.zeros(20, dtype=torch.long))
    assert not torch.isnan(mentions.scores).any()
    assert torch.isfinite(mentions.scores).sum() == 20 * 4 - 6

"""What labels permit, and the likelihood of it."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from corefine.annotation.labels import Labels, label_policy
from corefine.document import Document, Span
from corefine.models.network.ranker import Ranking
from corefine.models.network.spans import MentionScores, TopSpans
from corefine.models.training.loss import Targets, marginal_loss, mention_loss, targets_for

A, B, C, D = Span(0, 0), Span(1, 2), Span(4, 4), Span(6, 7)
DOCUMENT = Document.from_sentences("d", [["x"] * 8])


def of_clusters(ranking: Ranking, clusters: list[list[Span]]) -> Targets:
    return targets_for(ranking, Labels(DOCUMENT.with_clusters(clusters)), label_policy("pseudo", 0))


def of_answers(
    ranking: Ranking, *, clusters: list[list[Span]] | None = None, rest: float = 0.0, **said: Any
) -> Targets:
    labels = Labels(DOCUMENT.with_clusters(clusters or []), full=False, **said)
    return targets_for(ranking, labels, label_policy("mix" if clusters else "answered", rest))


@pytest.fixture
def ranking() -> Ranking:
    """Four top spans with two candidates each, nearest first."""
    candidates = torch.tensor([[-1, -1], [0, -1], [1, 0], [2, 1]])
    scores = torch.tensor([[0.0, -math.inf, -math.inf], [0.0, 1.0, -math.inf], [0.0, 2.0, -1.0], [0.0, 0.5, 3.0]])
    mentions = MentionScores(torch.zeros(8, 3), torch.zeros(8, 1), torch.zeros(8))
    return Ranking(TopSpans.of([A, B, C, D]), torch.zeros(4), candidates, scores.requires_grad_(), mentions)


def probabilities(ranking: Ranking) -> torch.Tensor:
    return ranking.scores.softmax(1)


def rows(targets: Targets) -> list[list[bool]]:
    return targets.allowed.tolist()


def test_full_labels_permit_the_antecedents_of_the_cluster(ranking: Ranking) -> None:
    targets = of_clusters(ranking, [[A, C], [B, D]])
    assert rows(targets) == [
        [True, False, False],
        [True, False, False],
        [False, False, True],
        [False, False, True],
    ]
    p = probabilities(ranking)
    expected = -(p[1, 0].log() + p[2, 2].log() + p[3, 2].log())
    torch.testing.assert_close(marginal_loss(ranking, targets), expected)


def test_an_antecedent_beyond_the_candidates_leaves_epsilon(ranking: Ranking) -> None:
    targets = of_clusters(ranking, [[A, D]])
    assert all(row == [True, False, False] for row in rows(targets))


def test_several_antecedents_are_summed(ranking: Ranking) -> None:
    targets = of_clusters(ranking, [[A, B, C]])
    p = probabilities(ranking)
    expected = -(p[1, 1].log() + (p[2, 1] + p[2, 2]).log() + p[3, 0].log())
    torch.testing.assert_close(marginal_loss(ranking, targets), expected)


def test_spans_of_no_cluster_do_not_corefer_with_each_other(ranking: Ranking) -> None:
    assert all(row == [True, False, False] for row in rows(of_clusters(ranking, [])))


def test_answers_count_only_where_they_were_given(ranking: Ranking) -> None:
    targets = of_answers(ranking, together=[[A, C]])
    assert targets.weights.tolist() == [0, 0, 1, 0]
    torch.testing.assert_close(marginal_loss(ranking, targets), -probabilities(ranking)[2, 2].log())


def test_a_cannot_link_lowers_only_its_own_mass(ranking: Ranking) -> None:
    targets = of_answers(ranking, apart=[(D, B)])
    assert targets.weights.tolist() == [0, 0, 0, 1]
    torch.testing.assert_close(marginal_loss(ranking, targets), -(1 - probabilities(ranking)[3, 2]).log())


def test_a_must_link_says_more_than_a_cannot_link(ranking: Ranking) -> None:
    targets = of_answers(ranking, together=[[D, C]], apart=[(B, D)])
    assert rows(targets)[3] == [False, True, False]


def test_a_first_appearance_is_epsilon(ranking: Ranking) -> None:
    targets = of_answers(ranking, together=[[C, D]], first=[C])
    assert targets.weights.tolist() == [0, 0, 1, 1]
    assert rows(targets)[2] == [True, False, False]


def test_links_to_spans_that_are_not_top_spans_do_no_harm(ranking: Ranking) -> None:
    targets = of_answers(ranking, together=[[Span(5, 5), D]], apart=[(Span(5, 5), C)], first=[Span(3, 3)])
    assert not targets.weights.any()
    assert marginal_loss(ranking, targets) == 0


def test_a_mix_takes_the_models_labels_for_the_rest(ranking: Ranking) -> None:
    targets = of_answers(ranking, apart=[(D, B)], clusters=[[A, B]], rest=0.3)
    torch.testing.assert_close(targets.weights, torch.tensor([0.3, 0.3, 0.3, 1.0]))
    assert rows(targets)[1] == [False, True, False]
    assert rows(targets)[3] == [True, True, False]


def test_in_parts_annotated_in_full_only_answers_link(ranking: Ranking) -> None:
    """The clusters may hold links of the model there, from text that was not annotated."""
    targets = of_answers(ranking, clusters=[[A, B, C, D]], together=[[C, D]], complete=(Span(4, 7),), rest=0.3)
    assert rows(targets)[2:] == [[True, False, False], [False, True, False]]
    assert targets.weights.tolist() == pytest.approx([0.3, 0.3, 1, 1])


def test_gradients_are_finite_with_padding(ranking: Ranking) -> None:
    marginal_loss(ranking, of_clusters(ranking, [[A, C], [B, D]])).backward()  # type: ignore[no-untyped-call]
    assert ranking.scores.grad is not None
    assert torch.isfinite(ranking.scores.grad).all()
    assert ranking.scores.grad[3, 2] < 0 < ranking.scores.grad[3, 1]


def test_singletons_are_mentions_and_wider_spans_are_left_out() -> None:
    scores = torch.tensor([[2.0, -1.0], [0.0, -math.inf]])
    mentions = MentionScores(scores, torch.zeros(2, 1), torch.zeros(2))
    expected = math.log1p(math.exp(-2)) + math.log1p(math.exp(-1)) + math.log(2)
    assert float(mention_loss(mentions, [[Span(0, 0)], [Span(0, 5)]])) == pytest.approx(expected)

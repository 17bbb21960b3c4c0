"""The fast ranker against the plain one, and what a ranking always is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corefine.annotation.labels import Labels
from corefine.document import Document, Span
from corefine.models.network.config import HeadConfig, ModelConfig
from corefine.models.network.inputs import Inputs, make_inputs
from corefine.models.network.ranker import SpanRanker
from corefine.models.network.spans import TopSpans
from corefine.models.training.loss import marginal_loss, targets_for
from naive import naive_ranking

WIDTH = 12


def document(length: int, *, seed: int = 0) -> Document:
    """Words that repeat, two speakers and nobody, sentences of seven tokens."""
    chance = torch.Generator().manual_seed(seed)
    words = [f"w{number}" for number in torch.randint(0, 6, (length,), generator=chance).tolist()]
    sentences = [words[start : start + 7] for start in range(0, length, 7)]
    speakers = tuple((None, "Ann", "Bob")[token // 5 % 3] for token in range(length))
    clusters = [[(start, start + start % 3) for start in range(first, length - 3, 9)] for first in range(4)]
    return Document.from_sentences("tiny", sentences, filter(None, clusters), speakers=speakers, genre="play")


def inputs_of(doc: Document, *, layers: int = 1, genres: tuple[str, ...] = ()) -> Inputs:
    chance = torch.Generator().manual_seed(len(doc))
    shape = (layers, len(doc), WIDTH) if layers > 1 else (len(doc), WIDTH)
    return make_inputs(doc, torch.randn(shape, generator=chance), genres)


def ranker_of(*, layers: int = 1, **head: Any) -> SpanRanker:
    torch.manual_seed(3)
    sizes = {"hidden": 11, "feature_width": 5, "pair_width": 6, "candidates": 9, "context_width": 4}
    sizes |= {"coarse_to_fine": False, "string_match": False, "surface": False}
    ranker = SpanRanker(ModelConfig(head=HeadConfig(**{**sizes, **head})), WIDTH, layers)
    return ranker.eval()


def gradients(ranker: SpanRanker, loss: torch.Tensor) -> dict[str, torch.Tensor]:
    ranker.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    return {name: value.grad.clone() for name, value in ranker.named_parameters() if value.grad is not None}


HEADS = st.fixed_dictionaries(
    {
        "pair_width": st.sampled_from(["full", 6]),
        "pair_depth": st.integers(1, 3),
        "mention_depth": st.integers(1, 3),
        "max_span_width": st.integers(1, 6),
        "candidates": st.integers(1, 40),
        "spans_per_word": st.sampled_from([0.1, 0.4, 1.5]),
        "min_spans": st.sampled_from([1, 6]),
        "speakers": st.booleans(),
        "string_match": st.booleans(),
        "surface": st.booleans(),
        "genres": st.sampled_from([(), ("play",), ("news",)]),
        "within_sentences": st.booleans(),
        "context": st.sampled_from(["none", "lstm"]),
    }
)


NEAR_ZERO = {
    "pair_width": "full", "pair_depth": 1, "mention_depth": 1, "max_span_width": 1, "candidates": 1,
    "spans_per_word": 0.4, "min_spans": 1, "speakers": False, "string_match": False, "surface": True, "genres": (),
    "within_sentences": False, "context": "none",
}  # fmt: skip
"""With 39 tokens and three layers, the input of a relu is 0 but for rounding."""


@settings(max_examples=40)
@example(head=NEAR_ZERO, length=39, layers=3)
@given(head=HEADS, length=st.integers(1, 60), layers=st.sampled_from([1, 3]))
def test_it_is_the_papers_function(head: dict[str, Any], length: int, layers: int) -> None:
    doc = document(length)
    ranker = ranker_of(layers=layers, **head)
    inputs = inputs_of(doc, layers=layers, genres=head["genres"])
    try:
        check_same(ranker, inputs, doc)
    except AssertionError:
        # If the input of a relu is 0 but for rounding, its gradient is 0 in one of the two and 1 in the other. That
        # happens for single inputs; a mistake would show with others, too.
        check_same(ranker, replace(inputs, states=1.001 * inputs.states), doc)


def check_same(ranker: SpanRanker, inputs: Inputs, doc: Document) -> None:
    fast, slow = ranker(inputs), naive_ranking(ranker, inputs)
    assert fast.top.spans == slow.top.spans
    assert torch.equal(fast.candidates, slow.candidates)
    torch.testing.assert_close(fast.scores, slow.scores, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(fast.mentions.scores, slow.mentions.scores, atol=1e-4, rtol=1e-4)

    targets = targets_for(slow, Labels(doc))
    expected = gradients(ranker, marginal_loss(slow, targets))
    found = gradients(ranker, marginal_loss(fast, targets))
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value, atol=1e-4, rtol=1e-4, msg=lambda m, n=name: f"{n}: {m}")


def test_a_change_of_the_function_is_noticed() -> None:
    """The comparison above could not tell two functions apart if both ignored an input."""
    doc = document(50)
    inputs = inputs_of(doc)
    for feature, table in (("speakers", "speakers"), ("string_match", "matches")):
        ranker = ranker_of(**{feature: True})
        before = ranker(inputs).scores
        with torch.no_grad():
            getattr(ranker.pair, table).weight.mul_(3)
        assert not torch.allclose(before, ranker(inputs).scores)


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("length", [0, 1, 2, 3])
def test_tiny_documents(length: int, coarse: bool) -> None:
    ranking = ranker_of(coarse_to_fine=coarse, context="lstm", string_match=True)(inputs_of(document(length)))
    prediction = ranking.prediction()
    assert len(prediction) == [0, 1, 3, 6][length]  # however few words, the best six spans are kept


@settings(max_examples=25)
@given(length=st.integers(0, 60), coarse=st.booleans(), window=st.integers(1, 30), candidates=st.integers(1, 30))
def test_a_ranking_is_a_prediction(length: int, coarse: bool, window: int, candidates: int) -> None:
    ranker = ranker_of(coarse_to_fine=coarse, coarse_window=window, candidates=candidates)
    ranking = ranker(inputs_of(document(length)))
    prediction = ranking.prediction()  # a Prediction checks itself
    assert (ranking.scores[:, 0] == 0).all()
    assert (torch.isfinite(ranking.scores[:, 1:]) == (ranking.candidates >= 0)).all()
    for row, listed in enumerate(prediction.candidates.tolist()):
        real = [other for other in listed if other >= 0]
        assert len(real) == min(row, candidates, window if coarse else row)
        assert all(row - other <= window for other in real) or not coarse


def test_prediction_may_consider_more_candidates_than_training() -> None:
    inputs = inputs_of(document(60))
    for coarse in (False, True):
        ranker = ranker_of(coarse_to_fine=coarse, candidates=3, candidates_predicted=11)
        assert ranker.train()(inputs).candidates.shape[1] == 3
        assert ranker.eval()(inputs).candidates.shape[1] == 11


def test_coarse_to_fine_with_room_for_all_ranks_all() -> None:
    """With K at least N it considers the same pairs as the nearest K do, and scores them with the same network."""
    inputs = inputs_of(document(60))
    coarse = ranker_of(coarse_to_fine=True, candidates=100)
    near = ranker_of(candidates=100)
    near.load_state_dict(coarse.state_dict(), strict=False)
    with torch.no_grad():
        coarse.pair.coarse_left.weight.zero_()
        coarse.pair.coarse_left.bias.zero_()
    one, two = coarse(inputs), near(inputs)
    for row in range(len(one.top)):
        pairs = [
            {c: s for c, s in zip(r.candidates[row].tolist(), r.scores[row, 1:].tolist(), strict=True) if c >= 0}
            for r in (one, two)
        ]
        assert pairs[0] == pytest.approx(pairs[1], abs=1e-4)


def test_the_coarse_score_is_trained() -> None:
    doc = document(60)
    ranker = ranker_of(coarse_to_fine=True, candidates=4)
    ranking = ranker(inputs_of(doc))
    found = gradients(ranker, marginal_loss(ranking, targets_for(ranking, Labels(doc))))
    assert found["pair.coarse_left.weight"].abs().sum() > 0
    assert found["pair.coarse_right.weight"].abs().sum() > 0


def test_members_of_a_committee_rank_the_same_spans() -> None:
    inputs = inputs_of(document(60))
    members = [ranker_of(), ranker_of()]
    torch.manual_seed(9)
    for parameter in members[1].parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    scored = [member.mentions(inputs) for member in members]
    top = members[0].prune(scored)
    rankings = [member.pairs(inputs, own, top) for member, own in zip(members, scored, strict=True)]
    assert rankings[0].top.spans == rankings[1].top.spans
    assert torch.equal(rankings[0].candidates, rankings[1].candidates)
    assert not torch.allclose(rankings[0].scores, rankings[1].scores)
    mean = torch.stack([own.scores for own in scored]).mean(0)
    columns = top.ends - top.starts
    dropped = mean.clone()
    dropped[top.starts, columns] = float("-inf")
    assert mean[top.starts, columns].min() >= dropped.max()


def test_given_spans_are_ranked_even_if_wider_than_any_scored() -> None:
    """A person may mark what the model would never propose."""
    inputs = inputs_of(document(60))
    ranker = ranker_of(max_span_width=3)
    mentions = ranker.mentions(inputs)
    spans = [Span(2, 4), Span(0, 0), Span(5, 30)]
    ranking = ranker.pairs(inputs, mentions, TopSpans.of(spans))
    assert ranking.top.spans == (Span(0, 0), Span(2, 4), Span(5, 30))
    assert torch.isfinite(ranking.mention_scores).all()
    torch.testing.assert_close(ranking.mention_scores[0], mentions.scores[0, 0])


def test_dropout_only_while_training() -> None:
    inputs = inputs_of(document(40))
    ranker = ranker_of(dropout=0.5, state_dropout=0.5)
    assert torch.equal(ranker(inputs).scores, ranker(inputs).scores)
    ranker.train()
    assert not torch.equal(ranker(inputs).mentions.scores, ranker(inputs).mentions.scores)


def test_memory_of_a_long_document_is_bounded_by_blocks() -> None:
    """Far more pairs than a block holds give the same scores as one block."""
    from corefine.models.network import hidden_layers

    inputs = inputs_of(document(200))
    ranker = ranker_of(candidates=50)
    whole = ranker(inputs).scores
    before = dict(hidden_layers.BLOCK)
    try:
        hidden_layers.BLOCK["cpu"] = 1
        torch.testing.assert_close(ranker(inputs).scores, whole)
    finally:
        hidden_layers.BLOCK.update(before)


@pytest.mark.parametrize("head", [{}, {"context": "scan"}, {"pair_depth": 2, "coarse_to_fine": False}])
def test_mixed_precision_gives_about_the_same_scores_and_gradients(head: dict[str, Any]) -> None:
    """As in training on a GPU, where the pair network raised an error: its parts had different types of numbers."""
    doc = document(30)
    ranker = ranker_of(**head)
    top = ranker(inputs_of(doc)).top
    found = []
    for mixed in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
            ranking = ranker.pairs(inputs_of(doc), ranker.mentions(inputs_of(doc)), top)
        gradient = gradients(ranker, marginal_loss(ranking, targets_for(ranking, Labels(doc))))
        found.append((ranking, gradient["pair.first.weight"]))
    (exact, exact_gradient), (half, half_gradient) = found
    assert torch.equal(exact.candidates, half.candidates)
    assert not torch.equal(exact.scores, half.scores)
    assert torch.allclose(exact.scores, half.scores.float(), atol=0.1)
    assert torch.cosine_similarity(exact_gradient.flatten(), half_gradient.flatten(), dim=0) > 0.98

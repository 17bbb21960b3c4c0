"""The pair network in blocks: its gradients, its features, its candidates."""

from __future__ import annotations

import pytest
import torch

from corefine.document import Document
from corefine.models.network import hidden_layers
from corefine.models.network.config import HeadConfig
from corefine.models.network.inputs import make_inputs
from corefine.models.network.pair_features import DISTANCES
from corefine.models.network.pair_network import PairNetwork
from corefine.models.network.pairs import PairScorer
from corefine.models.network.spans import TopSpans

CPU = torch.device("cpu")


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("block", [1, 10_000])
@pytest.mark.parametrize("kept", [0, 10_000])
def test_gradients_are_those_of_the_function(
    depth: int, dropout: bool, block: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finite differences, in double precision, with small blocks and with one, layers kept or computed again."""
    monkeypatch.setitem(hidden_layers.BLOCK, "cpu", block)
    monkeypatch.setattr("corefine.models.network.pair_network.MOST_KEPT", kept)
    torch.manual_seed(depth)
    size, reach, hidden, width, codes = 6, 4, 5, 3, 7

    def numbers(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.double, requires_grad=True)

    candidates = (torch.arange(size)[:, None] - 1 - torch.arange(reach)).clamp(min=0)
    masks = (torch.rand(depth, size, hidden) > 0.4).double() / 0.6 if dropout else None
    deeper = [value for _ in range(depth - 1) for value in (numbers(hidden, hidden), numbers(hidden))]
    tensors = [numbers(size, hidden), numbers(size, hidden), numbers(codes, hidden), numbers(size, width)]
    tensors += [numbers(hidden, width), numbers(hidden)]
    which = torch.randint(0, codes, (size, reach))

    def network(*values: torch.Tensor) -> torch.Tensor:
        return PairNetwork.apply(*values[:6], candidates, which, masks, True, *values[6:])

    assert torch.autograd.gradcheck(network, (*tensors, *deeper))


def test_distances_fall_into_the_papers_buckets() -> None:
    """1, 2, 3, 4, 5-7, 8-15, 16-31, 32-63, 64 and more."""
    buckets = torch.bucketize(
        torch.tensor([1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 500]), torch.tensor(DISTANCES), right=True
    )
    assert buckets.tolist() == [1, 2, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9]


def test_the_nearest_come_first_and_precede() -> None:
    scorer = PairScorer(HeadConfig(candidates=3), 8)
    assert scorer.nearest(5, CPU).tolist() == [[-1, -1, -1], [0, -1, -1], [1, 0, -1], [2, 1, 0], [3, 2, 1]]
    assert scorer.nearest(0, CPU).shape == (0, 0)
    assert scorer.nearest(1, CPU).shape == (1, 0)


def test_coarse_keeps_the_best_by_its_own_score() -> None:
    torch.manual_seed(1)
    scorer = PairScorer(HeadConfig(coarse_to_fine=True, candidates=4), 8)
    spans, mentions = torch.randn(30, 8), torch.randn(30)
    candidates, scores = scorer.coarse(scorer.sides(spans), mentions)
    assert scorer.coarse_left is not None
    assert scorer.coarse_right is not None
    table = scorer.coarse_left(spans) @ scorer.coarse_right(spans).t()
    for row in range(30):
        by_score = sorted(range(row), key=lambda other: float((table[row, other] + mentions[other]).detach()))
        expected = by_score[::-1][:4]
        assert candidates[row].tolist() == expected + [-1] * (4 - len(expected))
        for column, other in enumerate(expected):
            torch.testing.assert_close(scores[row, column], table[row, other])


def test_features_tell_strings_and_speakers_apart() -> None:
    """Codes of pairs agree exactly where distance, words and speakers do."""
    doc = Document.from_sentences(
        "talk", [["Anna", "saw", "anna", "and", "Bob", "saw", "Anna"]], speakers=("x", "x", "y", "y", None, "x", "x")
    )
    scorer = PairScorer(HeadConfig(string_match=True, speakers=True, candidates=3), 8)
    top = TopSpans(torch.tensor([0, 2, 4, 6]), torch.tensor([0, 2, 4, 6]))
    others = scorer.nearest(4, CPU).clamp(min=0)
    weight = scorer.first.weight[:, -60:]
    codes, table = scorer._features(make_inputs(doc, torch.zeros(7, 8)), top, others, weight)
    assert len(table) == (len(DISTANCES) + 1) * 3 * 3

    def code(distance: int, match: int, speaker: int) -> int:
        return (distance * 3 + match) * 3 + speaker

    assert codes[1, 0] == code(1, 2, 1)  # anna ~ Anna, another speaker
    assert codes[2].tolist()[:2] == [code(1, 0, 0), code(2, 0, 0)]  # Bob's speaker is unknown
    assert codes[3].tolist() == [code(1, 0, 0), code(2, 2, 1), code(3, 2, 2)]
    parts = weight.split(20, dim=1)
    assert scorer.matches is not None
    assert scorer.speakers is not None
    expected = sum(
        values.weight[number] @ part.t()
        for values, number, part in zip(
            (scorer.distances, scorer.matches, scorer.speakers), (3, 2, 2), parts, strict=True
        )
    )
    torch.testing.assert_close(table[code(3, 2, 2)], expected)

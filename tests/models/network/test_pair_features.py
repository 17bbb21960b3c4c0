"""What two spans share."""

from __future__ import annotations

import torch

from corefine.document import Document
from corefine.models.network.inputs import make_inputs
from corefine.models.network.pair_features import SpanWords
from corefine.models.network.spans import TopSpans


def test_words_match_wholly_or_at_the_end() -> None:
    tokens = "Old Anna saw anna and old anna".split()
    inputs = make_inputs(Document.from_sentences("tiny", [tokens]), torch.zeros(len(tokens), 2))
    words = SpanWords.of(inputs, TopSpans.of([(0, 1), (3, 3), (4, 4), (5, 6)]))
    places = torch.arange(4)
    assert words.matches(places[:, None], places[None]).tolist()[0] == [2, 1, 0, 2]


def test_documents_without_words_or_spans() -> None:
    inputs = make_inputs(Document.from_sentences("empty", []), torch.zeros(0, 2))
    words = SpanWords.of(inputs, TopSpans.of([]))
    own, others = torch.zeros(0, 1, dtype=torch.long), torch.zeros(0, 0, dtype=torch.long)
    assert words.matches(own, others).shape == (0, 0)

"""What the head reads of a document."""

from __future__ import annotations

import pytest
import torch

from corefine.document import Document
from corefine.errors import InputError
from corefine.models.network.inputs import Surface, make_features, make_inputs

DOCUMENT = Document.from_sentences(
    "d",
    [["The", "old", "Anna", "said", ":", '"', "NATO", "left", "in", "1949", '"'], ["the", "End"]],
    speakers=(None, None, "A", "A", "A", "B", "B", "B", "A", "A", "A", "A", "A"),
    genre="news",
)


def test_numbers_are_equal_where_values_are() -> None:
    inputs = make_inputs(DOCUMENT, torch.zeros(13, 4), ("play", "news"))
    assert inputs.length == 13
    assert inputs.sentences.tolist() == [0] * 11 + [1] * 2
    assert inputs.speakers.tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1]
    words = inputs.words.tolist()
    assert words[0] == words[11]  # The, the
    assert words[5] == words[10]
    assert len(set(words)) == 11
    assert inputs.genre == 2
    assert make_inputs(DOCUMENT, torch.zeros(13, 4)).genre == 0


def test_how_tokens_are_written() -> None:
    surfaces = make_inputs(DOCUMENT, torch.zeros(13, 4)).surfaces
    kinds = [Surface(number // 2) for number in surfaces.tolist()]
    assert kinds[:5] == [Surface.FIRST, Surface.LOWER, Surface.CAPITALISED, Surface.LOWER, Surface.MARK]
    assert kinds[6] == Surface.UPPER
    assert kinds[9] == Surface.DIGITS
    assert [number % 2 for number in surfaces.tolist()] == [0] * 5 + [1] * 5 + [0] * 3


@pytest.mark.parametrize(
    ("tokens", "inside"),
    [
        (["“", "a", "”", "b"], [1, 1, 0, 0]),
        (["``", "a", "''", "b"], [1, 1, 0, 0]),
        (["''", "a"], [0, 0]),
        (['"', "a", '"', "b", '"', "c"], [1, 1, 0, 0, 1, 1]),
    ],
)
def test_quotation(tokens: list[str], inside: list[int]) -> None:
    inputs = make_inputs(Document.from_sentences("q", [tokens]), torch.zeros(len(tokens), 1))
    assert [number % 2 for number in inputs.surfaces.tolist()] == inside


@pytest.mark.parametrize("shape", [(12, 4), (13,), (2, 12, 4)])
def test_states_must_be_of_this_document(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="for 13 tokens"):
        make_inputs(DOCUMENT, torch.zeros(shape))


def test_a_cut_does_not_keep_the_whole_document_in_memory() -> None:
    document = Document.from_sentences("d", [["a"] * 100])
    cut = make_features(document).cut(10, 20)
    assert cut.words.untyped_storage().nbytes() == cut.words.nbytes

"""What two spans share: words, names, a quotation."""

from __future__ import annotations

import torch

from corefine.document import Document
from corefine.models.network.inputs import Inputs, make_inputs
from corefine.models.network.pair_features import SpanWords, quotations
from corefine.models.network.spans import TopSpans


def inputs_of(text: str) -> Inputs:
    tokens = text.split()
    return make_inputs(Document.from_sentences("tiny", [tokens]), torch.zeros(len(tokens), 2))


def spans(*places: tuple[int, int]) -> TopSpans:
    return TopSpans(*torch.tensor(places).t())


def places(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.arange(size)[:, None], torch.arange(size)[None]


def test_a_name_is_shared_whichever_word_of_the_span_it_is() -> None:
    top = spans((0, 2), (4, 4), (6, 7), (9, 10))
    words = SpanWords.of(inputs_of("Mr. George Knightley met George , Mr. Elton and The Eltons"), top)
    shared = words.share_name(*places(4))
    assert shared.tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]  # "Mr." is an abbreviation


def test_a_word_that_also_occurs_in_lower_case_is_no_name() -> None:
    words = SpanWords.of(inputs_of("The man saw the Queen . The Queen slept"), spans((0, 1), (3, 4), (6, 7)))
    assert words.share_name(*places(3)).tolist() == [[0, 0, 0], [0, 1, 1], [0, 1, 1]]


def test_only_the_last_names_of_a_long_span_are_compared() -> None:
    inputs = inputs_of("Anna Bella Clara Dora Anna Dora")
    assert SpanWords.of(inputs, spans((0, 3), (4, 4), (5, 5))).names.tolist()[0] == inputs.names[[3, 2, 1]].tolist()
    assert SpanWords.of(inputs, spans((0, 3), (4, 4), (5, 5))).share_name(*places(3)).tolist()[0] == [1, 0, 1]


def test_words_match_wholly_or_at_the_end() -> None:
    words = SpanWords.of(inputs_of("Old Anna saw anna and old anna"), spans((0, 1), (3, 3), (4, 4), (5, 6)))
    assert words.matches(*places(4)).tolist()[0] == [2, 1, 0, 2]


def test_quotations_are_counted() -> None:
    #                     0 1 2 3 4    5 6 7 8 9    10 11 12
    inputs = inputs_of('" I see " said " I do " Then "  I  "')
    top = spans((1, 1), (2, 2), (4, 4), (6, 6), (9, 9), (11, 11))
    codes = quotations(inputs, top, *places(6)).tolist()
    assert codes[1][0] == 3  # in the same one
    assert codes[2][0] == 2  # only the earlier one is quoted
    assert codes[3][2] == 1  # only the later one is
    assert codes[4][2] == 0  # neither
    assert codes[3][0] == 4  # in the next one
    assert codes[5][0] == 5


def test_documents_without_words_or_spans() -> None:
    inputs = make_inputs(Document.from_sentences("empty", []), torch.zeros(0, 2))
    none = TopSpans(torch.zeros(0, dtype=torch.long), torch.zeros(0, dtype=torch.long))
    own, others = torch.zeros(0, 1, dtype=torch.long), torch.zeros(0, 0, dtype=torch.long)
    words = SpanWords.of(inputs, none)
    assert words.matches(own, others).shape == words.share_name(own, others).shape == (0, 0)
    assert quotations(inputs, none, own, others).shape == (0, 0)

"""Entities in words."""

from __future__ import annotations

from dataclasses import replace

from corefine.annotation.wording import best_name, quoted
from corefine.document import Document, Span

DOCUMENT = Document.from_sentences(
    "d",
    [
        ["She", "saw", "a", "tall", "stranger", "."],
        ['"', "The", "stranger", "is", "Isolde", "Marrin", '"', ",", "said", "Isolde", "."],
        ["The", "stranger", "smiled", "."],
    ],
)


def test_a_name_is_better_than_a_noun_and_a_noun_than_a_pronoun() -> None:
    she, noun, full, first_name = Span(0, 0), Span(2, 4), Span(10, 11), Span(15, 15)
    assert best_name(DOCUMENT, [she]) == she
    assert best_name(DOCUMENT, [she, noun]) == noun
    assert best_name(DOCUMENT, [she, noun, first_name, full]) == full


def test_a_name_is_better_than_a_description_with_longer_names() -> None:
    words = "Then Leoš Janáček met the director of the National Conservatory of Music in New York City again ."
    document = Document.from_sentences("d", [words.split()])
    name, description = Span(1, 2), Span(4, 15)
    assert document.words(description).endswith("York City")
    assert best_name(document, [name, description]) == name


def test_a_capital_that_opens_a_sentence_or_a_quotation_is_no_name() -> None:
    noun, quoted, opening = Span(2, 4), Span(7, 8), Span(17, 18)
    assert best_name(DOCUMENT, [noun, quoted, opening]) == noun


def test_a_name_is_placed_where_it_first_appears() -> None:
    """A capital that opens a sentence proves no name, but the same words within another sentence do."""
    sentences = [["Marrin", "came", "."], ["Then", "she", "left", ":", "Marrin", "was", "tired", "of", "Marrin", "."]]
    document = Document.from_sentences("d", sentences)
    assert best_name(document, [Span(0, 0), Span(4, 4), Span(7, 7), Span(11, 11)]) == Span(0, 0)


def test_words_are_quoted_as_they_are_written() -> None:
    text = "王芳去了\n书店。"
    tokens = [character for character in text if character.strip()]
    offsets = tuple((text.index(token), text.index(token) + 1) for token in tokens)
    document = replace(Document.from_sentences("zh", [tokens]), text=text, offsets=offsets)
    assert quoted(document, Span(0, 1)) == "“王芳”"
    assert quoted(document, Span(3, 5)) == "“了 书店”"
    assert quoted(replace(document, text=None, offsets=None), Span(0, 1)) == "“王 芳”"

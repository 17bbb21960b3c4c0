from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefine import score
from corefine.annotation.revision import decode
from corefine.corpora import stories
from corefine.document import Document, Span
from corefine.models.rules import find_mentions, predict

TEXT = (
    "Captain Maria Silva owns a boat . She loves the boat . Tom Reed , her brother , paints it . "
    "Silva pays him . They laugh ."
)


def words_of(document: Document, spans: tuple[Span, ...]) -> set[str]:
    return {document.words(span) for span in spans}


@pytest.fixture(scope="module")
def small() -> Document:
    return Document.from_sentences("small", [[*sentence.split(), "."] for sentence in TEXT.split(" .")[:-1]])


def test_it_sees_pronouns_names_and_noun_phrases(small: Document) -> None:
    found = words_of(small, predict(small).spans)
    assert {"Captain Maria Silva", "a boat", "She", "the boat", "Tom Reed", "her brother", "it", "him", "They"} <= found


def test_it_links_what_agrees(small: Document) -> None:
    clusters = [words_of(small, cluster) for cluster in decode(predict(small))]
    assert any({"Captain Maria Silva", "She", "Silva"} <= cluster for cluster in clusters)
    assert any({"a boat", "the boat"} <= cluster for cluster in clusters)
    assert not any({"She", "the boat"} <= cluster for cluster in clusters)


def test_on_the_stories_it_is_better_than_nothing_and_worse_than_gold() -> None:
    key = stories.load()
    response = [document.with_clusters(decode(predict(document))) for document in key]
    scores = score(key, response, singletons="drop")
    assert 25 < scores.conll_f1 < 90


@given(st.lists(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=12), max_size=6))
def test_any_document_gets_a_prediction(sentences: list[list[str]]) -> None:
    document = Document.from_sentences("any", sentences)
    prediction = predict(document)
    assert all(document.holds(span) for span in prediction.spans)
    assert np.allclose(prediction.probabilities.sum(axis=1), 1.0)


def test_a_preposition_or_adjective_that_opens_a_sentence_is_no_name() -> None:
    document = Document.from_sentences(
        "d",
        [
            ["Within", "an", "hour", ",", "Nora", "came", "."],
            ["Small", "boats", "followed", "her", "."],
            ["Isolde", "Marrin", "was", "the", "pleasantest", "of", "them", "."],
        ],
    )
    words = [document.words(mention.span) for mention in find_mentions(document)]
    assert words == ["an hour", "Nora", "her", "Isolde Marrin", "them"]

"""Predicting a long document in pieces."""

from __future__ import annotations

import numpy as np

from corefine.corpora import stories
from corefine.document import Document
from corefine.models import rules
from corefine.prediction import NONE
from corefine.project.learning.long_documents import predict_long


def test_pieces_are_joined_to_one_prediction() -> None:
    sentences = [sentence for story in stories.load() for sentence in story.sentences]
    document = Document.from_sentences("long", sentences)
    whole, joined = rules.predict(document), predict_long(rules.predict, document, most_tokens=700)
    assert document.with_clusters(()).holds(joined.spans[-1])
    assert len(joined) == len(whole)
    assert joined.spans == whole.spans
    crossing = joined.candidates[joined.candidates != NONE]
    assert len(crossing)
    assert np.allclose(joined.probabilities.sum(axis=1), 1.0)


def test_a_short_document_is_one_piece() -> None:
    story = stories.load()[0]
    assert predict_long(rules.predict, story).spans == rules.predict(story).spans


def test_a_sentence_longer_than_a_piece_is_a_piece() -> None:
    document = Document.from_sentences("long", [["Anna", "saw"] * 20, ["She", "left", "Anna", "."]])
    assert predict_long(rules.predict, document, most_tokens=10).spans == rules.predict(document).spans

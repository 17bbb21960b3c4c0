"""Long documents in pieces."""

from __future__ import annotations

from corefine.annotation.labels import Labels
from corefine.document import Document, Span
from corefine.models.training.pieces import pieces
from helpers import tiny


def test_long_documents_are_cut_at_sentences() -> None:
    document = tiny.document(3, sentences=20)
    mention, last = document.clusters[0][0], Span(len(document) - 1, len(document) - 1)
    pair = (mention, document.clusters[1][0])
    labels = Labels(document, full=False, first=(mention,), apart=(pair,), certainty=((mention, 0.1), (last, 0.2)))
    cut = list(pieces(labels, 12))
    assert [token for piece in cut for token in piece.document.tokens] == list(document.tokens)
    assert all(len(piece.document) <= 12 for piece in cut)
    words = sorted(piece.document.words(span) for piece in cut for span in piece.document.mentions)
    assert words == sorted(document.words(span) for span in document.mentions)
    assert cut[0].labels.first == (mention,)
    assert cut[0].labels.certainty == ((mention, 0.1),)
    assert [[chance for _, chance in piece.labels.certainty] for piece in cut[1:]] == [[]] * (len(cut) - 2) + [[0.2]]
    assert all(piece.whole is document for piece in cut)


def test_a_sentence_longer_than_a_piece_stays_whole() -> None:
    document = Document.from_sentences("long", [["a"] * 30, ["b"] * 3])
    assert [len(piece.document) for piece in pieces(Labels(document), 10)] == [30, 3]

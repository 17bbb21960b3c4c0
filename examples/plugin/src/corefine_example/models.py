"""A model: mentions are single words with a capital letter, and equal words are one entity."""

from __future__ import annotations

from corefine.document import Document, Span
from corefine.models.adapters import from_clusters
from corefine.prediction import Prediction


class SameWords:
    def predict(self, document: Document) -> Prediction:
        clusters: dict[str, list[Span]] = {}
        for number, token in enumerate(document.tokens):
            if token[:1].isupper():
                clusters.setdefault(token, []).append(Span(number, number))
        return from_clusters([tuple(cluster) for cluster in clusters.values()])

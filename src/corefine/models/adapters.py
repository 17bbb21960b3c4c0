"""Other resolvers as models: anything that gives clusters can be the first model of `corefine annotate`.

corefine annotate texts/ --model corefine.models.adapters:fastcoref
corefine predict novel.txt out.jsonl --model my_models:pipeline
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from corefine.document import Cluster, Document, Span, document_order, normalise
from corefine.errors import InputError
from corefine.formats.tokens import Tokens, text_of
from corefine.prediction import NONE, Floats, Prediction

if TYPE_CHECKING:
    from spacy.language import Language

CONFIDENCE = 0.9
"""The probability of each antecedent, for resolvers without probabilities. The other candidates share the rest."""

CANDIDATES = 50
"""The number of earlier mentions that are candidates of a mention."""


def from_clusters(clusters: Iterable[Cluster], *, confidence: float = CONFIDENCE) -> Prediction:
    """A prediction from entities alone. The antecedent of a mention is the nearest earlier mention of its entity."""
    listed = normalise(clusters)
    spans = sorted({span.hull for cluster in listed for span in cluster}, key=document_order)
    place = {span: number for number, span in enumerate(spans)}
    entity = {place[span.hull]: number for number, cluster in enumerate(listed) for span in cluster}
    width = min(CANDIDATES, max(len(spans) - 1, 0))
    candidates = np.full((len(spans), width), NONE)
    probabilities = np.zeros((len(spans), 1 + width))
    for row in range(len(spans)):
        earlier = list(range(max(0, row - width), row))
        same = [other for other in range(row) if entity[other] == entity[row]]
        if same and same[-1] not in earlier:
            earlier[0] = same[-1]
        candidates[row, : len(earlier)] = earlier
        right = 1 + earlier.index(same[-1]) if same else 0
        probabilities[row, : 1 + len(earlier)] = (1 - confidence) / (1 + len(earlier))
        probabilities[row, right] += confidence
    return Prediction(tuple(spans), candidates, probabilities)


class CharacterPredictor:
    """A resolver that takes a text and gives clusters of [start, end) characters."""

    def __init__(self, resolve: Callable[[str], Sequence[Sequence[tuple[int, int]]]]) -> None:
        self.resolve = resolve

    def predict(self, document: Document) -> Prediction:
        text, offsets = text_of(document)
        words = Tokens(document.tokens, tuple(offsets), document.sentence_starts)
        spans = ([words.span([pair]) for pair in cluster] for cluster in self.resolve(text))
        return from_clusters([tuple(span for span in cluster if span is not None) for cluster in spans])


class FastcorefPredictor:
    """A model of fastcoref, with the probabilities that it computes; it is given the words of the document."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, document: Document) -> Prediction:
        if not document.tokens:
            return from_clusters([])
        (found,) = self.model.predict([list(document.tokens)], is_split_into_words=True)
        # the row of each top span, and its words [first, after the last); None for special pieces and padding
        words = {row: Span(place[0], place[1] - 1) for row, place in found.char_map.values() if row is not None}
        rows = sorted(words)
        spans = sorted(set(words.values()))
        place = {span: number for number, span in enumerate(spans)}
        scores = np.asarray(found.coref_logit, np.float64)[rows][:, [*rows, -1]]  # the last is "no antecedent"
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        # top spans that differ only in pieces of a word are one, which has the row that links most
        number = np.array([place[words[row]] for row in rows], np.int64)
        masses = np.zeros((len(rows), 1 + len(spans)))
        np.add.at(masses, (np.arange(len(rows))[:, None], np.append(1 + number, 0)[None, :]), odds)
        masses[:, 1:] *= np.arange(len(spans)) < number[:, None]
        masses[masses.sum(axis=1) == 0, 0] = 1.0
        masses /= masses.sum(axis=1, keepdims=True)
        best = {number[row]: row for row in np.argsort(-masses[:, 0], kind="stable").tolist()}
        return _from_rows(spans, masses[[best[span] for span in range(len(spans))]])


def _from_rows(spans: Sequence[Span], rows: Floats) -> Prediction:
    """A prediction from [spans, 1 + spans] probabilities, epsilon first. Only the likeliest candidates are kept."""
    width = min(CANDIDATES, max(len(spans) - 1, 0))
    likeliest = np.sort(np.argsort(-rows[:, 1:], axis=1, kind="stable")[:, :width], axis=1)
    earlier = likeliest < np.arange(len(spans))[:, None]
    kept = np.concatenate([rows[:, :1], np.take_along_axis(rows, 1 + likeliest, axis=1) * earlier], axis=1)
    probabilities = kept / kept.sum(axis=1, keepdims=True)
    return Prediction(tuple(spans), np.where(earlier, likeliest, NONE), probabilities, decoding="argmax")


def fastcoref(model: Any = None) -> FastcorefPredictor:
    """fastcoref's model `FCoref`, which it downloads if necessary, or another model of fastcoref."""
    if model is None:
        try:
            import_module("datasets").disable_progress_bars()
            model = import_module("fastcoref").FCoref(nlp=None, enable_progress_bar=False)
        except ImportError as error:
            raise InputError("this needs fastcoref, which cannot be imported; see docs/extend.md") from error
    return FastcorefPredictor(model)


class SpacyPredictor:
    """A spaCy pipeline with a component that sets `doc.spans["coref_clusters_1"]` and so on."""

    def __init__(self, nlp: Language, prefix: str = "coref_clusters") -> None:
        self.nlp = nlp
        self.prefix = prefix

    def predict(self, document: Document) -> Prediction:
        from spacy.tokens import Doc

        doc = Doc(self.nlp.vocab, words=list(document.tokens))
        for start in document.sentence_starts:
            doc[start].is_sent_start = True
        for _, component in self.nlp.pipeline:
            doc = component(doc)
        groups = [group for name, group in doc.spans.items() if name.startswith(self.prefix)]
        return from_clusters([tuple(Span(span.start, span.end - 1) for span in group) for group in groups])

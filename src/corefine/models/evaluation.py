"""Scores of a model on documents with gold clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from corefine.annotation.revision import decode
from corefine.document import Document
from corefine.prediction import Prediction
from corefine.scores.results import Counts, Scores


def evaluate(predict: Callable[[Document], Prediction], documents: Iterable[Document]) -> Scores:
    """The scores of a model over documents, singletons dropped on both sides."""
    return Counts.total(
        Counts.of(document.without_singletons().clusters, decode(predict(document))) for document in documents
    ).scores


def linked_share(predict: Callable[[Document], Prediction], documents: Iterable[Document]) -> float:
    """The percentage of annotated pairs that the model puts into the same entity.

    For partly annotated corpora (WinoBias, GAP): other mentions do not count.
    """
    found = total = 0
    for document in documents:
        entity = {span: number for number, cluster in enumerate(decode(predict(document))) for span in cluster}
        for cluster in document.clusters:
            for left, right in pairwise(cluster):
                total += 1
                found += entity.get(left, -1) == entity.get(right, -2)
    return 100 * found / total if total else 0.0


def summary(scores: Scores) -> dict[str, float]:
    """The F1 scores that progress shows, in percent."""
    return {
        "conll_f1": scores.conll_f1,
        "muc_f1": scores.muc.f1,
        "b3_f1": scores.b3.f1,
        "ceafe_f1": scores.ceafe.f1,
        "lea_f1": scores.lea.f1,
        "mention_f1": scores.mentions.f1,
    }

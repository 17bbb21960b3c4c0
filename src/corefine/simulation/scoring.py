"""The scores a round reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corefine.annotation.revision import decode
from corefine.document import Document
from corefine.prediction import Prediction
from corefine.scores import Counts, Scores, score

DIGITS = 4


def scores_of(documents: Sequence[Document], predictions: Iterable[Prediction]) -> dict[str, float]:
    """How decoded predictions score against gold, singletons dropped; F1 in percent."""
    if not documents:
        return {}
    answers = [
        document.with_clusters(decode(prediction)) for document, prediction in zip(documents, predictions, strict=True)
    ]
    found = score(documents, answers, singletons="drop")
    pronouns = score(documents, answers, singletons="drop", pronouns=True)
    return {**named(found), "pronoun_f1": round(pronouns.conll_f1, DIGITS)}


def named(scores: Scores) -> dict[str, float]:
    values = {
        "conll_f1": scores.conll_f1,
        "muc_f1": scores.muc.f1,
        "b3_f1": scores.b3.f1,
        "ceafe_f1": scores.ceafe.f1,
        "mention_f1": scores.mentions.f1,
    }
    return {name: round(value, DIGITS) for name, value in values.items()}


def conll_f1(counts: Iterable[Counts]) -> float:
    return round(Counts.total(counts).scores.conll_f1, DIGITS)

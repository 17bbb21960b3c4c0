"""Whether a model knows the language and the field of a document, so that its questions are worth answering."""

from __future__ import annotations

import json

from corefine.document import Document
from corefine.errors import CorefineError
from corefine.formats.languages import language_name
from corefine.models.load import model_folder
from corefine.models.network.encoders.known import known_encoders
from corefine.prediction import Prediction
from corefine.project.store.predictions import RULES, STARTER, ModelVersion

ENGLISH = "English"
USUAL = 0.20
"""The share of a text's tokens that lie in mentions, as the model that ships finds them in fields that it knows."""
LEAST = 0.08
"""With a smaller share the model is far from the field. What was measured is in docs/annotate.md."""
FEWEST_TOKENS = 100
"""A shorter text tells nothing."""


def share_in_mentions(document: Document, prediction: Prediction) -> float | None:
    """The share of a document's tokens in spans that the model takes for mentions; None if it does not say."""
    scores = prediction.mention_scores
    if scores is None or len(document) < FEWEST_TOKENS:
        return None
    spans = (span for span, score in zip(prediction.spans, scores.tolist(), strict=True) if score > 0)
    return len({token for span in spans for token in range(span.start, span.end + 1)}) / len(document)


def warning(version: ModelVersion, document: Document, prediction: Prediction) -> str | None:
    """Why the model's questions about a document may be poor, in words; None if there is no reason to think so."""
    language = document.language or "en"
    foreign = language.lower().partition("-")[0] != "en"
    if foreign and version.kind in (RULES, STARTER) and _languages(version) == ENGLISH:
        return f"The model knows English, and this text is in {language_name(language)}."
    share = share_in_mentions(document, prediction)
    if version.kind != RULES and share is not None and share < LEAST:
        usual = f"about {USUAL:.0%} are usual"
        return f"The model finds few mentions here: {share:.0%} of the words are in one, and {usual}."
    return None


def _languages(version: ModelVersion) -> str | None:
    """The languages of a model's encoder; None if they are not known."""
    if version.kind == RULES:
        return ENGLISH
    try:
        folder = model_folder(version.name)
        facts = None if folder is None else json.loads((folder / "model.json").read_text("utf-8"))
    except (CorefineError, OSError, ValueError):
        return None
    kind = facts["config"]["encoder"]["kind"] if facts else None
    return next((each.languages for each in known_encoders() if each.name == kind), None)

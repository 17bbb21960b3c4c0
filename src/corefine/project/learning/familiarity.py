"""Tells whether a model knows the language and field of a document well enough to ask good questions."""

from __future__ import annotations

from corefine.annotation.plausible import LEAST_SHARE, share_in_mentions
from corefine.document import Document
from corefine.formats.languages import is_english_code, language_name
from corefine.models.load import is_english
from corefine.prediction import Prediction
from corefine.project.store.predictions import RULES, STARTER, ModelVersion

USUAL = 0.20
"""The usual share of tokens inside mentions that the starter model finds in fields that it knows."""
FEWEST_TOKENS = 100
"""Shorter texts are not judged."""


def warning(version: ModelVersion, document: Document, prediction: Prediction) -> str | None:
    """A message that says why the model's questions about a document may be poor, or None."""
    language = document.language or "en"
    if not is_english_code(language) and version.kind in (RULES, STARTER) and is_english(version.name):
        return f"The model knows English, and this text is in {language_name(language)}."
    share = share_in_mentions(document, prediction) if len(document) >= FEWEST_TOKENS else None
    if version.kind != RULES and share is not None and share < LEAST_SHARE:
        usual = f"about {USUAL:.0%} are usual"
        return f"The model finds few mentions here: {share:.0%} of the words are in one, and {usual}."
    return None

"""Tells whether a model knows the language and field of a document well enough to ask good questions."""

from __future__ import annotations

import json

from corefine.annotation.plausible import LEAST_SHARE, share_in_mentions
from corefine.document import Document
from corefine.errors import CorefineError
from corefine.formats.languages import language_name
from corefine.models.load import model_folder
from corefine.models.network.encoders.known import known_encoders
from corefine.prediction import Prediction
from corefine.project.store.predictions import RULES, STARTER, ModelVersion

ENGLISH = "English"
USUAL = 0.20
"""The usual share of tokens inside mentions that the starter model finds in fields that it knows."""
FEWEST_TOKENS = 100
"""Shorter texts are not judged."""


def warning(version: ModelVersion, document: Document, prediction: Prediction) -> str | None:
    """A message that says why the model's questions about a document may be poor, or None."""
    language = document.language or "en"
    foreign = language.lower().partition("-")[0] != "en"
    if foreign and version.kind in (RULES, STARTER) and _languages(version) == ENGLISH:
        return f"The model knows English, and this text is in {language_name(language)}."
    share = share_in_mentions(document, prediction) if len(document) >= FEWEST_TOKENS else None
    if version.kind != RULES and share is not None and share < LEAST_SHARE:
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

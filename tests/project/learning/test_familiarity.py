"""A model that knows little of a document's language or field is said to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from corefine.annotation.plausible import share_in_mentions
from corefine.corpora import stories
from corefine.models import rules
from corefine.project.learning.familiarity import warning
from corefine.project.store.predictions import READY, RULES, STARTER, TRAINED, ModelVersion

STORY = stories.load()[0]
PREDICTION = rules.predict(STORY)
NONE_FOUND = replace(PREDICTION, mention_scores=np.full(len(PREDICTION), -1.0))


def version(name: str, kind: str) -> ModelVersion:
    return ModelVersion(1, name, kind, READY, 0, None, None, 0.0)


def test_language_and_field() -> None:
    dutch = replace(STORY, language="nl")
    assert warning(version("rules", RULES), STORY, PREDICTION) is None
    for name, kind in (("rules", RULES), ("starter", STARTER)):
        assert "this text is in Dutch" in (warning(version(name, kind), dutch, PREDICTION) or "")
    assert warning(version("50 answers", TRAINED), dutch, PREDICTION) is None, "it was trained on such texts"
    assert "0% of the words" in (warning(version("50 answers", TRAINED), dutch, NONE_FOUND) or "")
    assert share_in_mentions(STORY, NONE_FOUND) == 0.0

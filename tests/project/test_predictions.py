"""Predictions as files."""

from __future__ import annotations

import numpy as np

from corefine.models import rules
from corefine.prediction import Prediction
from corefine.project import Project


def test_predictions_survive_storing(sqlite_project: Project) -> None:
    document = sqlite_project.documents.get(1)
    made = rules.predict(document)
    sqlite_project.predictions.save(7, 1, made)
    read = sqlite_project.predictions.load(7, 1)
    assert read.spans == made.spans
    for name in ("candidates", "probabilities", "mention_scores"):
        assert np.array_equal(getattr(read, name), getattr(made, name))
    assert read.members is None
    empty = Prediction((), np.zeros((0, 3), dtype=np.int64), np.zeros((0, 4)))
    sqlite_project.predictions.save(7, 2, empty)
    assert sqlite_project.predictions.load(7, 2).spans == ()

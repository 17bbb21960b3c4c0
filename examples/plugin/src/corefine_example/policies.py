"""A label policy: answers count fully, and the model's own labels count half."""

from __future__ import annotations

from corefine.annotation.labels import LabelPolicy

HALF = LabelPolicy(answers=True, unanswered=0.5)

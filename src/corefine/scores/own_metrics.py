"""Metrics from outside: functions that count one document. The counts add up over documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corefine import plugins
from corefine.document import Document
from corefine.errors import InputError
from corefine.scores.metrics import Score, Tally


def own_scores(names: Sequence[str], pairs: Iterable[tuple[Document, Document]]) -> dict[str, Score]:
    """The scores of these metrics, each `module:attribute` or installed, over pairs of key and response."""
    listed = list(pairs) if names else []
    return {name: _score(name, listed) for name in names}


def _score(name: str, pairs: Sequence[tuple[Document, Document]]) -> Score:
    count = plugins.find("metrics", name)
    total = Tally(0, 0, 0, 0)
    for key, response in pairs:
        try:
            total = Tally(*(one + other for one, other in zip(total, count(key, response), strict=True)))
        except Exception as error:  # it is somebody else's code
            raise InputError(f"{name} failed on document {key.key}: {type(error).__name__}: {error}") from error
    return total.score

"""corefine: active learning for coreference resolution.

The names below are the public interface. They load on first use, so that `import corefine` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corefine.annotation.session import Session
    from corefine.corpora.scoring import score
    from corefine.document import Document, Span, SplitSpan
    from corefine.errors import CorefineError
    from corefine.formats import read, read_all, write
    from corefine.links import Links
    from corefine.models.display import display
    from corefine.models.load import load
    from corefine.prediction import Prediction
    from corefine.scores import Score, Scores

__version__ = "0.1.0"

_HOMES = {
    "CorefineError": "corefine.errors",
    "Document": "corefine.document",
    "Links": "corefine.links",
    "Prediction": "corefine.prediction",
    "Score": "corefine.scores",
    "Scores": "corefine.scores",
    "Session": "corefine.annotation.session",
    "Span": "corefine.document",
    "SplitSpan": "corefine.document",
    "display": "corefine.models.display",
    "load": "corefine.models.load",
    "read": "corefine.formats",
    "read_all": "corefine.formats",
    "score": "corefine.corpora.scoring",
    "write": "corefine.formats",
}

__all__ = [
    "CorefineError",
    "Document",
    "Links",
    "Prediction",
    "Score",
    "Scores",
    "Session",
    "Span",
    "SplitSpan",
    "__version__",
    "display",
    "load",
    "read",
    "read_all",
    "score",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'corefine' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

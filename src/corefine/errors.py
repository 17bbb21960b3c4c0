"""Every error corefine raises on purpose.

    CorefineError
    ├── InputError                what the user gave cannot be used (exit code 2)
    │   ├── FormatError           a file breaks its format; carries the Fault
    │   ├── LossError             the target format cannot express the document
    │   ├── DocumentError         a Document that cannot exist
    │   ├── PredictionError       a Prediction that cannot exist
    │   ├── ConfigError           a setting that does not exist, or a value it cannot take
    │   ├── WeightsError          model weights that are missing, altered, or not the ones expected
    │   ├── ModelError            a saved model or training state that cannot be used
    │   ├── UnmatchedError        key and response hold different documents
    │   └── MissingExtraError     an optional part of corefine is not installed
    └── AnswerError               an answer that cannot be taken; nothing has changed
        ├── ContradictionError    earlier answers imply the opposite; carries them
        ├── NotOpenError          no such question is open
        ├── OutsideError          a span outside the document, or in the wrong order
        ├── UnknownAnswerError    there is no such answer to withdraw
        ├── ReusedIdError         a client_id that stood for another request before
        └── TakenError            the document is with somebody else

A message says what was wrong, where, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class CorefineError(Exception):
    """The root: catch it to catch all that corefine raises on purpose."""


class InputError(CorefineError):
    """What the user gave cannot be used."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with one place of a file.

    `line` counts from 1, `token` from 0 within the document. `fatal` says that the document could not be
    built; otherwise the reader repaired it in the way `what` describes.
    """

    what: str
    path: str | None = None
    line: int | None = None
    document: str | None = None
    token: int | None = None
    fatal: bool = True

    def __str__(self) -> str:
        where = self.path or "<input>"
        if self.line is not None:
            where += f":{self.line}"
        parts = [where]
        if self.document is not None:
            parts.append(f"document {self.document}")
        if self.token is not None:
            parts.append(f"token {self.token}")
        return f"{', '.join(parts)}: {self.what}"


class FormatError(InputError):
    """A file breaks its format."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


class LossError(InputError):
    """The target format cannot express what the document holds; `losses` counts it by name."""

    def __init__(self, message: str, losses: dict[str, int]) -> None:
        super().__init__(message)
        self.losses = losses


class DocumentError(InputError):
    """A Document that cannot exist: a span outside it, a span in two clusters, offsets out of order."""


class PredictionError(InputError):
    """A Prediction that cannot exist: wrong shapes, candidates that do not precede, rows that do not sum to 1."""


class ConfigError(InputError):
    """A setting that does not exist, or a value it cannot take."""


class WeightsError(InputError):
    """Model weights that are missing, altered, or not the ones expected."""


class ModelError(InputError):
    """A saved model or training state that cannot be used: damaged, incomplete, or of a newer version."""


class UnmatchedError(InputError):
    """Key and response do not hold the same documents."""


class MissingExtraError(InputError):
    """An optional part of corefine is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}, which is not installed: pip install 'corefine[{extra}]'")


class AnswerError(CorefineError):
    """An answer that cannot be taken. The state is as it was before."""


class ContradictionError(AnswerError):
    """Earlier answers imply the opposite. `answers` is a shortest chain of them, to choose from for withdrawal."""

    def __init__(self, message: str, answers: Sequence[Any]) -> None:
        super().__init__(message)
        self.answers = tuple(answers)


class NotOpenError(AnswerError):
    """The question is not open: never asked, already answered, or about another mention."""


class OutsideError(AnswerError):
    """A span outside the document, or one that does not come before the mention it should precede."""


class UnknownAnswerError(AnswerError):
    """There is no such answer, or it was withdrawn before."""


class ReusedIdError(AnswerError):
    """The `client_id` of this request was sent before with another request."""


class TakenError(AnswerError):
    """The document is being annotated by somebody else, or has been."""

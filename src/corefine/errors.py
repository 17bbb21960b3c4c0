"""The errors that corefine raises on purpose.

    CorefineError
    ├── InputError                  the input cannot be used (exit code 2)
    │   ├── FormatError             a file breaks its format; carries the Fault
    │   ├── LossError               the target format cannot express the document
    │   ├── DocumentError           a Document with invalid contents
    │   ├── PredictionError         a Prediction with invalid contents
    │   ├── ConfigError             an unknown setting, or an invalid value
    │   ├── WeightsError            model weights are missing, altered, or not the expected ones
    │   ├── ModelError              a saved model or training state cannot be used
    │   ├── DamagedDocumentError    a document of a project, or somebody's log of it, cannot be read
    │   ├── ServerReplacedError     another server has taken over the project
    │   ├── UnmatchedError          key and response hold different documents
    │   └── MissingExtraError       an optional dependency is not installed
    └── AnswerError                 an answer is refused; nothing has changed
        ├── ContradictionError      earlier answers imply the opposite; carries them
        ├── QuestionNotOpenError    no such question is open
        ├── InvalidSpanError        a span outside the document, or in the wrong order
        ├── UnknownAnswerError      there is no such answer to withdraw
        ├── ReusedIdError           a client_id that stood for another request before
        └── DocumentTakenError      somebody else is working on the document

A message says what was wrong, where, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class CorefineError(Exception):
    """The base class of all errors below."""


class InputError(CorefineError):
    """The input cannot be used."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One error at one place in a file.

    `line` counts from 1, `token` from 0 within the document. If the fault is `fatal`, the document could not be read;
    otherwise it was repaired as `what` says.
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
    """Invalid contents of a Document: a span outside it, a span in two clusters, offsets out of order."""


class PredictionError(InputError):
    """Invalid contents of a Prediction: wrong shapes, a candidate after its span, rows that do not sum to 1."""


class ConfigError(InputError):
    """An unknown setting, or an invalid value of one."""


class WeightsError(InputError):
    """Model weights are missing, altered, or not the expected ones."""


class ModelError(InputError):
    """A saved model or training state cannot be used: it is damaged, incomplete, or from a newer version."""


class DamagedDocumentError(InputError):
    """A document of a project, or somebody's log of it, cannot be read. Other documents are not affected."""


class ServerReplacedError(InputError):
    """Another server has taken over the project."""


class UnmatchedError(InputError):
    """Key and response do not hold the same documents."""


class MissingExtraError(InputError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}, which is not installed: pip install 'corefine[{extra}]'")


class AnswerError(CorefineError):
    """An answer is refused. Nothing has changed."""


class ContradictionError(AnswerError):
    """Earlier answers imply the opposite. `answers` is a shortest chain of them, one of which must be withdrawn."""

    def __init__(self, message: str, answers: Sequence[Any]) -> None:
        super().__init__(message)
        self.answers = tuple(answers)


class QuestionNotOpenError(AnswerError):
    """The question is not open: never asked, already answered, or about another mention."""


class InvalidSpanError(AnswerError):
    """A span outside the document, or one that does not come before the mention it should precede."""


class UnknownAnswerError(AnswerError):
    """There is no such answer, or it was withdrawn before."""


class ReusedIdError(AnswerError):
    """The `client_id` of this request was sent before with another request."""


class DocumentTakenError(AnswerError):
    """The document is being annotated by somebody else, or has been."""

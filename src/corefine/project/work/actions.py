"""What a workspace shows, and what comes of an action in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from corefine.annotation.log import Outcome
from corefine.annotation.question import Question, span_from_json, span_to_json
from corefine.annotation.session import Session
from corefine.prediction import Prediction
from corefine.project.work.open_document import OpenDocument


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person is to see now; `state` and `ended` as in the API."""

    state: str
    opened: OpenDocument | None = None
    question: Question | None = None
    document_id: int | None = None
    upcoming: int | None = None
    ended: str | None = None


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """The result of an action, and the session it happened in.

    `repeated` if the same request had been recorded before, and nothing was done now.
    """

    document_id: int
    session: Session
    outcome: Outcome | None
    number: int | None
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Switch:
    """The model version to use next, with its prediction if the session has not loaded it.

    newer_pending    a newer version is there, and is used one answer later
    """

    version: int
    prediction: Prediction | None = None
    newer_pending: bool = False


def outcome_to_json(outcome: Outcome | None) -> dict[str, Any]:
    if outcome is None:
        return {}
    settled = [span_to_json(span) for span in outcome.settled]
    return {"number": outcome.number, "settled": settled, "pairs": outcome.pairs}


def outcome_from_json(fields: dict[str, Any]) -> Outcome | None:
    if "settled" not in fields:
        return None
    return Outcome(fields["number"], tuple(span_from_json(span) for span in fields["settled"]), fields["pairs"])

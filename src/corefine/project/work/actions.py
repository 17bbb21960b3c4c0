"""What a workspace shows, and the results of actions in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from corefine.annotation.log import AnswerEntry, LogEntry, Outcome
from corefine.annotation.question import Question, span_from_json, span_to_json
from corefine.annotation.session import Session
from corefine.prediction import Prediction
from corefine.project.work.open_document import OpenDocument


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person sees now. `state` and `ended` are those of the API."""

    state: str
    opened: OpenDocument | None = None
    question: Question | None = None
    document_id: int | None = None
    upcoming: int | None = None
    ended: str | None = None


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """The result of an action, and the session it happened in.

    `repeated` is true if the same request was recorded before, so that nothing was done now.
    """

    document_id: int
    session: Session
    outcome: Outcome | None
    number: int | None
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Switch:
    """The model version to use next, with its prediction if the session has not loaded it.

    newer_pending    whether a newer version exists, which is used one answer later
    """

    version: int
    prediction: Prediction | None = None
    newer_pending: bool = False


def reopens(kind: str, before: Sequence[LogEntry], after: Sequence[LogEntry]) -> bool:
    """Whether a step makes a finished document unfinished: it takes or brings back an answer or a ticked part."""
    given, standing = ({entry.number: entry for entry in entries} for entries in (before, after))
    touched = ((given | standing)[number] for number in given.keys() ^ standing.keys())
    takes_back = kind in ("undo", "redo", "withdraw")
    return takes_back and any(isinstance(entry, AnswerEntry) or entry.complete for entry in touched)


def outcome_to_json(outcome: Outcome | None) -> dict[str, Any]:
    if outcome is None:
        return {}
    settled = [span_to_json(span) for span in outcome.settled]
    return {"number": outcome.number, "settled": settled, "pairs": outcome.pairs}


def outcome_from_json(fields: dict[str, Any]) -> Outcome | None:
    if "settled" not in fields:
        return None
    return Outcome(fields["number"], tuple(span_from_json(span) for span in fields["settled"]), fields["pairs"])

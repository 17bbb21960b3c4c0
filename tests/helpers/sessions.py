"""A small document with a prediction, sessions on it, and all that a session's future depends on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from corefine.annotation.question import Question
from corefine.annotation.session import Session
from corefine.document import Span
from helpers.making import document_of, prediction_of

A, B, C, D = (Span(i, i) for i in range(4))
PREDICTION = prediction_of(
    [
        {"-": 1.0},
        {"-": 0.7, 0: 0.3},
        {"-": 0.2, 0: 0.3, 1: 0.5},
        {"-": 0.25, 0: 0.25, 1: 0.25, 2: 0.25},
    ]
)
DOCUMENT = document_of([[A, C], [B, D]])


def state_of(session: Session) -> dict[str, Any]:
    """Everything that a session's future depends on; a question asked again has a new number."""
    question = session.next_question()
    return {
        "next": question and replace(question, number=0),
        "clusters": session.relabelled().clusters,
        "rows": session.revision.rows.tolist(),
        "settled": session.revision.settled.tolist(),
        "answers": session.answers,
        "entities": session.links.entities(),
    }


def fresh() -> Session:
    return Session(DOCUMENT, PREDICTION)


def ask(session: Session) -> Question:
    question = session.next_question()
    assert question is not None
    return question

"""How much people have done, and how the model has come along."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import Connection, Integer, func, select

from corefine.project.store import predictions, schema
from corefine.project.store.documents import to_annotate
from corefine.project.work import assignments

EVENTS = schema.events.c


@dataclass(frozen=True, slots=True)
class PersonStatistics:
    answers: int
    seconds: float
    documents_done: int
    last_at: float | None

    @property
    def questions_per_hour(self) -> float | None:
        return self.answers / self.seconds * 3600.0 if self.seconds else None


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A model version and how its questions were answered; `f1` on held-out documents, if there are any."""

    version: int
    name: str
    answers: int
    f1: float | None
    accepted: float | None
    asked: int
    at: float


@dataclass(frozen=True, slots=True)
class Statistics:
    documents: int
    documents_done: int
    answers: int
    seconds: float
    curve: tuple[CurvePoint, ...]

    @property
    def questions_per_hour(self) -> float | None:
        return self.answers / self.seconds * 3600.0 if self.seconds else None


def person_statistics(connection: Connection) -> dict[int, PersonStatistics]:
    answers = func.sum((EVENTS.kind == "answer").cast(Integer))
    query = select(EVENTS.person_id, answers, func.sum(EVENTS.seconds), func.max(EVENTS.at)).group_by(EVENTS.person_id)
    done: dict[int, int] = {}
    for assignment in assignments.all_of(connection):
        done[assignment.person_id] = done.get(assignment.person_id, 0) + assignment.done
    return {
        person: PersonStatistics(int(count), float(seconds), done.get(person, 0), last)
        for person, count, seconds, last in connection.execute(query)
    }


def statistics(connection: Connection) -> Statistics:
    asked = [document.id for document in to_annotate(connection)]
    everybody = person_statistics(connection)
    done = {assignment.document_id for assignment in assignments.all_of(connection) if assignment.done}
    return Statistics(
        documents=len(asked),
        documents_done=len(done.intersection(asked)),
        answers=sum(person.answers for person in everybody.values()),
        seconds=sum(person.seconds for person in everybody.values()),
        curve=tuple(_curve(connection)),
    )


def _curve(connection: Connection) -> list[CurvePoint]:
    """Each version with the share of its proposals that people accepted."""
    yes: dict[int, int] = {}
    asked: dict[int, int] = {}
    query = select(EVENTS.model_version, EVENTS.event).where(EVENTS.kind == "answer")
    for version, text in connection.execute(query):
        event = json.loads(text)
        if event["antecedent"] is not None and event["same"] is not None:
            asked[version] = asked.get(version, 0) + 1
            yes[version] = yes.get(version, 0) + bool(event["same"])
    return [
        CurvePoint(
            version=version.id,
            name=version.name,
            answers=version.answers,
            f1=version.f1,
            accepted=yes[version.id] / asked[version.id] if asked.get(version.id) else None,
            asked=asked.get(version.id, 0),
            at=version.created_at,
        )
        for version in predictions.all_versions(connection)
        if version.state == predictions.READY
    ]

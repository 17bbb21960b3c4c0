"""How much people have done, and how the model has improved."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from sqlalchemy import Connection, Integer, func, select

from corefine.errors import DamagedDocumentError
from corefine.project.store import documents, log, people, predictions, schema, settings
from corefine.project.work import assignments

EVENTS = schema.events.c
_MENTIONS: dict[tuple[int, float], int] = {}
"""The number of mentions of held-out documents, by id and time of import. They never change and are needed often."""
Z = 1.96
"""The half-width of a 95 % interval in standard deviations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    answers: int
    seconds: float
    questions_per_hour: float | None
    documents_done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonStatistics(_Work):
    """`documents_begun` are not finished; `documents_waiting` are assigned to this person and not begun."""

    documents_begun: int
    documents_waiting: int
    last_seen: float | None


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A model version and how its questions were answered.

    f1           on held-out documents, if there are any; between `f1_low` and `f1_high`
    accepted     the share of its proposals that were accepted, of `asked`
    explained    how probable it finds an answer that was held back, between `low` and `high`, of `held_back`
    """

    version: int
    name: str
    answers: int
    f1: float | None
    accepted: float | None
    asked: int
    at: float
    explained: float | None
    low: float | None
    high: float | None
    held_back: int
    f1_low: float | None
    f1_high: float | None
    accepted_low: float | None
    accepted_high: float | None


@dataclass(frozen=True, slots=True)
class UnusedTraining:
    """A training whose model is not used, and why."""

    version: int
    answers: int
    reason: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics(_Work):
    """`held_out` is how many documents the curve is scored on, with `held_out_mentions` mentions in their entities."""

    documents: int
    curve: tuple[CurvePoint, ...]
    unused: tuple[UnusedTraining, ...]
    held_out: int
    held_out_mentions: int


def person_statistics(connection: Connection) -> dict[int, PersonStatistics]:
    """The statistics of each person of the project."""
    asked = {document.id: document for document in documents.to_annotate(connection)}
    done: Counter[int] = Counter()
    begun: Counter[int] = Counter()
    waiting = Counter(person for document in asked.values() for person in document.assigned)
    worked_on = log.worked_on(connection)
    for each in assignments.all_of(connection):
        if each.document_id in asked and (each.done or (each.person_id, each.document_id) in worked_on):
            (done if each.done else begun)[each.person_id] += 1
            waiting[each.person_id] -= each.person_id in asked[each.document_id].assigned
    answers = func.sum((EVENTS.kind == "answer").cast(Integer))
    query = select(EVENTS.person_id, answers, func.sum(EVENTS.seconds), func.max(EVENTS.at)).group_by(EVENTS.person_id)
    work = {person: (int(count), float(spent), last) for person, count, spent, last in connection.execute(query)}
    found = {}
    for person in people.names(connection):
        count, seconds, last_seen = work.get(person, (0, 0.0, None))
        found[person] = PersonStatistics(
            answers=count,
            seconds=seconds,
            questions_per_hour=_per_hour(count, seconds),
            last_seen=last_seen,
            documents_done=done[person],
            documents_begun=begun[person],
            documents_waiting=waiting[person],
        )
    return found


def _per_hour(answers: int, seconds: float) -> float | None:
    return answers / seconds * 3600.0 if seconds else None


def interval(share: float, count: int) -> tuple[float, float]:
    """The 95 % Wilson interval for a share of `count` cases."""
    if not count:
        return 0.0, 1.0
    square = Z * Z / count
    centre, half = share + square / 2, Z * math.sqrt(share * (1 - share) / count + square / count / 4)
    return max(0.0, (centre - half) / (1 + square)), min(1.0, (centre + half) / (1 + square))


def statistics(connection: Connection) -> Statistics:
    asked = {document.id for document in documents.to_annotate(connection)}
    done = {each.document_id for each in assignments.all_of(connection) if each.done}
    everybody = person_statistics(connection).values()
    answers, seconds = sum(person.answers for person in everybody), sum(person.seconds for person in everybody)
    held_out, mentions = _held_out(connection)
    return Statistics(
        held_out=held_out,
        held_out_mentions=mentions,
        documents=len(asked),
        documents_done=len(asked & done),
        answers=answers,
        seconds=seconds,
        questions_per_hour=_per_hour(answers, seconds),
        curve=tuple(_curve(connection, mentions)),
        unused=tuple(
            UnusedTraining(version.id, version.answers, version.message or "", version.created_at)
            for version in predictions.all_versions(connection)
            if version.state == predictions.FAILED
        ),
    )


def _held_out(connection: Connection) -> tuple[int, int]:
    """How many documents are held out, and how many mentions in entities of two or more they have."""
    kept = [info for info in documents.all_of(connection) if info.held_out]
    columns = schema.documents.c
    for info in kept:
        if (info.id, info.added_at) not in _MENTIONS:
            content = connection.execute(select(columns.content).where(columns.id == info.id)).scalar_one()
            try:
                clusters = documents.parsed(info.id, content).clusters
            except DamagedDocumentError:
                clusters = ()
            _MENTIONS[info.id, info.added_at] = sum(len(cluster) for cluster in clusters if len(cluster) > 1)
    return len(kept), sum(_MENTIONS[info.id, info.added_at] for info in kept)


def _curve(connection: Connection, mentions: int) -> list[CurvePoint]:
    """Each version with the share of its proposals that people accepted.

    The interval of F1 treats held-out mentions as independent cases. They are not, so the interval is too narrow; it
    still shows which differences mean nothing.
    """
    yes: Counter[int] = Counter()
    asked: Counter[int] = Counter()
    for version, text in connection.execute(select(EVENTS.model_version, EVENTS.event).where(EVENTS.kind == "answer")):
        event = log.event_or_empty(text)
        chose_another = event.get("same") is None and event.get("reply") == "antecedent"
        if event.get("antecedent") is not None and (event.get("same") is not None or chose_another):
            asked[version] += 1
            yes[version] += bool(event.get("same"))
    fits = settings.get(connection, settings.HELD_BACK, {})
    points = []
    for version in predictions.all_versions(connection):
        if version.is_ready:
            accepted = yes[version.id] / asked[version.id] if asked[version.id] else None
            accepted_low, accepted_high = _bounds(accepted, asked[version.id])
            f1_low, f1_high = _bounds(version.f1, mentions, whole=100.0)
            fit = fits.get(str(version.id), {})
            points.append(
                CurvePoint(
                    version=version.id,
                    name=version.name,
                    answers=version.answers,
                    f1=version.f1,
                    accepted=accepted,
                    asked=asked[version.id],
                    at=version.created_at,
                    explained=fit.get("probability"),
                    low=fit.get("low"),
                    high=fit.get("high"),
                    held_back=fit.get("answers", 0),
                    f1_low=f1_low,
                    f1_high=f1_high,
                    accepted_low=accepted_low,
                    accepted_high=accepted_high,
                )
            )
    return points


def _bounds(value: float | None, count: int, whole: float = 1.0) -> tuple[float | None, float | None]:
    """The interval of a value out of `whole` that was measured on `count` cases."""
    if value is None or not count:
        return None, None
    low, high = interval(value / whole, count)
    return whole * low, whole * high

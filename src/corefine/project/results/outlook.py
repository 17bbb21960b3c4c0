"""Estimates what more hours of answers would bring: how many remaining questions would correct the model.

The estimate is made from a sample of the unfinished documents, so it takes seconds in any project.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from corefine.annotation.cost import CostModel
from corefine.annotation.session import Session
from corefine.prediction import Floats
from corefine.project.project import Project
from corefine.project.results.estimate import estimate
from corefine.project.store import documents, log, predictions, settings
from corefine.project.store.documents import DocumentInfo
from corefine.project.work import assignments
from corefine.project.work.open_document import UNREADABLE, restore_session

SAMPLED = 20
MOST_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is left to ask, according to the newest model.

    documents       how many documents nobody has finished
    questions       how many questions are worth asking there, within the budget
    seconds_each    the time of one question; `hours` is that of all
    corrections     how many of the answers would differ from what the model expects
    next_hour       how many such corrections the next hour would bring
    last_hour       how many the last hour would bring
    sampled         how many documents the estimate is based on
    unfamiliar      in how many documents the model can ask nothing, because it knows too little of the text
    used_up         in how many documents the budget is used up
    """

    documents: int
    questions: int
    seconds_each: float
    hours: float
    corrections: float
    next_hour: float
    last_hour: float
    sampled: int
    unfamiliar: int = 0
    used_up: int = 0


def outlook(project: Project) -> Outlook:
    """Look at up to 20 unfinished documents, for a few seconds at most."""
    with project.database.read() as connection:
        config = settings.load(connection)
        done = {each.document_id for each in assignments.all_of(connection) if each.done}
        left = [info for info in documents.to_annotate(connection) if info.id not in done]
        ready = predictions.ready_versions(connection)
        cost, estimated = settings.load_cost(connection), estimate(connection)
        each = cost.expected(config.protocol) if estimated is None else estimated.seconds_each
    until = time.monotonic() + MOST_SECONDS
    gains: list[Floats] = []
    endings = Counter[str | None]()
    tokens = 0
    for info in _spread(left):
        session = _session(project, info, ready, config, cost)
        if session is not None:
            gains.append(_worth_asking(session))
            endings[session.ending] += 1
            tokens += info.tokens
        if time.monotonic() > until:
            break
    share = tokens / max(1, sum(info.tokens for info in left))
    found = extrapolate(gains, share, documents=len(left), seconds_each=each)
    factor = len(left) / max(1, found.sampled)
    return replace(found, unfamiliar=round(endings["unfamiliar"] * factor), used_up=round(endings["budget"] * factor))


def extrapolate(gains: list[Floats], share: float, *, documents: int, seconds_each: float) -> Outlook:
    """The outlook, from the gains in a sample that has this share of all tokens."""
    ordered = np.sort(np.concatenate([np.zeros(0), *gains]))[::-1]
    factor = 1.0 / share if share else 0.0
    questions = round(len(ordered) * factor)
    # How many questions of the sample one hour stands for.
    hour = max(1, round(3600.0 / max(seconds_each, 1e-6) / max(factor, 1e-6)))
    return Outlook(
        documents=documents,
        questions=questions,
        seconds_each=seconds_each,
        hours=questions * seconds_each / 3600.0,
        corrections=float(ordered.sum()) * factor,
        next_hour=float(ordered[:hour].sum()) * factor,
        last_hour=float(ordered[-hour:].sum()) * factor,
        sampled=len(gains),
    )


def _spread(left: list[DocumentInfo]) -> list[DocumentInfo]:
    """At most 20 documents, evenly spread."""
    step = max(1.0, len(left) / SAMPLED)
    return [left[int(place * step)] for place in range(min(SAMPLED, len(left)))]


def _session(
    project: Project, info: DocumentInfo, ready: list[int], config: settings.ProjectConfig, cost: CostModel
) -> Session | None:
    """The session of the person with the most answers; None if the document has no prediction or cannot be read."""
    version = project.predictions.newest(ready, info.id)
    if version is None:
        return None
    try:
        with project.database.read() as connection:
            rows = log.events_of(connection, document_id=info.id)
        people = [row.person_id for row in rows]
        busiest = max(set(people), key=people.count, default=None)
        own = [row for row in rows if row.person_id == busiest]
        prediction = project.predictions.load(version, info.id)
        return restore_session(project.documents.get(info.id), own, prediction, config, cost)
    except UNREADABLE:
        return None


def _worth_asking(session: Session) -> Floats:
    """The gains of the questions that the document's budget allows, the largest first."""
    gains = np.sort(session.gains())[::-1]
    worth = gains[gains >= session.budget.least_gain]
    budget = session.budget.questions
    return worth if budget is None else worth[: max(0, budget - len(session.answers))]

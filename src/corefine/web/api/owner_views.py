"""What the owner sees of people and training."""

from __future__ import annotations

import time

from sqlalchemy import select

from corefine.project.project import Project
from corefine.project.results.statistics import person_statistics
from corefine.project.store import people, predictions, schema
from corefine.project.store.log import count_answers
from corefine.project.store.predictions import TRAINED
from corefine.project.work.workspaces import Workspaces
from corefine.web.api.owner_types import PersonRow, TrainingStatus
from corefine.web.api.views import timestamp

SILENT_SECONDS = 120.0
"""A worker that has said nothing for so long has stopped."""


def person_rows(project: Project) -> list[PersonRow]:
    with project.database.read() as connection:
        statistics = person_statistics(connection)
        everybody = people.everybody(connection)
    rows = []
    for person in everybody:
        own = statistics.get(person.id)
        rows.append(
            PersonRow(
                id=person.id,
                name=person.name,
                role=person.role,  # type: ignore[arg-type]  # the same words
                active=person.active,
                answers=own.answers if own else 0,
                seconds=own.seconds if own else 0.0,
                documents_done=own.documents_done if own else 0,
                questions_per_hour=own.questions_per_hour if own else None,
                last_seen=timestamp(own.last_at) if own and own.last_at else None,
            )
        )
    return rows


def training_status(project: Project, workspaces: Workspaces) -> TrainingStatus:
    with project.database.read() as connection:
        row = connection.execute(select(schema.worker)).first()
        answers = count_answers(connection)
        known = predictions.all_versions(connection)
    runs = [version for version in known if version.kind == TRAINED]
    ready = [version.id for version in known if version.state == predictions.READY]
    silent = row is None or time.time() - row.beat_at > SILENT_SECONDS
    failed = runs[-1].message if runs and runs[-1].state == predictions.FAILED else None
    state = "stopped" if silent or row is None else row.state
    return TrainingStatus(
        state="failed" if state == "idle" and failed else state,  # type: ignore[arg-type]  # the same words
        version=ready[-1] if ready else 0,
        message=failed or (None if row is None else row.message),
        share_done=None if row is None else row.share_done,
        answers_since=answers - (runs[-1].answers if runs else 0),
        retrain_every=workspaces.settings.retrain_every,
    )

"""Entities that come with imported documents, used as answers, suggestions or gold, or ignored."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import numpy as np
from sqlalchemy import Connection

from corefine.annotation.session import Session
from corefine.document import Cluster, Document
from corefine.errors import InputError
from corefine.links import Assertion, First, Must
from corefine.prediction import NONE, Prediction
from corefine.project.store import documents, log, people, settings
from corefine.project.store.documents import Imported
from corefine.project.store.log import LoggedStep, Timing
from corefine.project.store.predictions import EMPTY

TRUST = 0.85
"""The probability of a suggestion. It can still be asked about, and an answer overrides it."""
MENTION = 2.0
"""The mention score of a suggested mention. All other spans get at most minus this."""


class Use(StrEnum):
    """How the entities of an imported document are used."""

    ANSWERS = "answers"
    """They go into the log of the person who adds the document, and of all who open it later, with their source."""
    SUGGESTIONS = "suggestions"
    """They replace the first model's guesses, until a model trained in the project has read the document."""
    GOLD = "gold"
    """The document is held out, and the model is scored on it."""
    IGNORE = "ignore"


def checked_use(name: str) -> Use:
    """The use of this name. Raises if there is none."""
    if name not in set(Use):
        raise InputError(f"annotations can be used as {', '.join(Use)}, not as {name!r}")
    return Use(name)


def import_and_use(
    connection: Connection, paths: Iterable[Path], *, chosen: Use, language: str | None = None
) -> Imported:
    """Import files and folders, and use their entities. Answers become the owner's."""
    owner = people.first_owner(connection)

    def added(document_id: int, document: Document, file: str) -> None:
        use(connection, document_id, document, chosen, person_id=owner.id, source=file)

    return documents.import_paths(connection, paths, held_out=chosen is Use.GOLD, language=language, on_added=added)


def use(
    connection: Connection,
    document_id: int,
    document: Document,
    chosen: Use,
    *,
    person_id: int,
    source: str,
) -> None:
    """Use the entities of a document that was just stored. `source` is the file they come from."""
    if not document.clusters or chosen not in (Use.ANSWERS, Use.SUGGESTIONS):
        return  # gold documents are stored as held out
    settings.put(connection, _name(document_id), {"use": chosen.value, "person": person_id})
    if chosen is Use.ANSWERS:
        infer_first = settings.load(connection).infer_first
        session = Session(document.with_clusters([]), EMPTY, infer_first=infer_first)
        for cluster in document.clusters:
            session.edit(_said(cluster), mentions=cluster, source=source)
            _append(connection, person_id, document_id, len(session.log["events"]), session.last_event)


def copy_answers(connection: Connection, document_id: int, person_id: int) -> None:
    """Copy the answers that came with a document to a person who opens it, unless they have them already."""
    found = settings.get(connection, _name(document_id), {})
    if found.get("use") != Use.ANSWERS or found["person"] == person_id:
        return
    if log.events_of(connection, document_id=document_id, person_id=person_id):
        return
    rows = log.events_of(connection, document_id=document_id, person_id=found["person"])
    given = (row.event for row in rows if row.event.get("source") is not None)
    for place, event in enumerate(given, start=1):
        _append(connection, person_id, document_id, place, {**event, "number": place})


def is_suggested(connection: Connection, document_id: int) -> bool:
    """Whether the entities of a document are suggestions."""
    return bool(settings.get(connection, _name(document_id), {}).get("use") == Use.SUGGESTIONS)


def with_suggestions(document: Document, prediction: Prediction) -> Prediction:
    """The prediction with the document's entities as its most probable guesses. Discontinuous mentions are left out."""
    clusters = [[span for span in cluster if len(span.parts) == 1] for cluster in document.clusters]
    before = {later: earlier for cluster in clusters for earlier, later in pairwise(cluster)}
    suggested = {span for cluster in clusters for span in cluster}
    spans = sorted(suggested.union(prediction.spans))
    row_of = {span: row for row, span in enumerate(spans)}
    width = max(1, prediction.width)
    candidates = np.full((len(spans), width), NONE, dtype=np.int64)
    rows = np.zeros((len(spans), 1 + width))
    rows[:, 0] = 1.0
    scores = np.full(len(spans), -MENTION)
    new = np.array([*(row_of[span] for span in prediction.spans), NONE], dtype=np.int64)  # padding, -1, is the last
    if len(prediction):
        own = new[:-1]
        candidates[own, : prediction.width] = new[prediction.candidates]
        rows[own, : 1 + prediction.width] = prediction.probabilities
        if prediction.mention_scores is not None:
            scores[own] = np.minimum(prediction.mention_scores, -MENTION)
    rows *= 1.0 - TRUST
    for row, span in enumerate(spans):
        column = 0 if span not in before else 1 + _column(candidates[row], rows[row], row_of[before[span]])
        rows[row, column] += TRUST
    scores[[row_of[span] for span in suggested]] = MENTION
    return Prediction(
        tuple(spans),
        candidates,
        rows,
        mention_scores=scores,
        decoding=prediction.decoding,
        threshold=prediction.threshold,
    )


def _column(candidates: np.ndarray, row: np.ndarray, wanted: int) -> int:
    """The column of a candidate. One that is not listed replaces the least probable candidate."""
    listed = np.flatnonzero(candidates == wanted)
    if len(listed):
        return int(listed[0])
    column = int(np.argmin(row[1:]))
    row[0] += row[1 + column]
    row[1 + column] = 0.0
    candidates[column] = wanted
    return column


def _said(cluster: Cluster) -> list[Assertion]:
    return [First(cluster[0], cluster[0]), *(Must(a, b) for a, b in pairwise(cluster))]


def _append(connection: Connection, person_id: int, document_id: int, place: int, event: dict[str, object]) -> None:
    log.append(
        connection,
        LoggedStep(uuid4().hex, document_id, "edit", 0.0),
        person_id=person_id,
        place=place,
        event=event,
        outcome={},
        timing=Timing(),
        model_version=0,
    )


def _name(document_id: int) -> str:
    return f"annotations:{document_id}"

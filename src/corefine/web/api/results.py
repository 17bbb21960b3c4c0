"""The API for the project's owner: dashboard, agreement, adjudication, downloads."""

from __future__ import annotations

import shutil
import time
from dataclasses import asdict
from pathlib import Path

from fastapi import APIRouter, Depends, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel
from pydantic.dataclasses import dataclass as pydantic_dataclass

from corefine.document import Document
from corefine.errors import InputError
from corefine.project.results import adjudication, disagreement, export
from corefine.project.results.agreement import Agreement, agreement
from corefine.project.results.estimate import Estimate, estimate
from corefine.project.results.merged import merged
from corefine.project.results.outlook import Outlook, outlook
from corefine.project.results.snapshot import Only, Snapshot
from corefine.project.results.statistics import CurvePoint, Statistics, UnusedTraining, statistics
from corefine.project.work.open_document import UNREADABLE, damaged
from corefine.web.api.context import InContext, Owner, check_document, owner, respond, sent_once, temporary_folder
from corefine.web.api.documents import EntitiesView
from corefine.web.api.owner import PersonRow, TrainingStatus, person_rows, training_status
from corefine.web.api.problems import ApiError
from corefine.web.api.types import AnswerJson, Id, RequestModel, SpanJson, Time

routes = APIRouter(prefix="/api", dependencies=[Depends(owner)])


# Dashboard and agreement


@pydantic_dataclass(frozen=True)
class CurvePointView(CurvePoint):
    at: Time


@pydantic_dataclass(frozen=True)
class UnusedTrainingView(UnusedTraining):
    at: Time


@pydantic_dataclass(frozen=True, kw_only=True)
class Dashboard(Statistics):
    """`estimate` is None if documents have no budget of questions."""

    curve: tuple[CurvePointView, ...]
    unused: tuple[UnusedTrainingView, ...]
    hours: float
    paused: bool
    estimate: Estimate | None
    people: list[PersonRow]
    training: TrainingStatus


@routes.get("/dashboard")
def dashboard(here: InContext) -> Dashboard:
    with here.project.database.read() as connection:
        found = statistics(connection)
        people = person_rows(connection)
        estimated = estimate(connection)
    return Dashboard(
        **asdict(found),
        hours=found.seconds / 3600.0,
        paused=here.workspaces.settings.paused,
        estimate=estimated,
        people=people,
        training=training_status(here),
    )


@routes.get("/agreement")
def show_agreement(here: InContext) -> Agreement:
    return agreement(here.project)


@routes.get("/outlook")
def show_outlook(here: InContext) -> Outlook:
    """What more hours of answers would bring, estimated from a sample. Takes up to a few seconds."""
    return outlook(here.project)


# Adjudication


class OpinionView(BaseModel):
    """What one person's answers say of a mention: the first mention of its entity, None if that is not known."""

    person: str
    first: SpanJson | None
    first_text: str | None
    mention: bool
    answer: AnswerJson | None

    @classmethod
    def of(cls, document: Document, version: disagreement.Opinion) -> OpinionView:
        return cls(
            person=version.person,
            first=version.first,
            first_text=None if version.first is None else document.words(version.first),
            mention=version.is_mention,
            answer=None if version.answer is None else AnswerJson.model_validate(version.answer),
        )


class DecisionJson(RequestModel):
    """`first` is the mention itself if it is the first of its entity. `mention` is false if it is not a mention."""

    mention: bool = True
    first: SpanJson | None = None

    @classmethod
    def of(cls, decision: adjudication.OwnerDecision) -> DecisionJson:
        return cls(mention=decision.is_mention, first=decision.first)


class DecisionRequest(RequestModel):
    document: Id
    mention: SpanJson
    decision: DecisionJson | None


class DifferenceView(BaseModel):
    """A mention on which people differ, and the owner's decision, if there is one."""

    id: str
    document: int
    document_name: str
    mention: SpanJson
    mention_text: str
    sentence: int
    versions: list[OpinionView]
    decision: DecisionJson | None


class Adjudication(BaseModel):
    differences: list[DifferenceView]
    open: int

    @classmethod
    def of(cls, views: list[DifferenceView]) -> Adjudication:
        return cls(differences=views, open=sum(view.decision is None for view in views))


@routes.get("/adjudication")
def show_adjudication(here: InContext) -> Adjudication:
    """Every mention on which people differ."""
    views = []
    for found in disagreement.disagreements(here.project):
        document = here.project.documents.get(found.document_id)
        views.append(
            DifferenceView(
                id=f"{found.document_id}:{found.mention}",
                document=found.document_id,
                document_name=found.document_name,
                mention=found.mention,
                mention_text=document.words(found.mention),
                sentence=document.sentence_of(found.mention),
                versions=[OpinionView.of(document, version) for version in found.opinions],
                decision=None if found.decision is None else DecisionJson.of(found.decision),
            )
        )
    return Adjudication.of(views)


@routes.post("/adjudication")
def decide(body: DecisionRequest, person: Owner, here: InContext) -> Adjudication:
    """Decide about a mention. The decision overrides every answer."""
    check_document(here, body.document)
    decision = body.decision
    if decision is not None and decision.mention and decision.first is None:
        raise ApiError(422, "answer", "say where the entity first appears, or that this is not a mention")
    shown = show_adjudication(here)  # read before the write, so that nothing can fail after it
    if decision is None:
        adjudication.withdraw_decision(here.project, body.document, body.mention)
    else:
        first = decision.first if decision.mention else None
        made = (body.document, body.mention, decision.mention, first, person.id, time.time())
        adjudication.decide(here.project, adjudication.OwnerDecision(*made))
        decision = DecisionJson(mention=decision.mention, first=first)
    for view in shown.differences:
        if (view.document, view.mention) == (body.document, body.mention):
            view.decision = decision
    return Adjudication.of(shown.differences)


@routes.get("/adjudication/{document_id}/entities", response_model=EntitiesView)
def everybodys_entities(document_id: Id, here: InContext) -> Response:
    """The entities under the model, the owner's decisions and everybody's answers, as an export has them."""
    check_document(here, document_id)
    snapshot = Snapshot(here.project)
    try:
        found = merged(snapshot, document_id, snapshot.prediction(document_id)[1])
    except UNREADABLE as error:
        raise damaged(f"document {document_id}", error) from error
    return respond(EntitiesView.of(document_id, found.session))


# Downloads


@pydantic_dataclass(frozen=True)
class ExportFormat(export.ExportKind):
    """`ending` is empty where several files come as a zip; `missing` says why there is nothing to export yet."""

    missing: str | None


@routes.get("/export/formats")
def export_formats(here: InContext) -> list[ExportFormat]:
    return [ExportFormat(**asdict(kind), missing=export.missing(here.project, kind.name)) for kind in export.kinds()]


@routes.get("/export")
def download(here: InContext, format: str, only: Only = "all", said: bool = False, lossy: bool = True) -> FileResponse:
    """The project's documents, or another kind of export named by `format`. Several files come as a zip archive.

    `only` says which documents; `said` leaves out the model's own links.
    """
    kind = next((kind for kind in export.kinds() if kind.name == format), None)
    if kind is None:
        raise ApiError(400, "input", f"there is no export {format!r}")
    with temporary_folder() as folder:
        path = folder / f"corefine-{kind.name}{kind.ending}"
        try:
            made = export.export(here.project, path, kind.name, only=only, said=said, lossy=lossy)
            if path.is_dir():
                path = Path(shutil.make_archive(str(path), "zip", path))
        except OSError as error:
            raise ApiError(503, "unavailable", f"the export cannot be written here: {error.strerror}") from error
        except InputError as error:
            raise InputError(str(error).replace(f"{folder}/", "")) from error  # no path of the server
        new = (f"{name} was left out of an export: {why}" for name, why in made.skipped)
        here.notices += [notice for notice in new if notice not in here.notices]
        return sent_once(path)


@routes.get("/report")
def download_report(here: InContext) -> FileResponse:
    return download(here, export.REPORT)

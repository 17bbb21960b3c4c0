"""The API for the project's owner: what has come of it so far."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import mkdtemp

from fastapi import APIRouter, Depends
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from corefine.annotation.question import span_from_json, span_to_json
from corefine.project.results import adjudication, export
from corefine.project.results.agreement import Pair
from corefine.project.results.agreement import agreement as measure_agreement
from corefine.project.results.statistics import statistics
from corefine.web.api.annotator import span_of
from corefine.web.api.context import InContext, Owner, asked_about, owner
from corefine.web.api.owner_types import (
    Adjudication,
    Agreement,
    CurvePoint,
    Dashboard,
    Decision,
    DecisionRequest,
    Difference,
    ExportFormat,
    PairScore,
    Version,
)
from corefine.web.api.owner_views import person_rows, training_status
from corefine.web.api.problems import ApiError
from corefine.web.api.views import answer_json, sentence_of, timestamp

routes = APIRouter(prefix="/api", dependencies=[Depends(owner)])


@routes.get("/dashboard")
def dashboard(here: InContext) -> Dashboard:
    with here.project.database.read() as connection:
        found = statistics(connection)
    return Dashboard(
        documents=found.documents,
        documents_done=found.documents_done,
        answers=found.answers,
        hours=found.seconds / 3600.0,
        questions_per_hour=found.questions_per_hour,
        curve=[
            CurvePoint(
                version=point.version,
                name=point.name,
                answers=point.answers,
                f1=point.f1,
                accepted=point.accepted,
                asked=point.asked,
                at=timestamp(point.at),
            )
            for point in found.curve
        ],
        people=person_rows(here.project),
        training=training_status(here.project, here.workspaces),
    )


@routes.get("/agreement")
def agreement(here: InContext) -> Agreement:
    total, by_document = measure_agreement(here.project)
    return Agreement(total=[_pair(pair) for pair in total], documents=[_pair(pair) for pair in by_document])


def _pair(pair: Pair) -> PairScore:
    scores = pair.scores
    return PairScore(
        document=pair.document_id,
        name=pair.name,
        a=pair.a,
        b=pair.b,
        kappa=pair.kappa,
        questions=pair.questions,
        muc=scores.muc.f1,
        b3=scores.b3.f1,
        ceafe=scores.ceafe.f1,
        lea=scores.lea.f1,
        conll=scores.conll_f1,
    )


@routes.get("/adjudication")
def show_adjudication(here: InContext) -> Adjudication:
    """Every mention on which people differ."""
    views = []
    for found in adjudication.differences(here.project):
        document = here.project.documents.get(found.document_id)
        views.append(
            Difference(
                id=f"{found.document_id}:{found.mention}",
                document=found.document_id,
                document_name=found.document_name,
                mention=span_to_json(found.mention),
                mention_text=document.words(found.mention),
                sentence=sentence_of(document, found.mention),
                versions=[
                    Version(
                        person=each.person,
                        first=None if each.first is None else span_to_json(each.first),
                        first_text=None if each.first is None else document.words(each.first),
                        mention=each.is_mention,
                        answer=None if each.answer is None else answer_json(each.answer),
                    )
                    for each in found.opinions
                ],
                decision=None if found.decision is None else Decision(**found.decision),
            )
        )
    return Adjudication(differences=views, open=sum(view.decision is None for view in views))


@routes.post("/adjudication")
def decide(body: DecisionRequest, person: Owner, here: InContext) -> Adjudication:
    """The owner's decision about a mention; it outweighs every answer."""
    asked_about(here, body.document)
    decision = body.decision
    if decision is not None and decision.mention and decision.first is None:
        raise ApiError(422, "answer", "say where the entity first appears, or that this is no mention")
    first = None if decision is None or decision.first is None or not decision.mention else span_of(decision.first)
    kept = None if decision is None else {"mention": decision.mention, "first": first and span_to_json(first)}
    adjudication.decide(here.project, person, body.document, span_from_json(body.mention), kept, first)
    return show_adjudication(here)


# To take away


@routes.get("/export/formats")
def export_formats(here: InContext) -> list[ExportFormat]:
    return [
        ExportFormat(
            name=kind.name, ending=kind.ending, about=kind.about, missing=export.missing(here.project, kind.name)
        )
        for kind in export.kinds()
    ]


@routes.get("/export")
def download(here: InContext, format: str, lossy: bool = True) -> FileResponse:
    """The project's documents, or what else `format` names; several files come as a zip archive."""
    kind = next((kind for kind in export.kinds() if kind.name == format), None)
    if kind is None:
        raise ApiError(400, "input", f"there is no export {format!r}")
    folder = Path(mkdtemp(prefix="corefine-export-"))
    try:
        path = folder / f"corefine-{kind.name}{kind.ending}"
        export.export(here.project, path, kind.name, lossy=lossy)
        if path.is_dir():
            path = Path(shutil.make_archive(str(path), "zip", path))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    cleanup = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(path, filename=path.name, background=cleanup)


@routes.get("/report")
def download_report(here: InContext) -> FileResponse:
    return download(here, export.REPORT)

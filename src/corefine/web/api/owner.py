"""The API for the project's owner: settings, people, documents, training."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from corefine.project.learning import training
from corefine.project.store import people
from corefine.project.store.settings import Settings as ProjectSettings
from corefine.web.api import uploads
from corefine.web.api.context import Context, InContext, Owner, give_cookie, owner
from corefine.web.api.owner_types import (
    Invitation,
    NewPerson,
    PersonRow,
    Settings,
    Skipped,
    TrainingStatus,
    Upload,
)
from corefine.web.api.owner_views import person_rows, training_status
from corefine.web.api.problems import not_found
from corefine.web.api.types import Guidelines, Person

routes = APIRouter(prefix="/api", dependencies=[Depends(owner)])


@routes.get("/settings")
def settings(here: InContext) -> Settings:
    return Settings(**here.workspaces.settings.to_dict())


@routes.put("/settings")
def change_settings(body: Settings, here: InContext) -> Settings:
    here.workspaces.change_settings(ProjectSettings.from_dict(body.model_dump()))
    return body


@routes.put("/guidelines")
def change_guidelines(body: Guidelines, here: InContext) -> Guidelines:
    here.project.change_guidelines(body.markdown)
    return body


@routes.post("/documents")
async def upload(
    request: Request, here: InContext, name: Annotated[str, Query(min_length=1, max_length=300)]
) -> Upload:
    """Add the documents of a file, or of the files in a zip archive. The body is the file."""
    content = await request.body()
    found = await run_in_threadpool(uploads.import_upload, here.project, name, content)
    here.workspaces.documents_changed()
    return Upload(added=found.added, skipped=[Skipped(file=file, reason=why) for file, why in found.skipped])


# People


@routes.get("/people")
def everybody(here: InContext) -> list[PersonRow]:
    return person_rows(here.project)


@routes.post("/people")
def invite(body: NewPerson, request: Request, response: Response, person: Owner, here: InContext) -> Invitation:
    """A new person, and the link that lets them in."""
    new, token = here.project.invite(body.name, body.role)
    return _invited(here, request, response, person, new, token)


@routes.post("/people/{person_id}/invitation")
def invite_again(person_id: int, request: Request, response: Response, person: Owner, here: InContext) -> Invitation:
    """A new link; the old one, and every login that came of it, end."""

    def job(connection: Any) -> tuple[people.Person, str] | None:
        found = people.by_id(connection, person_id)
        return None if found is None else (found, people.invite(connection, found))

    found = here.project.writer.write(job)
    if found is None:
        raise not_found(f"person {person_id}")
    return _invited(here, request, response, person, *found)


def _invited(
    here: Context, request: Request, response: Response, host: people.Person, new: people.Person, token: str
) -> Invitation:
    if here.open or new.id == host.id:  # from now on the owner needs to be known by a cookie, too
        give_cookie(response, request, here.project.writer.write(lambda connection: people.log_in(connection, host)))
        here.open = False
    here.forget_logins()
    link = f"{request.url.scheme}://{request.headers['host']}/#join={token}"
    return Invitation(person=Person(id=new.id, name=new.name, role=new.role), link=link)  # type: ignore[arg-type]


@routes.delete("/people/{person_id}")
def revoke(person_id: int, here: InContext) -> list[PersonRow]:
    """End a person's access; the answers stay."""

    def job(connection: Any) -> bool:
        found = people.by_id(connection, person_id)
        if found is not None:
            people.revoke(connection, found)
        return found is not None

    if not here.project.writer.write(job):
        raise not_found(f"person {person_id}")
    here.forget_logins()
    return person_rows(here.project)


# Training


@routes.get("/training")
def show_training(here: InContext) -> TrainingStatus:
    return training_status(here.project, here.workspaces)


@routes.post("/training")
def train_now(here: InContext) -> TrainingStatus:
    training.request(here.project)
    return training_status(here.project, here.workspaces)

"""The API for the project's owner: settings, people, training."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass
from sqlalchemy import Connection, select

from corefine.project.learning import training
from corefine.project.results.statistics import PersonStatistics, person_statistics
from corefine.project.store import people, predictions, schema
from corefine.project.store.log import count_answers
from corefine.project.store.people import Person
from corefine.project.store.settings import ProjectConfig, check_code
from corefine.web.api.context import COOKIE, Context, InContext, Owner, give_cookie, owner
from corefine.web.api.problems import not_found
from corefine.web.api.types import STRICT, Guidelines, Id, PersonView, RequestModel, Role, Time

SILENT_SECONDS = 120.0
"""A training process that has not reported for this long has stopped."""

routes = APIRouter(prefix="/api", dependencies=[Depends(owner)])


# Settings


@pydantic_dataclass(frozen=True, config=STRICT)
class SettingsJson(ProjectConfig):
    """The project's settings, with their types checked."""


@routes.get("/settings")
def settings(here: InContext) -> SettingsJson:
    return SettingsJson(**here.workspaces.settings.to_dict())


@routes.put("/settings")
def change_settings(body: SettingsJson, here: InContext) -> SettingsJson:
    new = ProjectConfig.from_dict(body.to_dict())
    check_code(new, here.workspaces.settings)
    here.workspaces.change_settings(new)
    return settings(here)


@routes.put("/guidelines")
def change_guidelines(body: Guidelines, here: InContext) -> Guidelines:
    here.project.change_guidelines(body.markdown)
    return body


# People


class PersonRequest(RequestModel):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    role: Role = "annotator"


class Invitation(BaseModel):
    """The link is shown once: only a hash of its token is stored."""

    person: PersonView
    link: str


@pydantic_dataclass(frozen=True, kw_only=True)
class PersonRow(PersonStatistics):
    id: int
    name: str
    role: str
    active: bool
    last_seen: Time | None


def person_rows(connection: Connection) -> list[PersonRow]:
    statistics = person_statistics(connection)
    return [PersonRow(**asdict(person), **asdict(statistics[person.id])) for person in people.everybody(connection)]


@routes.get("/people")
def everybody(here: InContext) -> list[PersonRow]:
    with here.project.database.read() as connection:
        return person_rows(connection)


@routes.post("/people")
def invite(body: PersonRequest, request: Request, response: Response, person: Owner, here: InContext) -> Invitation:
    """Add a person and make the link with which they log in."""
    return _invited(here, request, response, person, lambda connection: people.add(connection, body.name, body.role))


@routes.post("/people/{person_id}/invitation")
def invite_again(person_id: Id, request: Request, response: Response, person: Owner, here: InContext) -> Invitation:
    """Make a new link; the old one and all its logins end."""
    return _invited(here, request, response, person, lambda connection: _person(connection, person_id))


@routes.delete("/people/{person_id}")
def revoke(person_id: Id, here: InContext) -> list[PersonRow]:
    """End a person's access; the answers stay."""

    def job(connection: Connection) -> list[PersonRow]:
        people.revoke(connection, _person(connection, person_id))
        return person_rows(connection)

    rows = here.project.writer.write(job)
    here.forget_logins()
    return rows


def _person(connection: Connection, person_id: int) -> Person:
    found = people.by_id(connection, person_id)
    if found is None:
        raise not_found(f"person {person_id}")
    return found


def _invited(
    here: Context, request: Request, response: Response, host: Person, guest: Callable[[Connection], Person]
) -> Invitation:
    """Invite a person, and log in the owner, who needs a cookie from now on: both, or neither."""
    has_login = here.remembered(request.cookies.get(COOKIE)) is not None

    def job(connection: Connection) -> tuple[Person, str, str | None]:
        new = guest(connection)
        token = people.invite(connection, new)
        needs_login = not has_login or new.id == host.id
        return new, token, people.log_in(connection, host) if needs_login else None

    new, token, secret = here.project.writer.write(job)
    if secret is not None:
        give_cookie(response, request, secret)
        here.open = False
    here.forget_logins()
    link = f"{request.url.scheme}://{request.headers['host']}/#join={token}"
    return Invitation(person=PersonView.model_validate(new), link=link)


# Training


class TrainingStatus(BaseModel):
    """`state` is that of the background process; `message` says what failed, if anything did."""

    state: schema.WorkerState | Literal["stopped"]
    version: int
    message: str | None
    share_done: float | None
    answers_since: int
    retrain_every: int


@routes.get("/training")
def training_status(here: InContext) -> TrainingStatus:
    with here.project.database.read() as connection:
        worker = connection.execute(select(schema.worker)).first()
        answers = count_answers(connection)
        known = predictions.all_versions(connection)
    runs = [version for version in known if version.kind == predictions.TRAINED]
    failed = runs[-1].message if runs and runs[-1].state == predictions.FAILED else None
    state = "stopped" if worker is None or time.time() - worker.beat_at > SILENT_SECONDS else worker.state
    return TrainingStatus(
        state="failed" if state == "idle" and failed else state,  # type: ignore[arg-type]  # the same words
        version=max((version.id for version in known if version.state == predictions.READY), default=0),
        message=failed or (None if worker is None else worker.message),
        share_done=None if worker is None else worker.share_done,
        answers_since=answers - (runs[-1].answers if runs else 0),
        retrain_every=here.workspaces.settings.retrain_every,
    )


@routes.post("/training")
def train_now(here: InContext) -> TrainingStatus:
    training.request(here.project)
    return training_status(here)

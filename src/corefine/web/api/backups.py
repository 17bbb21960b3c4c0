"""The API for making and restoring backups."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from tempfile import mkdtemp

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse
from pydantic import BaseModel
from sqlalchemy import Connection
from starlette.background import BackgroundTask

from corefine.errors import InputError
from corefine.project.store import people
from corefine.project.upkeep.backup import RestoredHere, backup, restore_here
from corefine.web.api.context import Context, InContext, give_cookie, owner
from corefine.web.api.uploads import keep

routes = APIRouter(prefix="/api", dependencies=[Depends(owner)])


class Restored(BaseModel):
    """`kept` is the name of the file in the project's folder that has the previous data."""

    documents: int
    kept: str


@routes.get("/backup")
def make_backup(here: InContext) -> FileResponse:
    """Everything that cannot be computed again, as one file. The server keeps running."""
    folder = Path(mkdtemp(prefix="corefine-backup-"))
    path = folder / f"{here.project.name}-{time.strftime('%Y%m%d-%H%M')}.zip"
    try:
        backup(here.project, path)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return FileResponse(path, filename=path.name, background=BackgroundTask(shutil.rmtree, folder, ignore_errors=True))


@routes.post("/restore")
async def restore(request: Request, response: Response, here: InContext) -> Restored:
    """Put a backup, the body, in the place of all documents, people, answers and models of the project.

    Everybody else waits meanwhile: what the server knows of people and documents is about to be wrong.
    """
    changes = here.login_changes
    folder = Path(mkdtemp(prefix="corefine-restore-"))
    try:
        path = folder / "backup.zip"
        await keep(request, path)
        async with here.requests.alone():
            if here.login_changes != changes:
                raise InputError("people were changed while the file was sent, perhaps you too: send it again")
            restored = await run_in_threadpool(_restore, here, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    give_cookie(response, request, restored.result)
    return Restored(documents=restored.documents, kept=restored.kept.name)


def _restore(here: Context, path: Path) -> RestoredHere[str]:
    """Restore, and log in the owner: the people are others now, and so are their logins."""

    def log_in(connection: Connection) -> str:
        return people.log_in(connection, people.first_owner(connection))

    if here.importer.is_busy:
        raise InputError("files are being added to the project: wait until that is done, then restore")
    try:
        return restore_here(here.project, path, log_in)
    finally:  # also if it failed: the rows may have been replaced all the same
        here.workspaces.forget_all()
        here.forget_logins()

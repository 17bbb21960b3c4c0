"""The API for making and restoring backups."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse
from pydantic import BaseModel
from sqlalchemy import Connection

from corefine.errors import InputError
from corefine.project.store import people
from corefine.project.upkeep.backup import RestoredHere, backup, restore_here
from corefine.web.api.context import Context, InContext, give_cookie, owner, sent_once, temporary_folder
from corefine.web.api.uploads import keep

routes = APIRouter(prefix="/api", dependencies=[Depends(owner)])


class Restored(BaseModel):
    """`kept` is the name of the file in the project's folder that has the previous data."""

    documents: int
    kept: str


@routes.get("/backup")
def make_backup(here: InContext) -> FileResponse:
    """Everything that cannot be computed again, as one file. The server keeps running."""
    with temporary_folder() as folder:
        path = folder / f"{here.project.name}-{time.strftime('%Y%m%d-%H%M')}.zip"
        backup(here.project, path)
        return sent_once(path)


@routes.post("/restore")
async def restore(request: Request, response: Response, here: InContext) -> Restored:
    """Replace all documents, people, answers and models of the project by a backup, which is the body.

    All other requests wait meanwhile, because what the server knows about people and documents becomes wrong.
    """
    changes = here.login_changes
    with TemporaryDirectory(prefix="corefine-restore-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "backup.zip"
        await keep(request, path)
        async with here.requests.alone():
            if here.login_changes != changes:
                raise InputError("people were changed while the file was sent, perhaps you too: send it again")
            restored = await run_in_threadpool(_restore, here, path)
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

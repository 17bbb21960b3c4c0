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
from starlette.background import BackgroundTask

from corefine.project.store import people
from corefine.project.upkeep.backup import backup, restore_here
from corefine.project.work.workspaces import Workspaces
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
    """Replace all documents, people, answers and models of the project by a backup (the body)."""
    folder = Path(mkdtemp(prefix="corefine-restore-"))
    try:
        path = folder / "backup.zip"
        await keep(request, path)
        kept, secret = await run_in_threadpool(_restore, here, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    give_cookie(response, request, secret)
    return Restored(documents=len(here.workspaces.documents()), kept=kept.name)


def _restore(here: Context, path: Path) -> tuple[Path, str]:
    """The file with the previous data, and a new login, because the people and their logins have changed."""
    kept = restore_here(here.project, path)
    here.workspaces = Workspaces(here.project)
    here.forget_logins()
    owner = here.project.owner()
    return kept, here.project.writer.write(lambda connection: people.log_in(connection, owner))

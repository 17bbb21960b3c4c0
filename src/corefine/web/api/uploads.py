"""The API for uploads. Reading a file takes time, so a client can ask for the progress."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from corefine.errors import InputError
from corefine.project.store.settings import LANGUAGES, checked_language
from corefine.project.uploads import FileResult, Upload
from corefine.project.work.imported_entities import Use
from corefine.web.api.context import InContext, Owner, owner
from corefine.web.api.problems import not_found

UPLOAD_BYTES = 50_000_000
WAIT_SECONDS = 20.0

routes = APIRouter(prefix="/api", dependencies=[Depends(owner)])


class SkippedFile(BaseModel):
    file: str
    reason: str


class UploadResult(BaseModel):
    """The progress of an upload. It ends with `state` done or failed; `message` says why it failed.

    results          one for each file of the upload
    added, skipped   the same, as ids of new documents and reasons
    """

    id: str
    name: str
    state: Literal["waiting", "reading", "done", "failed"]
    message: str | None
    files: int
    files_done: int
    share_done: float
    added: list[int]
    skipped: list[SkippedFile]
    results: list[FileResult]

    @classmethod
    def of(cls, upload: Upload) -> UploadResult:
        results = list(upload.results)
        return cls(
            id=upload.id,
            name=upload.name,
            state=upload.state,
            message=upload.message,
            files=upload.files,
            files_done=upload.files_done,
            share_done=1.0 if upload.state == "done" else upload.bytes_done / max(1, upload.bytes),
            added=[key for each in results for key in each.added],
            skipped=[SkippedFile(file=each.file, reason=each.reason) for each in results if each.reason is not None],
            results=results,
        )


@routes.post("/documents")
async def upload(
    request: Request,
    here: InContext,
    person: Owner,
    name: Annotated[str, Query(min_length=1, max_length=300)],
    wait: Annotated[float, Query(ge=0.0, le=600.0)] = WAIT_SECONDS,
    language: Annotated[str | None, Query(max_length=20)] = None,
    annotations: Use = Use.IGNORE,
) -> UploadResult:
    """Add the documents of a file, or of the files in a zip archive. The body is the file.

    The response comes when everything is read, or after `wait` seconds; then ask for the upload again. `language` is
    the language code of documents that name none, or "auto"; by default the project's setting is used. `annotations`
    says how to use the entities of documents: as answers, suggestions or gold, or not at all.
    """
    importer = here.importer
    code = here.workspaces.settings.language_code if language is None else checked_language(language)
    path = await run_in_threadpool(importer.place)
    try:
        await keep(request, path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    sent = importer.add(name.replace("\0", "_"), path, language=code, annotations=annotations, person_id=person.id)
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(sent.done)), wait)
    return UploadResult.of(sent)


class Languages(BaseModel):
    """The languages that have rules for splitting plain text: their names by code. `chosen` is the project's."""

    names: dict[str, str]
    chosen: str


@routes.get("/languages")
def languages(here: InContext) -> Languages:
    return Languages(names=dict(LANGUAGES), chosen=here.workspaces.settings.language)


@routes.get("/uploads/{upload_id}")
async def uploaded(upload_id: str, here: InContext) -> UploadResult:
    """The progress and results of an upload."""
    found = here.importer.find(upload_id)
    if found is None:
        raise not_found(f"upload {upload_id}: it was long ago, or before the server was started")
    return UploadResult.of(found)


async def keep(request: Request, path: Path) -> None:
    """Write the body to a file as it arrives, so that memory does not hold it."""
    try:
        with path.open("xb") as file:
            async for block in request.stream():
                file.write(block)
    except OSError as error:
        raise InputError(f"the server has no room for the file: {error.strerror}") from error

"""The application: the API, the page, and the checks on every request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
from fastapi import FastAPI
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles

from corefine import __version__
from corefine.project.project import Project
from corefine.project.work.workspaces import Workspaces
from corefine.web.api import (
    account,
    annotator,
    backups,
    documents,
    full,
    owner,
    owner_documents,
    problems,
    results,
    study,
    tutorial,
    uploads,
)
from corefine.web.api.context import Context
from corefine.web.api.uploads import UPLOAD_BYTES
from corefine.web.fair_queue import PLACES
from corefine.web.security import LOOPBACK, Guard
from corefine.web.turns import Turns

STATIC = Path(__file__).with_name("static")
THREADS = PLACES + 8
"""For the requests that are handled at the same time, for looking up who asks, and for files."""


def create_app(
    project: Project,
    *,
    open: bool,
    hosts: Iterable[str] = (),
    notices: Iterable[str] = (),
    upload_bytes: int = UPLOAD_BYTES,
) -> FastAPI:
    """The server's application. `open`: everybody who reaches it is the owner, until somebody is invited."""

    context = Context(project, Workspaces(project), open, list(notices))

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        yield
        context.importer.stop()

    app = FastAPI(
        title="corefine",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        lifespan=life,
    )
    app.state.context = context
    app.add_middleware(Turns)
    app.add_middleware(Guard, hosts=LOOPBACK | frozenset(hosts), upload_bytes=upload_bytes)
    problems.install(app)

    for part in (
        account,
        annotator,
        backups,
        documents,
        full,
        owner_documents,
        tutorial,
        owner,
        uploads,
        results,
        study,
    ):
        app.include_router(part.routes)
    app.include_router(account.public)
    app.include_router(study.owner_routes)

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    @app.get("/health", include_in_schema=False)
    def health() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app

"""The application: the API, the page, and what guards both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles

from corefine import __version__
from corefine.project.project import Project
from corefine.project.work.workspaces import Workspaces
from corefine.web.api import annotator, documents, owner, problems, results, study, tutorial
from corefine.web.api.context import Context
from corefine.web.api.types import Problem
from corefine.web.api.uploads import UPLOAD_BYTES
from corefine.web.security import LOOPBACK, Guard, TooLargeError

STATIC = Path(__file__).with_name("static")
THREADS = 100
"""Requests handled at a time: most of them wait for the disk."""


def create_app(
    project: Project,
    *,
    open: bool,
    hosts: Iterable[str] = (),
    notices: Iterable[str] = (),
    upload_bytes: int = UPLOAD_BYTES,
) -> FastAPI:
    """The server's application. `open`: whoever reaches it is the owner, until somebody is invited."""

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        yield

    app = FastAPI(
        title="corefine",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        lifespan=life,
    )
    app.state.context = Context(project, Workspaces(project), open, list(notices))
    app.add_middleware(Guard, hosts=LOOPBACK | frozenset(hosts), upload_bytes=upload_bytes)
    problems.install(app)

    @app.exception_handler(TooLargeError)
    def too_large(_: Request, error: TooLargeError) -> Response:
        return problems.body(Problem(kind="too-large", message=str(error)), 413)

    for part in (annotator, documents, tutorial, owner, results, study):
        app.include_router(part.routes)
    app.include_router(annotator.public)
    app.include_router(study.owner_routes)

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        index = STATIC / "index.html"
        if not index.exists():
            return PlainTextResponse("This installation of corefine lacks its page; the API is at /api.")
        return FileResponse(index, headers={"cache-control": "no-cache"})

    @app.get("/health", include_in_schema=False)
    def health() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    if STATIC.is_dir():
        app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app

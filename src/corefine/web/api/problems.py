"""Errors of the API: all have the same shape, a kind for programs and a message for people."""

from __future__ import annotations

import logging
import sqlite3

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from starlette.exceptions import HTTPException

from corefine.errors import (
    AnswerError,
    ContradictionError,
    CorefineError,
    DamagedDocumentError,
    DocumentTakenError,
    InvalidSpanError,
    ModelError,
    QuestionNotOpenError,
    ReusedIdError,
    ServerReplacedError,
    UnknownAnswerError,
)
from corefine.project.store.database import is_damage
from corefine.web.api.state import ErrorBody, Problem, State
from corefine.web.api.types import HistoryEntry

LOG = logging.getLogger("corefine.web")


class ApiError(Exception):
    """An error with its HTTP status and its kind."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        answers: list[HistoryEntry] | None = None,
        new: HistoryEntry | None = None,
        next: State | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.problem = Problem(kind=kind, message=message, answers=answers, new=new, next=next)

    def response(self) -> JSONResponse:
        return JSONResponse(ErrorBody(error=self.problem).model_dump(mode="json"), status_code=self.status)


def not_found(what: str) -> ApiError:
    return ApiError(404, "not-found", f"there is no {what}")


_KINDS: tuple[tuple[type[CorefineError], int, str], ...] = (
    (ContradictionError, 409, "contradiction"),
    (QuestionNotOpenError, 409, "not-open"),
    (UnknownAnswerError, 409, "unknown-answer"),
    (DocumentTakenError, 409, "taken"),
    (ReusedIdError, 422, "client-id"),
    (InvalidSpanError, 422, "outside"),
    (AnswerError, 422, "answer"),
    (ModelError, 503, "unavailable"),
    (ServerReplacedError, 503, "unavailable"),
    (DamagedDocumentError, 409, "damaged"),
)


def install(app: FastAPI) -> None:
    """Give every error of the app the same shape."""

    @app.exception_handler(ApiError)
    def api(_: Request, error: ApiError) -> JSONResponse:
        return error.response()

    @app.exception_handler(CorefineError)
    def ours(_: Request, error: CorefineError) -> JSONResponse:
        known = ((status, kind) for type_, status, kind in _KINDS if isinstance(error, type_))
        return ApiError(*next(known, (400, "input")), str(error)).response()

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return ApiError(422, "invalid", f"{where or 'the request'}: {first['msg']}").response()

    @app.exception_handler(HTTPException)
    def http(_: Request, error: HTTPException) -> JSONResponse:
        kind = {404: "not-found", 405: "not-found", 413: "too-large"}.get(error.status_code, "invalid")
        return ApiError(error.status_code, kind, str(error.detail)).response()

    @app.exception_handler(OSError)
    def files(request: Request, error: OSError) -> JSONResponse:
        LOG.error("%s %s", request.method, request.url.path, exc_info=error)
        cause = f" ({error.strerror})" if error.strerror else ""  # without the path, which is nobody's business
        message = f"the server cannot use its files now{cause}: try again, or tell the project's owner"
        return ApiError(503, "unavailable", message).response()

    @app.exception_handler(SQLAlchemyError)
    def database(_: Request, error: SQLAlchemyError) -> JSONResponse:
        if is_damage(error):
            message = "the database is damaged: this was not recorded. The owner can run `corefine project check`"
            return ApiError(503, "damaged", message).response()
        # A message of PostgreSQL can name hosts and paths, which are nobody's business.
        cause = f" ({error.orig})" if isinstance(error, DBAPIError) and isinstance(error.orig, sqlite3.Error) else ""
        message = f"the database cannot be used now{cause}: try again; sending the same again is safe"
        return ApiError(503, "unavailable", message).response()

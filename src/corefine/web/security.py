"""Checks every request: its Host, its origin, its size. Unexpected errors get a number that is also in the log.

Response headers allow the page to load and run only what this server serves.
"""

from __future__ import annotations

import logging
import secrets
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from corefine.web.api.problems import ApiError

LOG = logging.getLogger("corefine.web")

CSRF_HEADER = "x-corefine"
MOST_BYTES = 1_000_000
"""The largest body of a request. Uploads have their own limit."""

RESTORE = "/api/restore"
RESTORE_BYTES = 4_000_000_000
"""The largest backup. It holds trained models."""

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """ASGI middleware. `hosts` are the names the server may be called by, without ports."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], upload_bytes: int) -> None:
        self.app, self.hosts, self.upload_bytes = app, hosts, upload_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                out = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    out[name] = value
                if scope["path"].startswith("/api/"):
                    out["cache-control"] = "no-store"
            await send(message)

        try:
            refusal = self._refusal(scope["method"], scope["path"], Headers(scope=scope))
            if refusal is not None:
                await refusal.response()(scope, receive, guarded)
                return
            await self.app(scope, limited(receive, self._limit(scope["method"], scope["path"])), guarded)
        except ApiError as error:
            if begun:
                raise
            await error.response()(scope, receive, guarded)
        except Exception:
            number = f"{secrets.randbelow(10**8):08d}"
            LOG.exception("error %s: %s %s", number, scope["method"], scope["path"])
            if begun:  # nothing more can be said: the connection ends
                raise
            await _unforeseen(number).response()(scope, receive, guarded)

    def _refusal(self, method: str, path: str, headers: Headers) -> ApiError | None:
        host = headers.get("host", "")
        if host_name(host) not in self.hosts:
            message = f"this server does not answer to the name {host_name(host)!r}: start it with --allow-host"
            return ApiError(403, "host", message)
        if method in ("GET", "HEAD", "OPTIONS"):
            return None
        origin = headers.get("origin")
        if headers.get(CSRF_HEADER) != "1" or (origin is not None and _place(origin) != host):
            return ApiError(403, "csrf", "changes need the header X-Corefine: 1, from the server's own page")
        declared = headers.get("content-length", "0")
        limit = self._limit(method, path)
        if not (declared.isascii() and declared.isdecimal() and len(declared) < 20) or int(declared) > limit:
            return ApiError(413, "too-large", f"the request is larger than {limit} bytes")
        content_type = headers.get("content-type", "").partition(";")[0].strip()
        if int(declared) and not is_upload(method, path) and content_type != "application/json":
            return ApiError(403, "csrf", "the body must be application/json")
        return None

    def _limit(self, method: str, path: str) -> int:
        if not is_upload(method, path):
            return MOST_BYTES
        return self.upload_bytes if path != RESTORE else max(self.upload_bytes, RESTORE_BYTES)


def host_name(host: str) -> str:
    """The name in a Host header, without its port; empty if it makes no sense."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _place(origin: str) -> str | None:
    """The host and port in an Origin header; None if it is invalid."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _unforeseen(number: str) -> ApiError:
    message = f"something went wrong in the server. Tell the project's owner the number {number}: it is in the log."
    return ApiError(500, "error", message)


def is_upload(method: str, path: str) -> bool:
    return method == "POST" and path in ("/api/documents", RESTORE)


def limited(receive: Receive, limit: int) -> Receive:
    """The same `receive`, but it raises if the body is larger than the limit."""
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise ApiError(413, "too-large", f"the request is larger than {limit} bytes")
        return message

    return bounded

"""What every request passes first: the Host it names, where a change comes from, how large it is.

Answers carry headers that let the page load nothing from elsewhere and run no script but its own.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from corefine.web.api.problems import body
from corefine.web.api.types import Problem

CSRF_HEADER = "x-corefine"
MOST_BYTES = 1_000_000
"""Of a request's body; uploads have their own limit."""

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
        headers = Headers(scope=scope)
        refusal = self._refusal(scope["method"], scope["path"], headers)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    out[name] = value
                if scope["path"].startswith("/api/"):
                    out["cache-control"] = "no-store"
            await send(message)

        if refusal is not None:
            problem, status = refusal
            await body(problem, status)(scope, receive, guarded)
            return
        limit = self.upload_bytes if _is_upload(scope["method"], scope["path"]) else MOST_BYTES
        await self.app(scope, _limited(receive, limit), guarded)

    def _refusal(self, method: str, path: str, headers: Headers) -> tuple[Problem, int] | None:
        host = headers.get("host", "")
        if host_name(host) not in self.hosts:
            message = f"this server does not answer to the name {host_name(host)!r}: start it with --allow-host"
            return Problem(kind="host", message=message), 403
        if method in ("GET", "HEAD", "OPTIONS"):
            return None
        origin = headers.get("origin")
        if headers.get(CSRF_HEADER) != "1" or (origin is not None and urlsplit(origin).netloc != host):
            return Problem(
                kind="csrf", message="changes need the header X-Corefine: 1, from the server's own page"
            ), 403
        declared = headers.get("content-length", "0")
        limit = self.upload_bytes if _is_upload(method, path) else MOST_BYTES
        if not declared.isdecimal() or int(declared) > limit:
            return Problem(kind="too-large", message=f"the request is larger than {limit} bytes"), 413
        kind = headers.get("content-type", "").partition(";")[0].strip()
        if int(declared) and not _is_upload(method, path) and kind != "application/json":
            return Problem(kind="csrf", message="the body must be application/json"), 403
        return None


def host_name(host: str) -> str:
    """The name in a Host header, without its port; empty if it makes no sense."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_upload(method: str, path: str) -> bool:
    return method == "POST" and path == "/api/documents"


class TooLargeError(Exception):
    """A body that did not say how large it is turned out too large."""


def _limited(receive: Receive, limit: int) -> Receive:
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise TooLargeError(f"the request is larger than {limit} bytes")
        return message

    return limited

"""Running the server: its socket, its background process, and the check that it is not open to everybody."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI

from corefine.errors import InputError
from corefine.project.learning.supervisor import Supervisor
from corefine.project.project import Project
from corefine.project.store import people
from corefine.web.app import create_app
from corefine.web.connections import BoundedConnection
from corefine.web.peers import is_loopback
from corefine.web.security import LOOPBACK


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, the further host names that are accepted, and proxies on other machines."""

    host: str = "127.0.0.1"
    port: int = 8000
    allowed_hosts: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)


def check_open(project: Project, address: Address) -> bool:
    """Whether the server is open, that is, needs no login; raises if others could then reach it."""
    with project.database.read() as connection:
        closed = people.anybody_invited(connection)
    exposed = not address.is_loopback or bool(set(address.allowed_hosts) - LOOPBACK)
    if exposed and not closed:
        raise InputError(
            f"{address.host} can be reached from elsewhere, and this project has no invitations: anybody could answer. "
            f"Make one first: corefine invite --project {project.folder} --owner NAME"
        )
    return not closed


def bind(address: Address) -> socket.socket:
    """The listening socket. Raises, before anything else starts, if the port is in use."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # If the protocol is named, asyncio sends at once what is written. Otherwise the body of a response waits 40 ms,
    # until the client has acknowledged its head.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address.host, address.port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise InputError(
            f"port {address.port} on {address.host} cannot be used ({error.strerror}): "
            "is corefine running already? Choose another with --port"
        ) from error
    return listener


def serve(
    project: Project,
    listener: socket.socket,
    address: Address,
    *,
    open: bool,
    notices: Iterable[str] = (),
    worker: bool = True,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until interrupted; calls `ready` once the server answers requests."""
    hosts = {address.host, *address.allowed_hosts}
    app = create_app(project, open=open, hosts=hosts, notices=notices)
    server = uvicorn.Server(_config(app, address))

    async def run() -> None:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        if server.started:
            ready()
        await serving

    _end_on_sigterm()
    supervisor = Supervisor(project) if worker else None
    try:
        asyncio.run(run())
    finally:
        if supervisor is not None:
            supervisor.stop()


def _config(app: FastAPI, address: Address) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=BoundedConnection,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=5,
        forwarded_allow_ips=["127.0.0.1", "::1", *address.proxies],
    )


def _end_on_sigterm() -> None:
    """Exit in good order on SIGTERM, which uvicorn sends itself again when it is done."""

    def end(*_: object) -> None:
        raise SystemExit(143)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, end)

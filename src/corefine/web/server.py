"""Running the server: its socket, its background process, and the refusal to be reachable without tokens."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import uvicorn

from corefine.errors import InputError
from corefine.project import people
from corefine.project.project import Project
from corefine.web.app import create_app
from corefine.web.security import LOOPBACK

DATABASE = "COREFINE_DATABASE"
"""Environment variable that hands the database's URL to the worker: a command line can be read by others."""

RESTART_SECONDS = (1.0, 5.0, 30.0)
STOP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, and by which further names the server may be called."""

    host: str = "127.0.0.1"
    port: int = 8000
    allowed_hosts: tuple[str, ...] = ()

    @property
    def is_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def check_tokens(project: Project, address: Address) -> bool:
    """Whether the server may be open to whoever reaches it; raises if it would be reachable without any token."""
    with project.database.read() as connection:
        tokens = people.any_tokens(connection)
    exposed = not address.is_loopback or bool(set(address.allowed_hosts) - LOOPBACK)
    if exposed and not tokens:
        raise InputError(
            f"{address.host} can be reached from elsewhere, and this project has no invitations: anybody could answer. "
            f"Make one first: corefine invite --project {project.folder} --owner NAME"
        )
    return not tokens


def bind(address: Address) -> socket.socket:
    """The listening socket; a port in use is told before anything else starts."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
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
    """Serve until interrupted. `ready` is called once requests are answered."""
    hosts = {address.host, *address.allowed_hosts}
    app = create_app(project, open=open, hosts=hosts, notices=notices)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=5
    )
    server = uvicorn.Server(config)

    async def run() -> None:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        if server.started:
            ready()
        await serving

    supervisor = Supervisor(project) if worker else None
    try:
        asyncio.run(run())
    finally:
        if supervisor is not None:
            supervisor.stop()


class Supervisor:
    """Keeps the background process running, with one thread and low priority; begins it anew if it dies."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._stopping = threading.Event()
        self.process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._watch, name="corefine-supervisor", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _watch(self) -> None:
        deaths = 0
        while not self._stopping.is_set():
            began = time.monotonic()
            self.process = self._start()
            while self.process.poll() is None and not self._stopping.wait(0.2):
                pass
            if self.process.poll() is None:
                self.process.terminate()
                try:
                    self.process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    self.process.kill()
                    self.process.wait()
            deaths = 0 if time.monotonic() - began > 60 else deaths + 1
            self._stopping.wait(RESTART_SECONDS[min(deaths, len(RESTART_SECONDS)) - 1])

    def _start(self) -> subprocess.Popen[bytes]:
        one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
        environment = {**os.environ, **one, "TOKENIZERS_PARALLELISM": "false"}
        if not self._project.database.is_sqlite:
            environment[DATABASE] = self._project.database.url.render_as_string(hide_password=False)
        return subprocess.Popen(
            [sys.executable, "-m", "corefine.project.worker", str(self._project.folder), "--parent", str(os.getpid())],
            env=environment,
            stdin=subprocess.DEVNULL,
        )

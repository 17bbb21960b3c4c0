"""Nobody waits behind another person's many requests, and nothing waits for ever."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Hashable, Iterator
from contextlib import suppress

import httpx
import pytest
import uvicorn

from corefine.project import Project
from corefine.project.store import people
from corefine.project.work.actions import Shown
from corefine.project.work.workspace import Workspace
from corefine.web import connections, fair_queue, turns
from corefine.web.api.context import COOKIE
from corefine.web.api.problems import ApiError
from corefine.web.fair_queue import FairQueue
from corefine.web.peers import network_of
from corefine.web.server import Address, bind, serve
from helpers.own_loop import run_in_own_loop
from helpers.projects import Browser, another, browser_of
from helpers.projects import serve as served_here


async def _visit(queue: FairQueue, who: Hashable, order: list[Hashable], seconds: float = 0.0) -> None:
    async with queue.turn(who):
        order.append(who)
        await asyncio.sleep(seconds)


def test_people_take_turns() -> None:
    async def run() -> list[Hashable]:
        queue, order = FairQueue(places=1, own=1), []
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(_visit(queue, "many", order))
            for who in ("a", "b", "a"):
                group.create_task(_visit(queue, who, order))
        return order

    order = run_in_own_loop(run())
    assert order[:5] == ["many", "many", "a", "b", "many"]
    assert order.index("a", 3) < 8
    assert len(order) == 23


def test_who_has_many_waiting_is_not_forgotten() -> None:
    async def run() -> list[Hashable]:
        queue, order = FairQueue(places=4), []
        many = [asyncio.create_task(_visit(queue, "many", order, 0.01)) for _ in range(20)]

        async def busy(who: str) -> None:
            while not all(task.done() for task in many):
                await _visit(queue, who, order, 0.01)

        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            for who in "abc":
                group.create_task(busy(who))
        return order

    order = run_in_own_loop(run())
    assert order.count("many") == 20
    assert order.count("a") > 40


def test_one_person_never_takes_all_places() -> None:
    async def run() -> None:
        queue, order = FairQueue(places=10, own=2), []
        many = [asyncio.create_task(_visit(queue, "many", order, 10.0)) for _ in range(50)]
        await asyncio.sleep(0)
        async with asyncio.timeout(1):
            await _visit(queue, "a", order)
        assert order == ["many", "many", "a"]
        for task in many:  # one that has its turn, and all that wait
            task.cancel()
        await asyncio.gather(*many, return_exceptions=True)
        assert not queue._running
        assert not queue._waiting

    run_in_own_loop(run())


def test_a_queue_has_an_end() -> None:
    async def run() -> None:
        queue, order = FairQueue(places=1, own=1, most_waiting=3), []
        tasks = [asyncio.create_task(_visit(queue, "a", order)) for _ in range(6)]
        done = await asyncio.gather(*tasks, return_exceptions=True)
        refused = [each for each in done if isinstance(each, ApiError)]
        assert (len(order), len(refused), refused[0].status) == (4, 2, 429)

    run_in_own_loop(run())


def test_who_is_alone_waits_for_all_and_lets_nobody_in() -> None:
    async def run() -> list[Hashable]:
        queue, order = FairQueue(), []

        async def alone(name: str) -> None:
            async with queue.alone():
                order.append(f"{name} begins")
                await asyncio.sleep(0.02)
                order.append(f"{name} ends")

        async with asyncio.TaskGroup() as group:
            group.create_task(_visit(queue, "a", order, 0.02))
            await asyncio.sleep(0.01)
            group.create_task(alone("one"))
            group.create_task(alone("other"))
            await asyncio.sleep(0)
            group.create_task(_visit(queue, "b", order))
        return order

    found = run_in_own_loop(run())
    assert found[:3] == ["a", "one begins", "one ends"]
    assert sorted(found[3:]) == ["b", "other begins", "other ends"]
    assert found.index("other ends") - found.index("other begins") == 1


def test_failed_logins_are_limited_by_address(sqlite_project: Project) -> None:
    _, token = sqlite_project.invite("Ada")
    with served_here(sqlite_project, open=False) as client:
        attacker, ada = Browser(client), Browser(browser_of(client.app, "192.0.2.7"))
        for _ in range(10):
            attacker.post("login", {"token": "guess"}, status=401)
        assert attacker.post("login", {"token": token}, status=429)["error"]["kind"] == "too-many"
        ada.post("login", {"token": token})
        another(ada).post("login", {"token": token}, status=429)  # the attacker's address
    assert network_of("2001:db8::1") == network_of("2001:db8::2") != network_of("2001:db8:0:1::1")


def test_strange_cookies_are_looked_up_by_a_few_at_a_time_and_not_kept(
    sqlite_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite_project.invite("Ada")
    with served_here(sqlite_project, open=False) as client:
        browser = Browser(client)
        at_once, most = 0, 0
        original = type(browser.context).person

        def slow(*arguments: object, **options: object) -> object:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            time.sleep(0.01)
            at_once -= 1
            return original(*arguments, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(type(browser.context), "person", slow)

        def ask(number: int) -> None:
            response = client.get("/api/me", headers={"Cookie": f"{COOKIE}=random-{number}"})
            assert response.status_code == 401

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert most <= fair_queue.OWN
        assert not browser.context._logins


# Over a real network


@pytest.fixture
def port(sqlite_project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server whose patience is short."""
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.5)
    monkeypatch.setattr(turns, "BODY_SECONDS", 0.5)
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 20)
    address = Address(port=0)
    listener = bind(address)
    ready = threading.Event()
    servers: list[uvicorn.Server] = []

    class Server(uvicorn.Server):
        def __init__(self, config: uvicorn.Config) -> None:
            super().__init__(config)
            servers.append(self)

    monkeypatch.setattr("corefine.web.server.uvicorn.Server", Server)
    thread = threading.Thread(
        target=serve,
        args=(sqlite_project, listener, address),
        kwargs={"open": True, "worker": False, "ready": ready.set},
        daemon=True,
    )
    thread.start()
    assert ready.wait(30)
    yield listener.getsockname()[1]
    servers[0].should_exit = True
    thread.join(30)


def said(port: int, *pieces: bytes) -> bytes:
    """What the server says to these bytes until it ends the connection; it must do so soon."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        for piece in pieces:
            connection.sendall(piece)
        found = b""
        while block := connection.recv(1 << 16):
            found += block
    return found


HEAD = b"POST /api/undo HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Corefine: 1\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize("start", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
def test_a_connection_that_sends_no_request_ends(port: int, start: bytes) -> None:
    with suppress(ConnectionResetError):
        assert said(port, start) == b""


def test_a_body_that_does_not_come_ends(port: int) -> None:
    answer = said(port, HEAD + b"Content-Length: 100\r\nConnection: close\r\n\r\n", b'{"client')
    assert answer.startswith(b"HTTP/1.1 408")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["kind"] == "too-slow"


def test_a_body_that_comes_byte_by_byte_ends(port: int) -> None:
    """A piece now and then is not enough: one client could hold all connections for days."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(HEAD + b"Content-Length: 1000\r\nConnection: close\r\n\r\n")
        with suppress(ConnectionError):
            while time.monotonic() - began < 5:
                connection.sendall(b"x")
                time.sleep(0.1)
                connection.setblocking(False)
                with suppress(BlockingIOError):
                    if answer := connection.recv(1 << 16):
                        assert answer.startswith(b"HTTP/1.1 408")
                        break
                connection.setblocking(True)
    assert time.monotonic() - began < 4


def test_the_body_of_a_stranger_is_small(port: int, sqlite_project: Project) -> None:
    sqlite_project.invite("Ada", "owner")
    answer = said(port, HEAD + b"Content-Length: 20000\r\nConnection: close\r\n\r\n", b"x" * 20_000)
    assert answer.startswith(b"HTTP/1.1 413")


def test_http_of_proxies_needs_a_login(port: int) -> None:
    for version, status in ((b"1.1", b"200"), (b"1.0", b"401")):
        head = b"GET /api/me HTTP/%b\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n" % version
        assert said(port, head).split()[1] == status


def test_connections_are_bounded_and_the_next_is_told(port: int) -> None:
    held = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(20)]
    time.sleep(0.1)
    assert said(port).startswith(b"HTTP/1.1 503")
    for each in held:
        each.close()
    time.sleep(0.2)
    assert said(port, b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").startswith(
        b"HTTP/1.1 200"
    )


def test_behind_a_proxy_with_tls_cookies_are_secure_and_links_https(port: int, sqlite_project: Project) -> None:
    _, token = sqlite_project.invite("Ada", "owner")
    body = json.dumps({"token": token}).encode()
    head = HEAD.replace(b"undo", b"login") + b"X-Forwarded-Proto: https\r\nX-Forwarded-For: 192.0.2.7\r\n"
    answer = said(port, head + b"Connection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
    assert b"; Secure" in answer
    cookie = answer.partition(b"set-cookie: ")[2].partition(b";")[0]
    body = b'{"name": "Bo"}'
    head = head.replace(b"login", b"people") + b"Cookie: %b\r\nConnection: close\r\n" % cookie
    answer = said(port, head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["link"].startswith("https://127.0.0.1/#join=")


def test_who_is_revoked_while_a_request_waits_is_out(
    port: int, sqlite_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, token = sqlite_project.invite("Ada")
    boss = sqlite_project.owner()
    owner = sqlite_project.writer.write(lambda connection: people.log_in(connection, boss))
    free, running = threading.Event(), threading.Semaphore(0)
    original = Workspace.show

    def slowly(workspace: Workspace, document_id: int | None = None) -> Shown:
        running.release()
        free.wait(20)
        return original(workspace, document_id)

    monkeypatch.setattr(Workspace, "show", slowly)
    found: list[int] = []
    with httpx.Client(base_url=f"http://127.0.0.1:{port}/api", headers={"X-Corefine": "1"}, timeout=30) as client:
        cookie = client.post("/login", json={"token": token}).cookies[COOKIE]

        def ask(secret: str) -> None:
            found.append(client.get("/next", headers={"Cookie": f"{COOKIE}={secret}"}).status_code)

        threads = [threading.Thread(target=ask, args=(cookie,)) for _ in range(5)]
        for thread in threads:
            thread.start()
        running.acquire()
        time.sleep(0.2)  # until the others have come
        revoked = client.delete(f"/people/{ada.id}", headers={"Cookie": f"{COOKIE}={owner}"})
        assert revoked.status_code == 200, revoked.text
        free.set()
        for thread in threads:
            thread.join()
    assert sorted(found)[2:] == [401, 401, 401], "two were being served"

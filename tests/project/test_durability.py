"""kill -9 of server, worker and PostgreSQL under load: no acknowledged answer is lost, none is doubled."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from corefine.corpora import stories
from corefine.project import Project
from corefine.project.store import people, schema
from corefine.project.work.workspaces import Workspaces
from helpers.projects import fill, fresh_postgres, kill_postgres, new_id

PEOPLE = 4
VICTIMS = ("server", "postgresql", "server", "worker")
PATIENCE_SECONDS = 900.0
"""Until somebody answers: on a busy machine a server takes a minute to start, and 20 people log in again."""
EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")


def own_port() -> int:
    """A free port that the system gives to no client.

    A client that tries, over and over, a port from the range for clients at which nobody listens is given that very
    port in the end. It is then connected to itself, and the server cannot have the port again.
    """
    first = int(EPHEMERAL.read_text().split()[0])
    for port in random.sample(range(10_000, first), 100):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError(f"none of 100 ports below {first} is free")


class Server:
    """`corefine annotate` as a process, on a port that stays the same."""

    def __init__(self, folder: Path, database: str | None) -> None:
        self.folder, self.database, self.port = folder, database, own_port()
        self.process: subprocess.Popen[str] | None = None
        self.workers_killed = 0

    def start(self) -> None:
        """Returns when the server answers requests, however long that takes."""
        command = [sys.executable, "-m", "corefine", "annotate", "--project", str(self.folder)]
        command += ["--no-browser", "--port", str(self.port)]
        if self.database is not None:
            command += ["--database", self.database]
        log = self.folder / "stderr.txt"
        with log.open("w") as stderr:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()  # it prints its address once it is ready
        assert line.startswith("corefine: http://"), f"the server did not start: {line}{log.read_text()}"

    def kill_worker(self) -> None:
        """The background process alone: the server starts another one."""
        assert self.process is not None
        lists = Path(f"/proc/{self.process.pid}/task").glob("*/children")  # a thread of the server started it
        for child in [int(child) for each in lists for child in each.read_text().split()]:
            self.workers_killed += 1
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)

    def kill(self) -> None:
        """Server and worker, without warning."""
        assert self.process is not None
        self.kill_worker()
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@dataclass
class Annotator:
    """A browser that keeps an unacknowledged answer and retries it until somebody takes it or refuses it."""

    server: Server
    token: str
    stop: threading.Event
    acknowledged: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    retried: int = 0

    def run(self) -> None:
        try:
            self.annotate()
        except Exception as error:
            self.errors.append(f"{type(error).__name__}: {error}")

    def annotate(self) -> None:
        rng = random.Random(self.token)
        with httpx.Client(headers={"X-Corefine": "1"}, timeout=30) as client:
            self.insist(client, "POST", "login", {"token": self.token})
            while not self.stop.is_set():
                state = self.insist(client, "GET", "next").json()
                if state["state"] == "all-done":  # so that there is always something to do
                    self.act(client, "undo", {})
                elif state["state"] == "question":
                    question = state["question"]
                    answers = [{"reply": "unsure"}]
                    if question["protocol"] == "discrete":
                        answers += [{"same": True}, {"same": False, "reply": "unsure"}]
                    body = {"document": question["document"], "question": question["id"]}
                    if self.act(client, "answers", {**body, "answer": rng.choice(answers)}) == "contradiction":
                        self.act(client, "answers", {**body, "answer": {"reply": "unsure"}})
                else:
                    time.sleep(0.05)

    def act(self, client: httpx.Client, path: str, body: dict[str, Any]) -> str | None:
        """Do something, and note whether it was acknowledged; returns why not."""
        client_id = new_id()
        self.sent.append(client_id)
        response = self.insist(client, "POST", path, {"client_id": client_id, **body})
        if response.status_code == 200:
            self.acknowledged.append(client_id)
            return None
        kind: str = response.json()["error"]["kind"]
        if kind not in ("contradiction", "not-open"):
            self.errors.append(response.text)
        return kind

    def insist(self, client: httpx.Client, method: str, path: str, body: Any = None) -> httpx.Response:
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                response = client.request(method, f"http://127.0.0.1:{self.server.port}/api/{path}", json=body)
                if response.status_code != 503:
                    return response
            except httpx.TransportError:
                self.retried += 1
            assert time.monotonic() < end, f"nobody answers {method} {path}"
            time.sleep(0.05)


def survive(
    folder: Path, database: str | None, kills: int, *, people_count: int = PEOPLE, postgres: Path | None = None
) -> tuple[int, Counter[str]]:
    """Kill the server, the worker or PostgreSQL so many times under load; returns the answers and what was killed."""
    with Project(folder, database=database) as project:
        fill(project, stories.load())
        project.change_settings(
            project.settings.from_dict(
                {"budget_questions": 1000, "retrain_every": 20, "overlap": 1.0, "overlap_people": people_count}
            )
        )
        tokens = [project.invite(f"person {number}", people.ANNOTATOR)[1] for number in range(people_count)]
        project.invite("boss", people.OWNER)
    server = Server(folder, database)
    server.start()
    stop = threading.Event()
    crowd = [Annotator(server, token, stop) for token in tokens]
    threads = [threading.Thread(target=each.run) for each in crowd]
    for thread in threads:
        thread.start()
    rng = random.Random(kills)
    killed: Counter[str] = Counter()
    try:
        for number in range(kills):
            wait_for_answers(crowd, people_count)
            time.sleep(rng.uniform(0.0, 0.5))
            kind = VICTIMS[number % len(VICTIMS)] if people_count > PEOPLE else "server"
            if kind == "postgresql" and postgres is not None:
                kill_postgres(postgres)
            elif kind == "worker":
                server.kill_worker()
            else:
                kind = "server"
                server.kill()
                server.start()
            killed[kind] += 1
        time.sleep(1.0)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        server.kill()
    assert server.workers_killed > kills // 2 or people_count > PEOPLE
    check(folder, database, crowd)
    return sum(len(each.acknowledged) for each in crowd), killed


def wait_for_answers(crowd: list[Annotator], count: int) -> None:
    """So that every kill comes in the middle of work, however slow the machine is."""
    before = sum(len(each.acknowledged) for each in crowd)
    end = time.monotonic() + PATIENCE_SECONDS
    while sum(len(each.acknowledged) for each in crowd) < before + count:
        assert not [error for each in crowd for error in each.errors]
        assert time.monotonic() < end, "nobody's answers are acknowledged"
        time.sleep(0.02)


def check(folder: Path, database: str | None, crowd: list[Annotator]) -> None:
    acknowledged = [client_id for each in crowd for client_id in each.acknowledged]
    sent = {client_id for each in crowd for client_id in each.sent}
    assert not [error for each in crowd for error in each.errors]
    assert len(acknowledged) > 5 * len(crowd)
    assert sum(each.retried for each in crowd) > 0
    with Project(folder, database=database) as project:
        with project.database.read() as connection:
            rows = connection.execute(select(schema.events)).all()
        kept = Counter(row.client_id for row in rows)
        assert all(kept[client_id] == 1 for client_id in acknowledged)
        assert max(kept.values()) == 1
        # What is in the log beyond the acknowledged was sent, and is what a person was about to retry.
        assert len(set(kept) & sent - set(acknowledged)) <= len(crowd)
        one, other = Workspaces(project), Workspaces(project)
        for person_id, document_id in {(row.person_id, row.document_id) for row in rows}:
            with one.of(person_id) as a, other.of(person_id) as b:
                first, second = a.open(document_id), b.open(document_id)
                assert first.session.log == second.session.log
                assert first.session.links.entities() == second.session.links.entities()
                places = [r.place for r in rows if (r.person_id, r.document_id) == (person_id, document_id)]
                assert sorted(places) == list(range(1, len(places) + 1))


@pytest.mark.skipif(sys.platform != "linux", reason="finds the worker through /proc")
def test_killed_three_times(tmp_path: Path) -> None:
    survive(tmp_path / "project", None, 3)


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="finds the worker through /proc")
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_killed_forty_times_under_twenty_people(
    tmp_path: Path, database: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    postgres = None if database == "sqlite" else request.getfixturevalue("postgres_server")
    url = None if postgres is None else fresh_postgres(postgres)
    answers, killed = survive(tmp_path / "project", url, 40, people_count=20, postgres=postgres)
    with capsys.disabled():
        sys.stdout.write(f"\n{database}: {answers} answers acknowledged, none lost or doubled; killed {dict(killed)}\n")

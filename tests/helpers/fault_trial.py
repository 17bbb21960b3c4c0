"""A project that lives through one fault of its database after the other, with a restart after each."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI
from sqlalchemy import select

from corefine.corpora import stories
from corefine.project import Project
from corefine.project.store import people, schema
from corefine.project.work.workspaces import Workspaces
from corefine.web.api.context import COOKIE, Context
from corefine.web.app import create_app
from helpers.faults import Faults, FileFaults
from helpers.projects import change, fill, new_id

DOCUMENTS = 5


@dataclass(frozen=True)
class Write:
    """A request that writes.

    applied    counts how often it is in the database
    repeats    whether it has a client_id, and its response says if it was taken before
    secret     the cookie it is sent with, if that is not the owner's
    settle     what the background process would do afterwards
    """

    method: str
    path: str
    body: Any
    applied: Callable[[Project], int]
    repeats: bool = True
    secret: str | None = None
    settle: Callable[[], None] = lambda: None


@dataclass
class Trial:
    """A project that lives through one fault after the other, with a restart after each."""

    folder: Path
    url: str | None
    cases: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    damaged: bool = False  # whether documents and predictions may be unreadable
    _names: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        with Project(self.folder, database=self.url) as project:
            fill(project, stories.load()[:DOCUMENTS])
            change(project, budget_questions=100_000, overlap=1.0, retrain_every=0)
            self.owner, token = project.invite("owner", people.OWNER)
            found = project.writer.write(lambda connection: people.enter(connection, token))
            assert found is not None
            self.secret = found[1]
        self.app: FastAPI | None = None
        self.runner = asyncio.Runner()
        self.thread = ThreadPoolExecutor(1)
        self.start()

    def start(self) -> None:
        """A server of which nothing is in memory. The application is the same one: to make it takes long."""
        self.project = Project(self.folder, database=self.url)
        self.project.lock()
        self.faults = Faults(self.project.database)
        self.context = Context(self.project, Workspaces(self.project), open=False)
        self.app = self.app or create_app(self.project, open=False)
        self.app.state.context = self.context

    def restart(self) -> None:
        self.project.close()
        self.start()

    def run(self, name: str, prepare: Callable[[Trial], Write], *, every: int = 1) -> None:
        """Let every call of a route fail, until a request goes through without reaching the call that would fail."""
        for warm in (True, False):
            for after in (False, True):
                for call in count(1, every):
                    if not self.case(prepare, call, after=after, warm=warm):
                        break
                    self.cases[name] += 1

    def run_files(self, name: str, prepare: Callable[[Trial], Write]) -> None:
        """The same for every use of a file in the project's folder."""
        self.damaged = True
        faults, kept = FileFaults(self.folder), self.folder.with_name("kept-predictions")
        shutil.copytree(self.project.predictions.folder, kept)
        for warm in (True, False):
            for call in count(1):
                write = self._prepare(prepare, warm=warm)
                faults.arm(call)
                response = self.send(write)
                faults.disarm()
                shutil.copytree(kept, self.project.predictions.folder, dirs_exist_ok=True)  # as the worker would
                where = f"use {call} of files in {write.path}: {response.text}"
                assert str(self.folder.parent) not in response.text, where
                self.check(write, response, where, faults.fired, refusals=(400, 503))
                if not faults.fired:
                    break
                self.cases[name] += 1

    def case(self, prepare: Callable[[Trial], Write], call: int, *, after: bool, warm: bool) -> bool:
        write = self._prepare(prepare, warm=warm)
        self.faults.arm(call, after=after)
        response = self.send(write)
        self.faults.disarm()
        where = f"call {call} of {write.path}, {'after' if after else 'before'}: {response.text}"
        fired = self.faults.fired
        self.check(write, response, where, fired)
        return fired

    def _prepare(self, prepare: Callable[[Trial], Write], *, warm: bool) -> Write:
        write = prepare(self)
        if not warm:
            self.restart()
        return write

    def check(
        self, write: Write, response: httpx.Response, where: str, fired: bool, refusals: Collection[int] = (503,)
    ) -> None:
        """What was acknowledged is there once; what was refused can be sent again; a restart changes nothing."""
        assert response.status_code in (200, *refusals), where
        applied = write.applied(self.project)
        assert applied <= 1, where
        if response.status_code == 200:
            assert applied == 1, where
        self.refused += response.status_code != 200
        if write.repeats or response.status_code != 200:  # nobody sends again what was acknowledged without an id
            again = self.send(write)
            assert again.status_code == 200, f"{where}; then {again.text}"
            if write.repeats:
                assert again.json()["repeated"] == (applied == 1), where
        assert write.applied(self.project) == 1, where
        write.settle()
        self.check_memory()
        self.restart()
        self.check_everything(fired)

    def send(self, write: Write) -> httpx.Response:
        return self.request(write.method, write.path, write.body, write.secret)

    def request(self, method: str, path: str, body: Any = None, secret: str | None = None) -> httpx.Response:
        """In the thread of the test, without a network: threads that wait for each other are slow."""
        headers = {"X-Corefine": "1", "Cookie": f"{COOKIE}={secret or self.secret}"}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        if body is not None and body is not content:
            headers["content-type"] = "application/json"

        async def run() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=True)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await client.request(
                    method, f"/api/{path}", headers=headers, content=None if body is None else content
                )

        return self.thread.submit(self.runner.run, run()).result()  # a browser's loop may run in this one

    def get(self, path: str) -> Any:
        response = self.request("GET", path)
        assert response.status_code == 200, response.text
        return response.json()

    def post(self, path: str, body: Any) -> Any:
        response = self.request("POST", path, body)
        assert response.status_code == 200, response.text
        return response.json()

    def answer(self, question: dict[str, Any]) -> Any:
        body = {"client_id": new_id(), "document": question["document"], "question": question["id"]}
        return self.post("answers", {**body, "answer": {"reply": "unsure"}})

    def check_memory(self) -> None:
        """Replay equals memory: the log, the entities, the open question, the settings."""
        live, fresh = self.context.workspaces, Workspaces(self.project)
        assert live.settings == fresh.settings
        for person_id, document_id in list(live._open):
            with live.of(person_id) as a, fresh.of(person_id) as b:
                mine, replayed = a.open(document_id), b.open(document_id)
                assert mine.session.log == replayed.session.log
                assert mine.events_logged == replayed.events_logged == len(mine.session.log["events"])
                assert mine.session.links.entities() == replayed.session.links.entities()
                assert mine.session.next_question() == replayed.session.next_question()
                assert (mine.done, a.finished) == (replayed.done, b.finished)
                assert (a.steps._done, a.steps._undone) == (b.steps._done, b.steps._undone)

    def check_everything(self, export: bool) -> None:
        with self.project.database.read() as connection:
            rows = connection.execute(select(schema.events)).all()
        places: dict[tuple[int, int], list[int]] = {}
        for row in rows:
            places.setdefault((row.person_id, row.document_id), []).append(row.place)
        assert all(sorted(each) == list(range(1, len(each) + 1)) for each in places.values())
        self.get("history?limit=200")
        self.get("documents/1/entities")
        if export:
            assert len(self.request("GET", "export?format=jsonl").text.splitlines()) >= DOCUMENTS

    def number(self) -> int:
        return next(self._names)


@contextmanager
def trying(folder: Path, url: str | None) -> Iterator[Trial]:
    trial = Trial(folder / "project", url)
    with trial.thread:
        yield trial
        trial.thread.submit(trial.runner.close).result()
    trial.project.close()

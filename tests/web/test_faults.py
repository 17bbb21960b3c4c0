"""Every database call of every route that writes fails once, before it takes effect and after.

Then: what was acknowledged is there once, what was refused is not there or is repeated rightly, memory is what the log
replays to, and after a restart everything can still be read and exported.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import func, select

from corefine.corpora import stories
from corefine.project import Project
from corefine.project.store import people, schema, settings
from corefine.project.work.workspaces import Workspaces
from corefine.web.api.context import COOKIE, Context
from corefine.web.app import create_app
from helpers.faults import Faults
from helpers.projects import change, fill, fresh_postgres, new_id

DOCUMENTS = 5


@dataclass(frozen=True)
class Write:
    """A request that writes. `applied` counts how often it is in the database; `repeats` if it has a client_id."""

    method: str
    path: str
    body: Any
    applied: Callable[[Project], int]
    repeats: bool = True


@dataclass
class Trial:
    """A project that lives through one fault after the other, with a restart after each."""

    folder: Path
    url: str | None
    cases: Counter[str] = field(default_factory=Counter)
    refused: int = 0
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

    def case(self, prepare: Callable[[Trial], Write], call: int, *, after: bool, warm: bool) -> bool:
        write = prepare(self)
        if not warm:
            self.restart()
        self.faults.arm(call, after=after)
        response = self.send(write)
        self.faults.disarm()
        where = f"call {call} of {write.path}, {'after' if after else 'before'}: {response.text}"
        assert response.status_code in (200, 503), where
        applied = write.applied(self.project)
        assert applied <= 1, where
        if response.status_code == 200:
            assert applied == 1, where
        self.refused += response.status_code == 503
        if write.repeats or response.status_code == 503:  # nobody sends again what was acknowledged without an id
            again = self.send(write)
            assert again.status_code == 200, f"{where}; then {again.text}"
            if write.repeats:
                assert again.json()["repeated"] == (applied == 1), where
        assert write.applied(self.project) == 1, where
        self.check_memory()
        fired = self.faults.fired
        self.restart()
        self.check_everything(fired)
        return fired

    def send(self, write: Write) -> httpx.Response:
        return self.request(write.method, write.path, write.body)

    def request(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """In the thread of the test, without a network: threads that wait for each other are slow."""
        headers = {"X-Corefine": "1", "Cookie": f"{COOKIE}={self.secret}"}
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


# The requests


def _question(trial: Trial) -> dict[str, Any]:
    state = trial.get("next")
    if state["state"] == "document-done":
        state = trial.get("next")
    assert state["state"] == "question", state
    question: dict[str, Any] = state["question"]
    return question


def _logged(client_id: str) -> Callable[[Project], int]:
    def applied(project: Project) -> int:
        with project.database.read() as connection:
            query = select(func.count()).select_from(schema.events).where(schema.events.c.client_id == client_id)
            return connection.execute(query).scalar_one()

    return applied


def answer(trial: Trial) -> Write:
    question, client_id = _question(trial), new_id()
    body = {"document": question["document"], "question": question["id"], "answer": {"reply": "unsure"}}
    return Write("POST", "answers", {"client_id": client_id, **body}, _logged(client_id))


def edit(trial: Trial) -> Write:
    client_id, document = new_id(), 1
    shown = trial.get(f"documents/{document}/entities")
    text = trial.project.documents.get(document)
    taken = [mention["span"] for entity in shown["entities"] for mention in entity["mentions"]]
    free = next(i for i in range(len(text)) if all(i < first or i > last for first, last in taken))
    change = {"kind": "add", "mention": [free, free], "to": None}
    return Write("POST", "edits", {"client_id": client_id, "document": document, "edit": change}, _logged(client_id))


def withdraw(trial: Trial) -> Write:
    question, client_id = _question(trial), new_id()
    number = trial.answer(question)["outcome"]["number"]
    body = {"client_id": client_id, "document": question["document"], "number": number}
    return Write("POST", "withdraw", body, _logged(client_id))


def undo(trial: Trial) -> Write:
    trial.answer(_question(trial))
    client_id = new_id()
    return Write("POST", "undo", {"client_id": client_id}, _logged(client_id))


def redo(trial: Trial) -> Write:
    trial.answer(_question(trial))
    trial.post("undo", {"client_id": new_id()})
    client_id = new_id()
    return Write("POST", "redo", {"client_id": client_id}, _logged(client_id))


def finish(trial: Trial) -> Write:
    document, is_done = DOCUMENTS, trial.number() % 2 == 1  # one with questions left, or it is done at once
    trial.post(f"documents/{document}/done", {"done": not is_done})

    def applied(project: Project) -> int:
        seats = schema.assignments.c
        with project.database.read() as connection:
            query = select(seats.done).where(seats.person_id == trial.owner.id, seats.document_id == document)
            return int(connection.execute(query).scalar_one() == is_done)

    return Write("POST", f"documents/{document}/done", {"done": is_done}, applied, repeats=False)


def upload(trial: Trial) -> Write:
    name = f"uploaded {trial.number()}"

    def applied(project: Project) -> int:
        return sum(document.name.startswith(name) for document in project.documents.all())

    content = f"Anna met Maria. She greeted her. This is text {name}.".encode()
    return Write("POST", f"documents?name={name}.txt&wait=120", content, applied, repeats=False)


def decide(trial: Trial) -> Write:
    token = trial.number() % 40
    span, key = [token, token], json.dumps([token, token])

    def applied(project: Project) -> int:
        with project.database.read() as connection:
            found = connection.execute(select(schema.decisions).where(schema.decisions.c.mention == key)).all()
        return sum(json.loads(row.decision)["mention"] is False for row in found)

    trial.post("adjudication", {"document": 1, "mention": span, "decision": None})
    body = {"document": 1, "mention": span, "decision": {"mention": False, "first": None}}
    return Write("POST", "adjudication", body, applied, repeats=False)


def invite(trial: Trial) -> Write:
    name = f"guest {trial.number()}"

    def applied(project: Project) -> int:
        with project.database.read() as connection:
            return sum(person.name == name for person in people.everybody(connection))

    return Write("POST", "people", {"name": name}, applied, repeats=False)


def change_settings(trial: Trial) -> Write:
    lease = float(100 + trial.number())
    new = {**trial.get("settings"), "lease_minutes": lease}
    return Write("PUT", "settings", new, lambda project: int(project.settings.lease_minutes == lease), repeats=False)


def draw_study(trial: Trial) -> Write:
    minutes = 100.0 + trial.number()

    def applied(project: Project) -> int:
        with project.database.read() as connection:
            questions = connection.execute(select(func.count()).select_from(schema.study_questions)).scalar_one()
            minutes_kept = settings.get(connection, "study", {}).get("minutes")
        assert questions in (0, 8)
        return int(minutes_kept == minutes)

    return Write("POST", "study", {"minutes": minutes, "documents": 4, "questions": 4}, applied, repeats=False)


def answer_study(trial: Trial) -> Write:
    """The owner's session of the study, which is drawn and begun for the first of them."""
    if trial.number() == 1:
        trial.post("study", {"minutes": 600, "documents": 20, "questions": 60})
    state = trial.post("study/session", {"client_id": new_id()})
    client_id = new_id()
    answers = schema.study_answers

    def applied(project: Project) -> int:
        with project.database.read() as connection:
            query = select(func.count()).select_from(answers).where(answers.c.client_id == client_id)
            return connection.execute(query).scalar_one()

    body = {"document": state["document"], "question": state["question"]["id"], "answer": {"reply": "unsure"}}
    return Write("POST", "study/answers", {"client_id": client_id, **body}, applied, repeats=False)


WRITES = {
    "answer": answer,
    "edit": edit,
    "withdraw": withdraw,
    "undo": undo,
    "redo": redo,
    "finish": finish,
    "upload": upload,
    "decide": decide,
    "invite": invite,
    "settings": change_settings,
    "study": draw_study,
    "study answer": answer_study,
}


@contextmanager
def trying(folder: Path, url: str | None) -> Iterator[Trial]:
    trial = Trial(folder / "project", url)
    with trial.thread:
        yield trial
        trial.thread.submit(trial.runner.close).result()
    trial.project.close()


def test_a_share_of_all_faults(tmp_path: Path) -> None:
    with trying(tmp_path, None) as trial:
        fired = [trial.case(answer, call, after=call == 5, warm=True) for call in (2, 5)]
        fired.append(trial.case(undo, 6, after=True, warm=True))
    assert any(fired)


@contextmanager
def full_disk(most_bytes: int) -> Iterator[None]:
    """No file of this process can grow beyond this size, as on a full disk."""
    resource = pytest.importorskip("resource", reason="this system has no limits of a process")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_refuses_and_loses_nothing(tmp_path: Path) -> None:
    with trying(tmp_path, None) as trial:
        trial.send(answer(trial))
        write = answer(trial)
        sizes = [path.stat().st_size for path in trial.folder.glob("project.sqlite*")]
        with full_disk(min(size for size in sizes if size)):
            refused = trial.send(write)
            exported = trial.request("GET", "export?format=jsonl")
        assert refused.status_code == 503, refused.text
        assert write.applied(trial.project) == 0
        assert str(tmp_path) not in refused.text + exported.text
        trial.check_memory()
        again = trial.send(write)
        assert again.status_code == 200
        assert not again.json()["repeated"]
        trial.check_memory()
        trial.restart()
        trial.check_everything(export=True)


@pytest.mark.nightly
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.parametrize("name", WRITES)
def test_every_fault(
    tmp_path: Path, name: str, database: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    url = None if database == "sqlite" else fresh_postgres(request.getfixturevalue("postgres_server"))
    with trying(tmp_path, url) as trial:
        trial.run(name, WRITES[name])
    with capsys.disabled():
        sys.stdout.write(f"{database}, {name}: {trial.cases.total()} faults, {trial.refused} requests refused\n")
    assert trial.cases.total() > 10

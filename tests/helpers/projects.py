"""Projects for tests: on SQLite and on PostgreSQL, with rules for a model; and a client of the API."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from corefine.annotation.annotators import GoldAnnotator
from corefine.annotation.question import Protocol, Question, span_from_json
from corefine.corpora import stories
from corefine.document import Document
from corefine.models import rules
from corefine.project import Project
from corefine.project.store import documents, predictions
from corefine.project.store.settings import ProjectConfig
from corefine.web.api.context import Context
from corefine.web.app import create_app

POSTGRES = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Path]:
    """A PostgreSQL of our own on a socket in a temporary folder; stopped afterwards."""
    if POSTGRES is None or shutil.which("runuser") is None:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    pytest.importorskip("psycopg", reason="psycopg is not installed (corefine[postgres])")
    folder = Path(tempfile.mkdtemp(prefix="corefine-postgres-"))
    if os.geteuid() == 0:  # it refuses to run as root
        shutil.chown(folder, "postgres", "postgres")
    try:
        _postgres(folder, "initdb", "-U", "corefine", "--auth=trust", "--no-sync")
        _start_postgres(folder)
        yield folder
    finally:
        _postgres(folder, "pg_ctl", "-m", "immediate", "-w", "stop", check=False)
        shutil.rmtree(folder, ignore_errors=True)


def kill_postgres(folder: Path) -> None:
    """Stop it without warning, as a crash would, and start it again."""
    _postgres(folder, "pg_ctl", "-m", "immediate", "-w", "stop")
    _start_postgres(folder)


def _start_postgres(folder: Path) -> None:
    options = f"-k {folder} -c listen_addresses= -c max_connections=200"
    log = str(folder / "log")
    _postgres(folder, "pg_ctl", "-o", options, "-l", log, "-w", "-t", "600", "start")  # a busy machine takes its time


def _postgres(folder: Path, program: str, *arguments: str, check: bool = True) -> None:
    assert POSTGRES is not None
    prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    command = [*prefix, str(POSTGRES / program), "-D", str(folder / "data"), *arguments]
    subprocess.run(command, check=check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of three stories, to be copied: that takes a tenth of the time of making one."""
    folder = tmp_path_factory.mktemp("filled") / "project"
    with Project(folder) as made:
        fill(made, stories.load()[:3])
    return folder


@pytest.fixture(scope="session")
def filled_postgres(postgres_server: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database with the same three stories, to be copied."""
    url = fresh_postgres(postgres_server)
    with Project(tmp_path_factory.mktemp("filled-postgres"), database=url) as made:
        fill(made, stories.load()[:3])
    return url.removeprefix("postgresql://corefine@/").partition("?")[0]


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str | None:
    """None for SQLite in the project's folder; else a PostgreSQL database of its own, with the three stories."""
    if request.param == "sqlite":
        return None
    template = request.getfixturevalue("filled_postgres")
    return fresh_postgres(request.getfixturevalue("postgres_server"), template)


def fresh_postgres(server: Path, template: str = "template1") -> str:
    """The address of a new database, which is a copy of another."""
    import psycopg

    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(host=str(server), user="corefine", dbname="postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return f"postgresql://corefine@/{name}?host={server}"


@pytest.fixture
def project(tmp_path: Path, filled: Path, database_url: str | None) -> Iterator[Project]:
    """A project of three stories."""
    shutil.copytree(filled, tmp_path / "project")
    with Project(tmp_path / "project", database=database_url) as made:
        yield made


@pytest.fixture
def sqlite_project(tmp_path: Path, filled: Path) -> Iterator[Project]:
    shutil.copytree(filled, tmp_path / "project")
    with Project(tmp_path / "project") as made:
        yield made


def fill(project: Project, given: Sequence[Document]) -> list[int]:
    """Put documents into a project, with what the rules say about them as the next version of the model."""
    number = project.writer.write(lambda connection: predictions.add_version(connection, "rules", predictions.RULES))
    ids = [project.writer.write(lambda c, d=document: documents.add(c, d)) for document in given]
    for document in ids:
        project.predictions.save(number, document, rules.predict(project.documents.get(document)))
    # so that tests are asked about all that is open, one by one, as the paper does
    change(project, least_gain=0.0, least_proposal=0.0, groups=False, selector="entropy")
    return ids


def new_id() -> str:
    return uuid.uuid4().hex


class Browser:
    """What the page would do: a client of the API with its own cookies."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        client.headers["X-Corefine"] = "1"

    @property
    def context(self) -> Context:
        """What the server keeps in memory; only of a client that is in the same process."""
        assert isinstance(self.client, TestClient)
        assert isinstance(self.client.app, FastAPI)
        found: Context = self.client.app.state.context
        return found

    def get(self, path: str, status: int = 200) -> Any:
        response = self.client.get(f"/api/{path}")
        assert response.status_code == status, response.text
        return response.json()

    def send(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        response = self.client.request(method, f"/api/{path}", json=body)
        assert response.status_code == status, response.text
        return response.json()

    def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        return self.send("POST", path, body, status)

    def join(self, link: str) -> Any:
        return self.post("login", {"token": link.partition("#join=")[2]})

    def answer(self, question: dict[str, Any], answer: dict[str, Any], status: int = 200, **more: Any) -> Any:
        body = {"client_id": new_id(), "document": question["document"], "question": question["id"], "answer": answer}
        return self.post("answers", {**body, **more}, status)

    def annotate(self, golds: dict[int, Document], most: int = 10_000) -> list[dict[str, Any]]:
        """Answer like gold until nothing is left; returns the results."""
        results = []
        state = self.get("next")
        while len(results) < most and state["state"] != "all-done":
            if state["state"] == "document-done":
                state = self.get("next")
                continue
            question = state["question"]
            gold = golds[question["document"]]
            results.append(self.answer(question, gold_answer(gold, question)))
            state = results[-1]["next"]
        return results


def gold_answer(gold: Document, question: dict[str, Any]) -> dict[str, Any]:
    asked = Question(
        question["number"],
        span_from_json(question["mention"]),
        question["antecedent"] and span_from_json(question["antecedent"]),
        Protocol(question["protocol"]),
    )
    return GoldAnnotator(gold).answer(asked).to_json()


def browser_of(app: Any, peer: str = "127.0.0.1") -> TestClient:
    return TestClient(app, base_url="http://127.0.0.1", client=(peer, 50_000))


def serve(project: Project, **options: Any) -> TestClient:
    """The application without a network; every client of it is a browser of its own."""
    return browser_of(create_app(project, **{"open": True, **options}))


@pytest.fixture
def browser(project: Project) -> Iterator[Browser]:
    with serve(project) as client:
        yield Browser(client)


def another(browser: Browser) -> Browser:
    """A second browser at the same server."""
    client = browser.client
    assert isinstance(client, TestClient)
    return Browser(browser_of(client.app))


def change(project: Project, **fields: Any) -> None:
    project.change_settings(ProjectConfig.from_dict({**project.settings.to_dict(), **fields}))


def golds(project: Project) -> dict[int, Document]:
    return {entry.id: project.documents.get(entry.id) for entry in project.documents.all()}

"""A project: one folder, one database, and everything that is kept in them."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from sqlalchemy import Connection

from corefine.annotation.cost import CostModel
from corefine.errors import InputError
from corefine.files import PRIVATE_FOLDER, lock_file, make_private, write_atomically
from corefine.project.store import people, predictions, settings
from corefine.project.store.database import Database, sqlite_url
from corefine.project.store.documents import Documents
from corefine.project.store.people import Person
from corefine.project.store.server_lock import ServerLock
from corefine.project.store.settings import GUIDELINES, ProjectConfig
from corefine.project.store.writer import Writer

SQLITE = "project.sqlite"
FACTS = "project.json"
PROJECT_VERSION = 1


class Project:
    """Opening one creates what is missing and brings the database up to date."""

    def __init__(self, folder: Path, *, database: str | None = None) -> None:
        self.folder = folder.expanduser().resolve()
        try:
            self.folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder} cannot be used as a project folder: {error}") from error
        self._check_facts(database)
        if database is None:
            check_database_file(self.folder)
        self.database = Database(database or sqlite_url(self.folder / SQLITE))
        try:
            self.database.upgrade()
        except BaseException:
            self.database.close()
            raise
        if self.database.is_sqlite:
            for ending in ("", "-wal", "-shm"):
                make_private(Path(f"{self.database.url.database}{ending}"))
        self._write_facts()
        self.writer = Writer(self.database)
        self.documents = Documents(self.database)
        self.predictions = predictions.Predictions(self.folder / "predictions")
        self.models = self.folder / "models"  # one folder for each version
        self._lock_file: IO[bytes] | None = None

    @property
    def name(self) -> str:
        return self.folder.name

    # Settings

    @property
    def settings(self) -> ProjectConfig:
        with self.database.read() as connection:
            return settings.load(connection)

    def change_settings(self, new: ProjectConfig) -> None:
        self.writer.write(lambda connection: settings.put(connection, "project", new.to_dict()))

    @property
    def cost(self) -> CostModel:
        with self.database.read() as connection:
            return settings.load_cost(connection)

    @property
    def guidelines(self) -> str:
        with self.database.read() as connection:
            text: str = settings.get(connection, "guidelines", GUIDELINES)
            return text

    def change_guidelines(self, markdown: str) -> None:
        self.writer.write(lambda connection: settings.put(connection, "guidelines", markdown))

    # People

    def owner(self) -> Person:
        return self.writer.write(people.first_owner)

    def invite(self, name: str, role: str = people.ANNOTATOR) -> tuple[Person, str]:
        """A new person and the token of their invitation."""

        def job(connection: Connection) -> tuple[Person, str]:
            person = people.add(connection, name, role)
            return person, people.invite(connection, person)

        return self.writer.write(job)

    # Opening and closing

    def lock(self) -> None:
        """Keep other servers out, since sessions live in this one's memory. The lock ends with the process."""
        lock = ServerLock(self.database)
        try:
            busy = f"project {self.folder} is open in another corefine: use the page it serves, or stop it first"
            self._lock_file = lock_file(self.folder / "server.lock", busy)
            self.writer.serve(lock)
        except BaseException:
            lock.close()
            raise

    def close(self) -> None:
        self.writer.close()
        self.database.close()
        if self._lock_file is not None:
            self._lock_file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_facts(self, database: str | None) -> None:
        path = self.folder / FACTS
        if not path.exists():
            return
        try:
            facts = json.loads(path.read_text("utf-8"))
            backend, version = facts["database"], facts["version"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise InputError(f"{path} is damaged: {error}") from error
        if version > PROJECT_VERSION:
            raise InputError(f"the project {self.folder} was made by a newer corefine: upgrade; nothing was changed")
        if backend != "sqlite" and database is None:
            raise InputError(f"this project keeps its answers in {backend}: name it with --database")

    def _write_facts(self) -> None:
        facts = {"version": PROJECT_VERSION, "database": self.database.url.get_backend_name()}
        content = json.dumps(facts).encode()
        path = self.folder / FACTS
        if not path.exists() or path.read_bytes() != content:
            try:
                write_atomically(path, content)
            except OSError as error:
                raise InputError(f"{path} cannot be written: {error.strerror}") from error


def check_database_file(folder: Path) -> None:
    """Raise if a project has lost its SQLite database. A new empty one would make it look like a new project."""
    path = folder / SQLITE
    if path.is_file() and path.stat().st_size:
        return
    made_before = (folder / FACTS).exists() or any((folder / name).is_dir() for name in ("predictions", "models"))
    state = "missing" if not path.exists() else "empty" if path.is_file() else "no file"
    if made_before:
        raise InputError(
            f"the database {path} is {state}, and there was a project in this folder: restore a backup "
            "(`corefine project restore`) or begin a new project in another folder; nothing was changed"
        )
    if path.exists():
        raise InputError(
            f"the database {path} is {state}: restore a backup (`corefine project restore`) if there was a project, "
            "remove it if there was none; nothing was changed"
        )

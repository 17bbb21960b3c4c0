"""Checks that everything in a project can be read: the database, logs, documents, predictions and models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import DBAPIError

from corefine.document import Document
from corefine.errors import CorefineError, InputError
from corefine.files import sha256_of
from corefine.project.project import Project
from corefine.project.results import adjudication
from corefine.project.store import log, people, predictions, schema
from corefine.project.store.database import Database, is_out_of_reach
from corefine.project.work.open_document import UNREADABLE, restore_session

DATABASE, LOG, DOCUMENT, DECISION, PREDICTION, MODEL = "database", "log", "document", "decision", "prediction", "model"

EVENTS = schema.events.c


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong.

    kind          what it is about: database, log, document, decision, prediction or model
    where         the file, the document, or the person and the document
    remedy        what `corefine project repair` does about it
    """

    kind: str
    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.what}. {self.remedy}"


def check(project: Project) -> list[Finding]:
    """Everything that is wrong with a project. Nothing is changed."""
    found = list(check_database(project.database))
    if found:  # other findings would only repeat this one
        return found
    return [*check_documents(project), *check_logs(project), *check_predictions(project), *check_models(project)]


def quick_check(project: Project) -> list[Finding]:
    """The checks that take only a moment: damage to the database file, and gaps in logs."""
    found = list(check_database(project.database, quick=True))
    return found or list(gaps(project))


def check_database(database: Database, *, quick: bool = False) -> Iterator[Finding]:
    """Damage to the database itself. PostgreSQL checks its own files."""
    if not database.is_sqlite:
        return
    remedy = "Repair makes a new database of all rows that can be read"
    try:
        with database.read() as connection:
            lines = connection.exec_driver_sql("PRAGMA quick_check" if quick else "PRAGMA integrity_check").scalars()
            told = [str(line) for line in lines if line != "ok"]
            lost = [] if quick else connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    except DBAPIError as error:
        if is_out_of_reach(error):
            raise InputError(f"the database {database.name} cannot be opened: {error.orig}") from error
        told, lost = [str(error.orig)], []
    if told:
        more = f", and {len(told) - 3} more" if len(told) > 3 else ""
        yield Finding(DATABASE, Path(database.name).name, "; ".join(told[:3]) + more, remedy)
    if lost:
        what = f"{len(lost)} rows of {', '.join(sorted({str(row[0]) for row in lost}))} refer to rows that are gone"
        yield Finding(DATABASE, Path(database.name).name, what, remedy)


def gaps(project: Project) -> Iterator[Finding]:
    """Logs whose rows are not numbered 1, 2, 3 and so on."""
    with project.database.read() as connection:
        log_of = (EVENTS.person_id, EVENTS.document_id)
        counted = select(*log_of, func.count(), func.min(EVENTS.place), func.max(EVENTS.place)).group_by(*log_of)
        rows = connection.execute(counted).all()
        bad = [row for row in rows if (row[3], row[4]) != (1, row[2])]
        if not bad:
            return
        names = _Names(connection)
    for person_id, document_id, count, _, last in bad:
        what = f"{last - count} of {last} rows are missing"
        yield Finding(LOG, names.of(person_id, document_id), what, "Repair keeps the others and numbers them again")


def check_documents(project: Project) -> Iterator[Finding]:
    """Documents whose stored text cannot be read."""
    for info in project.documents.all():
        document = readable(project, info.id)
        if document is None:
            what, remedy = "its text cannot be read", "It is left out of exports; import it again under another name"
            yield Finding(DOCUMENT, info.key, what, remedy)
        elif len(document) != info.tokens:
            yield Finding(DOCUMENT, info.key, "it has another length than is noted", "Repair notes its length")


def check_logs(project: Project) -> Iterator[Finding]:
    """Logs with gaps, rows that cannot be read, and logs that cannot be replayed."""
    yield from gaps(project)
    with project.database.read() as connection:
        pairs = connection.execute(select(EVENTS.person_id, EVENTS.document_id).distinct()).all()
        names = _Names(connection)
    for person_id, document_id in pairs:
        problem = replay_problem(project, person_id, document_id)
        if problem is not None:
            remedy = "Repair keeps every answer that can be read and contradicts no other"
            yield Finding(LOG, names.of(person_id, document_id), problem, remedy)
    yield from _check_decisions(project)


def replay_problem(project: Project, person_id: int, document_id: int) -> str | None:
    """Why a log cannot be replayed; None if it can, or if the document itself cannot be read."""
    document = readable(project, document_id)
    if document is None:
        return None
    try:
        with project.database.read() as connection:
            rows = log.events_of(connection, document_id=document_id, person_id=person_id)
        restore_session(document, rows, predictions.EMPTY, project.settings)
    except UNREADABLE as error:
        return f"it cannot be replayed: {error}"
    return None


def _check_decisions(project: Project) -> Iterator[Finding]:
    with project.database.read() as connection:
        found = adjudication.rows_by_document(connection)
    for document_id, rows in found.items():
        where, document = f"document {document_id}", readable(project, document_id)
        for row in rows:
            try:
                (decision,) = adjudication.parsed([row])
            except UNREADABLE as error:
                yield Finding(DECISION, where, f"a decision cannot be read: {error}", "Repair removes it")
                continue
            if document is not None and not document.holds(decision.span):
                yield Finding(DECISION, where, f"a decision is about {decision.span}, outside it", "Repair removes it")


def check_predictions(project: Project) -> Iterator[Finding]:
    """Prediction files that cannot be read or do not fit their document. Missing ones are computed when needed."""
    names = {info.id: info for info in project.documents.all()}
    for path in sorted(project.predictions.folder.glob("v*/*.npz")):
        where = f"{path.parent.name}/{path.name}"
        info = names.get(int(path.stem)) if path.stem.isdecimal() else None
        if info is None:
            continue
        problem = prediction_problem(path, info.tokens)
        if problem is not None:
            yield Finding(PREDICTION, where, problem, "Repair deletes it, and it is made again")


def prediction_problem(path: Path, tokens: int) -> str | None:
    try:
        found = predictions.parse(path.read_bytes())
    except predictions.DAMAGED as error:
        return f"it cannot be read: {error}"
    if any(span.end >= tokens for span in found.spans):
        return "it is about another text"
    return None


def check_models(project: Project) -> Iterator[Finding]:
    """Trained models whose files are gone or changed."""
    with project.database.read() as connection:
        versions = predictions.all_versions(connection)
    for version in versions:
        if version.kind == predictions.TRAINED and version.is_ready:
            problem = model_problem(project.models / f"v{version.id}")
            if problem is not None:
                remedy = "Repair takes the version out of use; its predictions stay"
                yield Finding(MODEL, f"v{version.id}", problem, remedy)


def model_problem(folder: Path) -> str | None:
    try:
        facts = json.loads((folder / "model.json").read_text("utf-8"))
        same = sha256_of(folder / facts["weights"]) == facts["sha256"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        return f"its files cannot be read: {error.strerror if isinstance(error, OSError) else error}"
    return None if same else "its weights have changed since they were saved"


class _Names:
    """The names of people and documents for messages."""

    def __init__(self, connection: Connection) -> None:
        self._people = people.names(connection)
        rows = connection.execute(select(schema.documents.c.id, schema.documents.c.name))
        self._documents = {row.id: row.name for row in rows}

    def of(self, person_id: int, document_id: int) -> str:
        person = self._people.get(person_id, f"person {person_id}")
        return f"{person} in {self._documents.get(document_id, f'document {document_id}')}"


def readable(project: Project, document_id: int) -> Document | None:
    """The document, None if it cannot be read."""
    try:
        return project.documents.get(document_id)
    except (CorefineError, LookupError):
        return None

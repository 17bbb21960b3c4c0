"""Repairs what `check` finds. Every answer that can be read is kept; what is removed is saved in a file."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Executable, Row, delete, insert, select, update

from corefine.annotation.log import AnswerEntry
from corefine.annotation.question import Answer, Protocol, Question
from corefine.annotation.session import Session
from corefine.document import Span, SplitSpan
from corefine.files import write_atomically
from corefine.project.project import Project
from corefine.project.results import adjudication
from corefine.project.store import predictions, schema
from corefine.project.upkeep import backup, checking
from corefine.project.work.open_document import UNREADABLE, restore_session

EVENTS = schema.events.c


def repair(project: Project) -> list[str]:
    """Repair what can be repaired, and return what was done. Nobody else may use the project meanwhile."""
    if not checking.check(project):
        return []
    stamp = time.strftime("%Y%m%d-%H%M%S")
    copy = project.folder / f"before-repair-{stamp}.zip"
    backup.backup(project, copy, models=False)
    done = [f"what the database had is in {copy.name}"]
    removed: list[dict[str, Any]] = []
    for step in (_lengths, _logs, _decisions, _predictions, _models):
        done += step(project, removed)
    if removed:
        file = project.folder / f"removed-{stamp}.jsonl"
        lines = (json.dumps(row, ensure_ascii=False, default=str) for row in removed)
        write_atomically(file, "".join(f"{line}\n" for line in lines).encode(), private=True)
        done.append(f"{len(removed)} rows that could not stay are in {file.name}")
    return done


# Logs


def _logs(project: Project, removed: list[dict[str, Any]]) -> Iterator[str]:
    with project.database.read() as connection:
        pairs = connection.execute(select(EVENTS.person_id, EVENTS.document_id).distinct()).all()
        columns = schema.assignments.c
        assigned = {tuple(row) for row in connection.execute(select(columns.person_id, columns.document_id))}
        version = max(predictions.ready_versions(connection), default=1)
    for person_id, document_id in pairs:
        document = checking.readable(project, document_id)
        if document is None:
            continue
        where = f"{document.key}, person {person_id}"
        with project.database.read() as connection:
            query = select(schema.events).where(EVENTS.person_id == person_id, EVENTS.document_id == document_id)
            rows = connection.execute(query.order_by(EVENTS.place)).all()
        kept, out = sort_out(restore_session(document, [], predictions.EMPTY, project.settings), rows)
        if (
            [row.place for row, _ in kept] != list(range(1, len(kept) + 1))
            or out
            or any(_is_changed(*each) for each in kept)
        ):
            _run(project, *_keep(kept, out))
            removed += [{**row._asdict(), "why": why} for row, why in out]
            left = "".join(f"; {row.kind} in row {row.place} left out: {why}" for row, why in out)
            yield f"{where}: {len(kept)} of {len(rows)} rows kept and numbered{left}"
        if (person_id, document_id) not in assigned:
            _run(project, _assign(person_id, document_id, version))
            yield f"{where}: assigned again"


Kept = list[tuple[Row[Any], dict[str, Any]]]
LeftOut = list[tuple[Row[Any], str]]


def sort_out(session: Session, rows: Sequence[Row[Any]]) -> tuple[Kept, LeftOut]:
    """The rows of a log that can be replayed into a new session, with their events; and the others, with reasons.

    A missing row counts as an unknown step. An undo of such a step is dropped, so that it does not undo another step.
    """
    kept: Kept = []
    out: LeftOut = []
    done: list[bool] = []  # the steps that can be undone: whether each is known
    undone: list[bool] = []
    place = 0
    for row in rows:
        missing = max(0, row.place - place - 1)
        done += [False] * missing
        if missing:
            undone.clear()
        place = row.place
        if row.kind in ("undo", "redo"):
            source, target = (done, undone) if row.kind == "undo" else (undone, done)
            known = source.pop() if source else False
            target.append(known)
            if not known:
                out.append((row, "the step it is about is missing"))
                continue
        else:
            done.append(True)
            undone.clear()
        event, why = _replayed(session, row)
        if event is None:
            out.append((row, why))
            if row.kind not in ("undo", "redo"):
                done[-1] = False
        else:
            kept.append((row, event))
    return kept, out


def _replayed(session: Session, row: Row[Any]) -> tuple[dict[str, Any] | None, str]:
    """The row's event after replaying it, or None and the reason why it cannot be replayed."""
    event = _event(row)
    if event is None:
        return None, "it cannot be read"
    if event.get("number") in {entry.number for entry in session.given} and row.kind in ("answer", "edit"):
        event = {**event, "number": session.next_number}  # two answers had one number
    try:
        session.replay_event(event)
    except UNREADABLE as error:
        return None, str(error)
    return event, ""


def _event(row: Row[Any]) -> dict[str, Any] | None:
    """The event of a row. If it cannot be read, an answer is rebuilt from its request."""
    try:
        event = json.loads(row.event)
        if isinstance(event, dict) and event.get("event") == row.kind:
            return event
    except (ValueError, RecursionError):
        pass
    if row.kind in ("undo", "redo"):
        return {"event": row.kind}
    try:
        request = json.loads(row.outcome)["request"]
        if row.kind == "withdraw":
            return {"event": "withdraw", "number": int(request[2])}
        return _answer_event(request, row.seconds) if row.kind == "answer" else None
    except UNREADABLE:
        return None


def _answer_event(request: list[Any], seconds: float) -> dict[str, Any]:
    """The event of an answer, from its request: the question's id has all that the log needs."""
    _, _, question_id, answer, *withdrawing = request
    number, mention, antecedent, protocol, *group = question_id.split(":")
    question = Question(
        number=int(number),
        mention=_span(mention),
        antecedent=_span(antecedent) if antecedent else None,
        protocol=Protocol(protocol),
        group=tuple(map(_span, group[0].split(","))) if group else (),
    )
    entry = AnswerEntry(question, Answer.from_json(answer), seconds)
    event = {"event": "answer", **entry.to_json()}
    return {**event, "withdrawing": withdrawing} if withdrawing else event


def _span(text: str) -> Span:
    parts = [(int(start), int(end)) for start, _, end in (part.partition("-") for part in text.split("+"))]
    return Span(*parts[0]) if len(parts) == 1 else SplitSpan(parts)


def _is_changed(row: Row[Any], event: dict[str, Any]) -> bool:
    try:
        return bool(json.loads(row.event) != event)
    except (ValueError, RecursionError):
        return True


def _keep(kept: Kept, out: LeftOut) -> Iterator[Executable]:
    """Number the rows that are kept, and remove the others."""
    for row, _ in out:
        yield delete(schema.events).where(EVENTS.id == row.id)
    for row, _ in kept:  # first move them away: places must be unique
        yield update(schema.events).where(EVENTS.id == row.id).values(place=-row.place)
    for place, (row, event) in enumerate(kept, start=1):
        yield update(schema.events).where(EVENTS.id == row.id).values(place=place, event=json.dumps(event))


def _assign(person_id: int, document_id: int, version: int) -> Executable:
    values = {"person_id": person_id, "document_id": document_id, "model_version": version, "done": False}
    return insert(schema.assignments).values(**values, lease_until=0.0, touched_at=0.0)


# The rest


def _lengths(project: Project, _: list[dict[str, Any]]) -> Iterator[str]:
    columns = schema.documents.c
    for info in project.documents.all():
        document = checking.readable(project, info.id)
        if document is not None and len(document) != info.tokens:
            _run(project, update(schema.documents).where(columns.id == info.id).values(tokens=len(document)))
            yield f"{info.key}: has {len(document)} tokens"


def _decisions(project: Project, removed: list[dict[str, Any]]) -> Iterator[str]:
    columns = schema.decisions.c
    with project.database.read() as connection:
        rows = connection.execute(select(schema.decisions)).all()
    for row in rows:
        try:
            document = checking.readable(project, row.document_id)
            (decision,) = adjudication.parsed([row])
            good = document is None or document.holds(decision.span)
        except UNREADABLE:
            good = False
        if not good:
            own = (columns.document_id == row.document_id, columns.mention == row.mention)
            _run(project, delete(schema.decisions).where(*own))
            removed.append({**row._asdict(), "why": "it cannot be read"})
            yield f"document {row.document_id}: a decision that cannot be read was removed"


def _predictions(project: Project, _: list[dict[str, Any]]) -> Iterator[str]:
    for finding in checking.check_predictions(project):
        (project.predictions.folder / finding.where).unlink(missing_ok=True)
        yield f"prediction {finding.where}: deleted, and made again when the server runs"


def _models(project: Project, _: list[dict[str, Any]]) -> Iterator[str]:
    for finding in checking.check_models(project):
        number = int(finding.where.removeprefix("v"))
        message = f"taken out of use: {finding.what}"
        values = {"state": predictions.FAILED, "message": message}
        _run(project, update(schema.versions).where(schema.versions.c.id == number).values(values))
        yield f"model {finding.where}: {message}"


def _run(project: Project, *statements: Executable) -> None:
    def job(connection: Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    project.writer.write(job)

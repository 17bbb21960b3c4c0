"""One request for each route that writes, to be tried under faults of the database."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import Any

from sqlalchemy import delete, func, select, update

from corefine.corpora import stories
from corefine.document import Document
from corefine.project import Project
from corefine.project.learning.worker import Worker
from corefine.project.store import documents, people, schema, settings
from corefine.project.store.documents import DocumentInfo
from helpers.fault_trial import DOCUMENTS, Trial, Write
from helpers.projects import new_id


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
    client_id, free = new_id(), _free_token(trial)
    change = {"kind": "add", "mention": [free, free], "to": None}
    return Write("POST", "edits", {"client_id": client_id, "document": 1, "edit": change}, _logged(client_id))


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
        return int(_is_done(project, trial) == is_done)

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
        assert questions in (0, 8) or (trial.damaged and questions < 8)  # a damaged document is left out
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


def begin_study(trial: Trial) -> Write:
    if trial.number() == 1:
        trial.post("study", {"minutes": 600, "documents": 4, "questions": 4})
    with trial.project.database.write() as connection:
        connection.execute(delete(schema.study_sessions))
    client_id = new_id()

    def applied(project: Project) -> int:
        with project.database.read() as connection:
            return sum(row.client_id == client_id for row in connection.execute(select(schema.study_sessions)))

    return Write("POST", "study/session", {"client_id": client_id}, applied, repeats=False)


def mark(trial: Trial) -> Write:
    client_id, free = new_id(), _free_token(trial)
    edit = {"kind": "mark", "mention": [free, free], "to": None}
    return Write("POST", "full", {"client_id": client_id, "document": 1, "edit": edit}, _logged(client_id))


def take(trial: Trial) -> Write:
    """The next question of somebody who has no document yet: that takes one."""
    with trial.project.database.write() as connection:
        connection.execute(delete(schema.assignments))
    trial.restart()

    def applied(project: Project) -> int:
        with project.database.read() as connection:
            return connection.execute(select(func.count()).select_from(schema.assignments)).scalar_one()

    return Write("GET", "next", None, applied, repeats=False)


def ask_more(trial: Trial) -> Write:
    path = f"documents/{DOCUMENTS}"
    trial.post(f"{path}/done", {"done": True})
    return Write("POST", f"{path}/more", None, lambda project: int(not _is_done(project, trial)), repeats=False)


def review(trial: Trial) -> Write:
    is_reviewed = trial.number() % 2 == 1
    trial.post("documents/2/reviewed", {"reviewed": not is_reviewed})

    def applied(project: Project) -> int:
        return int((_info(project, 2).reviewed_at is not None) == is_reviewed)

    return Write("POST", "documents/2/reviewed", {"reviewed": is_reviewed}, applied, repeats=False)


def rename_document(trial: Trial) -> Write:
    name = f"story {trial.number()}"
    body = {"documents": [3], "name": name}
    return Write("PATCH", "documents", body, lambda project: int(_info(project, 3).name == name), repeats=False)


def split_again(trial: Trial) -> Write:
    """A text gets another language: one document takes the place of another."""
    name = f"text {trial.number()}"
    text = Document.from_text("Anna zag Piet. Zij lachte.", name, language="en")
    document = trial.project.writer.write(lambda connection: documents.add(connection, text))
    trial.restart()

    def applied(project: Project) -> int:
        found = [info for info in project.documents.all() if info.name == name]
        assert len(found) == 1, "it is there once, before and after"
        return int(found[0].id != document)

    return Write("PUT", "documents/language", {"documents": [document], "language": "nl"}, applied, repeats=False)


def add_stories(trial: Trial) -> Write:
    with trial.project.database.write() as connection:
        connection.execute(delete(schema.documents).where(schema.documents.c.id > DOCUMENTS))
    trial.restart()

    def applied(project: Project) -> int:
        added, rest = divmod(len(project.documents.all()) - DOCUMENTS, len(stories.load()))
        assert rest == 0
        return added

    return Write("POST", "stories", None, applied, repeats=False)


def log_in(trial: Trial) -> Write:
    """With a token that works once: it is not used up before its owner has a cookie."""
    token = trial.project.writer.write(lambda connection: people.token_for_once(connection, trial.owner))
    before = _logins(trial.project)
    return Write("POST", "login", {"token": token}, lambda project: len(_logins(project) - before), repeats=False)


def log_out(trial: Trial) -> Write:
    secret = trial.project.writer.write(lambda connection: people.log_in(connection, trial.owner))

    def applied(project: Project) -> int:
        with project.database.read() as connection:
            return int(people.by_login(connection, secret) is None)

    return Write("POST", "logout", None, applied, repeats=False, secret=secret)


def introduce(trial: Trial) -> Write:
    name = f"owner {trial.number()}"
    return Write("POST", "me", {"name": name}, lambda project: int(_named(project, name)), repeats=False)


def invite_again(trial: Trial) -> Write:
    guest, before = _guest(trial)

    def applied(project: Project) -> int:
        return int(_token_hash(project, guest) not in (None, before))

    return Write("POST", f"people/{guest}/invitation", None, applied, repeats=False)


def revoke(trial: Trial) -> Write:
    guest, _ = _guest(trial)
    return Write(
        "DELETE", f"people/{guest}", None, lambda project: int(_token_hash(project, guest) is None), repeats=False
    )


def change_guidelines(trial: Trial) -> Write:
    text = f"# Guidelines {trial.number()}"
    return Write(
        "PUT", "guidelines", {"markdown": text}, lambda project: int(project.guidelines == text), repeats=False
    )


def train_now(trial: Trial) -> Write:
    Worker(trial.project)
    with trial.project.database.write() as connection:
        connection.execute(update(schema.worker).values(requested=False))

    def applied(project: Project) -> int:
        with project.database.read() as connection:
            return int(connection.execute(select(schema.worker.c.requested)).scalar_one())

    return Write("POST", "training", None, applied, repeats=False)


def restore(trial: Trial) -> Write:
    """A backup in the place of everything. What was answered after it is gone, and so is what memory had of it."""
    predictions = trial.project.predictions.folder
    aside = trial.folder / "kept-predictions"
    if not aside.exists():
        shutil.copytree(predictions, aside)
    content = trial.request("GET", "backup").content
    write = answer(trial)
    trial.send(write)

    def settle() -> None:
        shutil.copytree(aside, predictions, dirs_exist_ok=True)
        for kept in trial.folder.glob("before-restore-*"):
            kept.unlink()

    return Write("POST", "restore", content, lambda project: 1 - write.applied(project), repeats=False, settle=settle)


# What they look at


def _free_token(trial: Trial) -> int:
    """A token of the first document that is in no mention."""
    shown = trial.get("documents/1/entities")
    taken = [mention["span"] for entity in shown["entities"] for mention in entity["mentions"]]
    length = len(trial.project.documents.get(1))
    return next(i for i in range(length) if all(i < first or i > last for first, last in taken))


def _info(project: Project, document_id: int) -> DocumentInfo:
    return next(info for info in project.documents.all() if info.id == document_id)


def _is_done(project: Project, trial: Trial) -> bool:
    columns = schema.assignments.c
    with project.database.read() as connection:
        query = select(columns.done).where(columns.person_id == trial.owner.id, columns.document_id == DOCUMENTS)
        return bool(connection.execute(query).scalar_one())


def _named(project: Project, name: str) -> bool:
    with project.database.read() as connection:
        return name in people.names(connection).values()


def _logins(project: Project) -> set[str]:
    with project.database.read() as connection:
        return set(connection.execute(select(schema.logins.c.token_hash)).scalars())


def _guest(trial: Trial) -> tuple[int, str | None]:
    """Somebody new, and the hash of their token."""
    person, _ = trial.project.invite(f"guest {trial.number()}")
    return person.id, _token_hash(trial.project, person.id)


def _token_hash(project: Project, person_id: int) -> str | None:
    with project.database.read() as connection:
        return connection.execute(select(schema.people.c.token_hash).where(schema.people.c.id == person_id)).scalar()


WRITES = {
    "POST /api/answers": answer,
    "POST /api/edits": edit,
    "POST /api/withdraw": withdraw,
    "POST /api/undo": undo,
    "POST /api/redo": redo,
    "POST /api/full": mark,
    "GET /api/next": take,
    "POST /api/documents/{document_id}/done": finish,
    "POST /api/documents/{document_id}/more": ask_more,
    "POST /api/documents/{document_id}/reviewed": review,
    "POST /api/documents": upload,
    "PATCH /api/documents": rename_document,
    "PUT /api/documents/language": split_again,
    "POST /api/stories": add_stories,
    "POST /api/adjudication": decide,
    "POST /api/login": log_in,
    "POST /api/logout": log_out,
    "POST /api/me": introduce,
    "POST /api/people": invite,
    "POST /api/people/{person_id}/invitation": invite_again,
    "DELETE /api/people/{person_id}": revoke,
    "PUT /api/settings": change_settings,
    "PUT /api/guidelines": change_guidelines,
    "POST /api/study": draw_study,
    "POST /api/study/session": begin_study,
    "POST /api/study/answers": answer_study,
    "POST /api/training": train_now,
    "POST /api/restore": restore,
}
"""By route, what is tried."""

"""One person's place in a project: their open sessions, and everything they did, in order, across documents."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from corefine.annotation.log import Outcome
from corefine.annotation.question import Answer, Question, span_to_json
from corefine.annotation.session import Session
from corefine.errors import ModelError, NotOpenError, ReusedIdError, UnknownAnswerError
from corefine.prediction import Prediction
from corefine.project.store import log, schema
from corefine.project.store.log import Timing
from corefine.project.work import assignments, edits
from corefine.project.work.assignments import Assignments
from corefine.project.work.sessions import OpenDocument

if TYPE_CHECKING:
    from corefine.project.work.workspaces import Workspaces


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person is to see now; `state` as in the API."""

    state: str
    opened: OpenDocument | None = None
    question: Question | None = None
    document_id: int | None = None
    upcoming: int | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """What came of something a person did; `repeated` if it had been done before under the same client's id."""

    document_id: int
    outcome: dict[str, Any] | None
    number: int | None
    repeated: bool = False


class Workspace:
    """Used by one thread at a time: `Workspaces.of` sees to that. A failing call raises and changes nothing."""

    def __init__(self, workspaces: Workspaces, person_id: int) -> None:
        self.workspaces, self.person_id = workspaces, person_id
        self.project = workspaces.project
        self.total_questions = 0
        self.total_seconds = 0.0
        self._done: list[int] = []  # the document of each step that can be undone
        self._undone: list[int] = []
        self._seen: set[str] = set()  # clients' ids, so that only a retry needs to ask the database
        with self.project.database.read() as connection:
            logged = schema.events.c
            rows = connection.execute(
                select(logged.document_id, logged.kind, logged.seconds, logged.client_id)
                .where(logged.person_id == person_id)
                .order_by(logged.id)
            ).all()
            self.finished = {
                each.document_id for each in assignments.all_of(connection) if each.person_id == person_id and each.done
            }
        for row in rows:
            self._note(row.client_id, row.document_id, row.kind, row.seconds)

    # What to show

    def show(self, document_id: int | None = None) -> Shown:
        """The question that is open in a document, by default in the one to work on."""
        if document_id is None:
            document_id = self._take_next()
            if document_id is None:
                return Shown("all-done" if self.workspaces.documents() else "empty")
        opened = self.open(document_id)
        if opened is None:
            return Shown("preparing", document_id=document_id)
        question = None if opened.done else opened.session.next_question()
        if question is not None:
            return Shown("question", opened, question, document_id)
        if not opened.done:
            self.finish(document_id)
        return Shown("document-done", opened, None, document_id, upcoming=self._choose(besides=document_id))

    def open(self, document_id: int) -> OpenDocument | None:
        """The person's session about a document, leased to them; None while no model has read it."""
        opened = self.workspaces.kept(self.person_id, document_id)
        now = time.time()
        half = self.workspaces.settings.lease_minutes * 30.0
        if opened is not None and (opened.done or now < opened.lease_until - half):
            return opened
        newest = self.workspaces.newest(document_id)
        if newest is None:
            return None

        def job(connection: Connection) -> assignments.Assignment:
            everybody = Assignments(connection, self.workspaces.settings, now)
            return everybody.take(connection, document_id, self.person_id, newest)

        row = self.project.writer.write(job)
        if opened is None:
            opened = self.workspaces.rebuild(row)
        opened.lease_until = now + 2 * half
        return opened

    def look_ahead(self, document_id: int) -> None:
        """Take up a newer model while the person thinks, so that the next answer does not wait for it."""
        opened = self.workspaces.kept(self.person_id, document_id)
        if opened is None or opened.done or opened.session.next_question() is None:
            return
        version, prediction = self.workspaces.newer(opened)
        if prediction is not None and version != opened.ahead:
            opened.session.use(prediction, keep_open=True)
            opened.ahead = version

    def own(self, document_id: int) -> OpenDocument:
        """The person's session about a document they have worked on, whoever has it now."""
        opened = self.workspaces.kept(self.person_id, document_id)
        if opened is not None:
            return opened
        with self.project.database.read() as connection:
            row = assignments.find(connection, self.person_id, document_id)
        return self._opened(document_id) if row is None else self.workspaces.rebuild(row)

    def view(self, document_id: int) -> Session:
        """A session to look at: the person's own, or a fresh one that leases nothing."""
        with self.project.database.read() as connection:
            row = assignments.find(connection, self.person_id, document_id)
        if row is not None:
            return self.own(document_id).session
        newest = self.workspaces.newest(document_id)
        if newest is None:
            raise ModelError("the model has not read this document yet: try again in a moment")
        return self.workspaces.session(self.person_id, document_id, self.project.predictions.load(newest, document_id))[
            0
        ]

    def past(self, document_id: int) -> Session:
        """The person's session about a document, for looking at what was said: without a model unless it is live."""
        opened = self.workspaces.kept(self.person_id, document_id)
        return opened.session if opened is not None else self.workspaces.session(self.person_id, document_id)[0]

    @property
    def can_undo(self) -> bool:
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        return bool(self._undone)

    # What is done

    def answer(
        self,
        client_id: str,
        document_id: int,
        question_id: str,
        answer: Answer,
        *,
        timing: Timing | None = None,
        withdrawing: Sequence[int] = (),
    ) -> Recorded:
        """Answer the open question; when this returns, the answer is on disk."""
        request = ["answer", document_id, question_id, answer.to_json(), *withdrawing]
        if repeated := self._repeated(client_id, request):
            return repeated
        opened = self._opened(document_id)
        question = None if opened.done else opened.session.next_question()
        if question is None or question_id_of(question) != question_id:
            raise NotOpenError("this question is no longer open: it was answered, or another one took its place")
        timing = timing or Timing()
        outcome = opened.session.answer(answer, seconds=timing.total, withdrawing=withdrawing)
        return self._commit(client_id, request, opened, outcome, timing)

    def edit(
        self,
        client_id: str,
        document_id: int,
        edit: edits.Edit,
        *,
        seconds: float = 0.0,
        withdrawing: Sequence[int] = (),
    ) -> Recorded:
        """Change the entities of a document as its reviewer."""
        request = ["edit", document_id, edits.to_json(edit), *withdrawing]
        if repeated := self._repeated(client_id, request):
            return repeated
        opened = self.own(document_id)
        assertions, mentions = edits.assertions_of(opened.session, edit)
        outcome = opened.session.edit(assertions, mentions=mentions, seconds=seconds, withdrawing=withdrawing)
        return self._commit(client_id, request, opened, outcome)

    def withdraw(self, client_id: str, document_id: int, number: int) -> Recorded:
        request = ["withdraw", document_id, number]
        if repeated := self._repeated(client_id, request):
            return repeated
        opened = self.own(document_id)
        opened.session.withdraw(number)
        return replace(self._commit(client_id, request, opened), number=number)

    def undo(self, client_id: str) -> Recorded:
        """Undo the last thing the person did, in whichever document that was."""
        if repeated := self._repeated(client_id, ["undo"]):
            return repeated
        if not self._done:
            raise UnknownAnswerError("there is nothing to undo")
        opened = self.own(self._done[-1])
        action = opened.session.undo()
        return replace(self._commit(client_id, ["undo"], opened), number=(*action.given, *action.withdrawn)[0])

    def redo(self, client_id: str) -> Recorded:
        if repeated := self._repeated(client_id, ["redo"]):
            return repeated
        if not self._undone:
            raise UnknownAnswerError("there is nothing to redo")
        opened = self.own(self._undone[-1])
        action = opened.session.redo()
        return replace(self._commit(client_id, ["redo"], opened), number=(*action.given, *action.withdrawn)[0])

    def finish(self, document_id: int, *, done: bool = True) -> None:
        """Leave a document, or take it up again."""
        opened = self.own(document_id)
        self.project.writer.write(
            lambda connection: assignments.change(connection, self.person_id, document_id, done=done)
        )
        opened.done = done
        (self.finished.add if done else self.finished.discard)(document_id)

    # Within

    def _opened(self, document_id: int) -> OpenDocument:
        opened = self.open(document_id)
        if opened is None:
            raise ModelError("the model has not read this document yet: try again in a moment")
        return opened

    def _take_next(self) -> int | None:
        """Choose a document and lease it in one step, so that no two people are given the same."""

        def job(connection: Connection) -> int | None:
            everybody = Assignments(connection, self.workspaces.settings, time.time())
            document_id = everybody.next_for(self.person_id)
            newest = None if document_id is None else self.workspaces.newest(document_id)
            if document_id is not None and newest is not None:
                everybody.take(connection, document_id, self.person_id, newest)
            return document_id

        chosen = self._choose()
        leased = None if chosen is None else self.workspaces.kept(self.person_id, chosen)
        if chosen is None or (leased is not None and time.time() < leased.lease_until):
            return chosen
        return self.project.writer.write(job)

    def _choose(self, *, besides: int | None = None) -> int | None:
        with self.project.database.read() as connection:
            return Assignments(connection, self.workspaces.settings, time.time()).next_for(
                self.person_id, besides=besides
            )

    def _repeated(self, client_id: str, request: list[Any]) -> Recorded | None:
        """What came of a request that was sent before; raises if that was another one under the same id."""
        if client_id not in self._seen:
            return None
        with self.project.database.read() as connection:
            row = log.find(connection, self.person_id, client_id)
        if row is None:
            return None
        outcome = row.outcome or {}
        sent = outcome.pop("request", [row.kind, *request[1:]])  # logs of earlier versions do not keep it
        if sent != request:
            raise ReusedIdError(f"the client_id {client_id} was sent before with another request: use a new one")
        return Recorded(row.document_id, outcome or None, row.number, repeated=True)

    def _newer(self, opened: OpenDocument) -> tuple[int, Prediction | None]:
        """The version that asks next, and its prediction if that is still to be taken up.

        One that came while the question was open waits for `look_ahead`, since taking it up takes a while; if nobody
        calls that, the next answer does it.
        """
        if opened.ahead is not None:
            return opened.ahead, None
        return self.workspaces.newer(opened) if opened.waited else (opened.version, None)

    def _commit(
        self,
        client_id: str,
        request: list[Any],
        opened: OpenDocument,
        outcome: Outcome | None = None,
        timing: Timing | None = None,
    ) -> Recorded:
        """Put the session's last event on disk. If that fails, memory is ahead of the log, and is forgotten."""
        event = opened.session.log["events"][-1]
        told = None if outcome is None else outcome_to_json(outcome)
        version, prediction = self._newer(opened)
        now = time.time()
        lease = now + self.workspaces.settings.lease_minutes * 60.0
        reopens = event["event"] in ("undo", "redo", "withdraw") and opened.done

        def job(connection: Connection) -> None:
            log.append(
                connection,
                person_id=self.person_id,
                document_id=opened.document_id,
                place=opened.place + 1,
                client_id=client_id,
                event=event,
                outcome={"request": request, **(told or {})},
                timing=timing,
                model_version=opened.version,
            )
            values = {"model_version": version, "lease_until": lease, "touched_at": now}
            if reopens:
                values["done"] = False
            assignments.change(connection, self.person_id, opened.document_id, **values)

        try:
            self.project.writer.write(job)
        except BaseException:
            self.workspaces.forget(self.person_id)
            raise
        opened.place += 1
        opened.lease_until = lease
        if reopens:
            opened.done = False
            self.finished.discard(opened.document_id)
        opened.waited = (
            opened.ahead is None and prediction is None and self.workspaces.newest(opened.document_id) != opened.version
        )
        if prediction is not None:
            opened.session.use(prediction)
        opened.version, opened.ahead = version, None
        self._note(client_id, opened.document_id, event["event"], event.get("seconds", 0.0))
        return Recorded(opened.document_id, told, event.get("number") if event["event"] in ("answer", "edit") else None)

    def _note(self, client_id: str, document_id: int, kind: str, seconds: float) -> None:
        """Keep the order of what was done, across documents.

        Each document's session has its own such lists, of which these are a merge: what is last here is last there.
        """
        self._seen.add(client_id)
        if kind == "undo":
            self._undone.append(self._done.pop())
        elif kind == "redo":
            self._done.append(self._undone.pop())
        else:
            self._done.append(document_id)
            self._undone.clear()
        self.total_questions += kind == "answer"
        self.total_seconds += seconds


def question_id_of(question: Question) -> str:
    """Names a question so that an answer to another one is never taken for an answer to it."""
    antecedent = "" if question.antecedent is None else str(question.antecedent)
    return f"{question.number}:{question.mention}:{antecedent}:{question.protocol.value}"


def outcome_to_json(outcome: Outcome) -> dict[str, Any]:
    settled = [span_to_json(span) for span in outcome.settled]
    return {"number": outcome.number, "settled": settled, "pairs": outcome.pairs}

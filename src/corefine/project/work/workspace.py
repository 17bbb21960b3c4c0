"""One person's place in a project: their open documents, and what they did, in order, across documents."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from sqlalchemy import Connection

from corefine.annotation.completed import is_whole
from corefine.annotation.log import Action, Budget, Outcome
from corefine.annotation.question import Answer, Question
from corefine.annotation.session import Session
from corefine.errors import (
    AnswerError,
    DamagedDocumentError,
    DocumentTakenError,
    ModelError,
    QuestionNotOpenError,
    ReusedIdError,
    UnknownAnswerError,
)
from corefine.project.store import log
from corefine.project.store.log import Timing
from corefine.project.work import assignments, edits
from corefine.project.work.actions import ActionOutcome, Shown, Switch, outcome_from_json, outcome_to_json, reopens
from corefine.project.work.assignments import Assignment, Assignments
from corefine.project.work.open_document import OpenDocument
from corefine.project.work.steps import Steps

if TYPE_CHECKING:
    from corefine.project.work.workspaces import Workspaces

T = TypeVar("T")
Lease = Literal["renew", "if-new", "never"]


class Workspace:
    """Everything one person does in a project. Obtain it from `Workspaces.of`, which holds a lock per person.

    A method that raises changes nothing. A session and its log always agree: everything that an action needs is read
    before the session is changed, and the log is written right afterwards. If the write fails, the person's sessions
    are dropped from memory and read from the log again.
    """

    def __init__(self, workspaces: Workspaces, person_id: int) -> None:
        self.workspaces, self.person_id = workspaces, person_id
        self.project = workspaces.project
        self._damaged: set[int] = set()  # documents that could not be opened
        self._silent: dict[int, int] = {}  # documents for which a model version had no questions
        with self.project.database.read() as connection:
            steps = log.steps_of(connection, person_id)
            everybody = assignments.all_of(connection)
        self.finished = {each.document_id for each in everybody if each.person_id == person_id and each.done}
        self.steps = Steps(steps, lambda document_id: workspaces.document(document_id) is not None)

    # What to show

    def show(self, document_id: int | None = None) -> Shown:
        """The open question of a document, by default of the one to work on next."""
        if self.workspaces.settings.paused:
            return Shown("paused", document_id=document_id)
        if document_id is not None:
            return self._show(document_id)
        while True:
            document_id = self._take_next()
            if document_id is None:
                return Shown("all-done" if self.workspaces.documents() else "empty")
            try:
                return self._show(document_id)
            except DamagedDocumentError:  # the others can still be annotated
                self._damaged.add(document_id)

    def show_after(self, document_id: int) -> Shown:
        """What to show after an action in a document: its next question, or another document if this one is taken."""
        try:
            return self.show(document_id)
        except DocumentTakenError:
            return self.show()

    def _show(self, document_id: int) -> Shown:
        if self.workspaces.newest(document_id) is None:
            return Shown("preparing", document_id=document_id)
        try:
            opened = self.open(document_id, lease="renew")
        except ModelError:  # its prediction was damaged and is being computed again
            return Shown("preparing", document_id=document_id)
        question = None if opened.done else opened.session.next_question()
        if question is not None:
            return Shown("question", opened, question, document_id)
        ended = opened.session.ending or "finished"
        nothing_asked = ended == "unfamiliar" and not opened.session.answers
        if nothing_asked and opened.done:
            ended = "finished"
        elif nothing_asked:
            self._silent[document_id] = opened.version
        elif not opened.done:
            self.finish(document_id)
        upcoming = self._choose(besides=document_id)
        return Shown("document-done", opened, None, document_id, upcoming, ended)

    def open(self, document_id: int, *, lease: Lease = "if-new", needs_model: bool = True) -> OpenDocument:
        """The person's session about a document. Raises `ModelError` while no model has read the document.

        lease          "renew": take or extend the lease; raises `DocumentTakenError` if somebody else holds it
                       "if-new": do so only for a document that the person has never opened
                       "never": read only
        needs_model    False: if the session is not in memory, rebuild it without a prediction, which is enough to show
                       past answers
        """
        opened = self.workspaces.cached(self.person_id, document_id)
        if opened is not None and (lease != "renew" or opened.done or not self._is_half_over(opened)):
            return opened
        if not needs_model:
            return self.workspaces.restore(self._unsaved(document_id, 0), keep=False)
        if lease != "renew":
            with self.project.database.read() as connection:
                assignment = assignments.find(connection, self.person_id, document_id)
            if assignment is not None:
                return self.workspaces.restore(assignment)
        newest = self.workspaces.newest(document_id)
        if newest is None:
            raise ModelError("the model has not read this document yet: try again in a moment")
        if lease == "never":
            return self.workspaces.restore(self._unsaved(document_id, newest), keep=False)
        now = time.time()

        def take(connection: Connection) -> Assignment:
            return self._assignments(connection, now, document_id).take(connection, document_id, self.person_id, newest)

        assignment = self._write(take)
        opened = opened or self.workspaces.restore(assignment)
        opened.lease_until = now + self._lease_seconds
        return opened

    def preload_newer_model(self, document_id: int) -> None:
        """Load a newer model while the person reads, so that the next answer does not wait for it."""
        opened = self.workspaces.cached(self.person_id, document_id)
        if opened is None or opened.done or opened.session.next_question() is None:
            return
        version, prediction = self.workspaces.newer_prediction(opened)
        if prediction is not None and version != opened.preloaded_version:
            opened.session.use(prediction, keep_open=True)
            opened.preloaded_version = version

    # Actions. Each is on disk when the method returns.

    def answer(
        self,
        client_id: str,
        document_id: int,
        question_id: str,
        answer: Answer,
        *,
        timing: Timing | None = None,
        withdrawing: Sequence[int] = (),
    ) -> ActionOutcome:
        """Answer the open question."""
        request = ["answer", document_id, question_id, answer.to_json(), *withdrawing]
        if repeated := self._repeated(client_id, request):
            return repeated
        opened = self.open(document_id, lease="renew")
        question = None if opened.done else opened.session.next_question()
        if question is None or question_id_of(question) != question_id:
            raise QuestionNotOpenError("this question is no longer open: it was answered or replaced by another")
        timing = timing or Timing()

        def act(session: Session) -> Outcome:
            return session.answer(answer, seconds=timing.total, withdrawing=withdrawing)

        return self._perform(client_id, request, opened, act, timing)

    def edit(
        self,
        client_id: str,
        document_id: int,
        edit: edits.Edit,
        *,
        seconds: float = 0.0,
        withdrawing: Sequence[int] = (),
    ) -> ActionOutcome:
        """Change the entities of a document."""
        request = ["edit", document_id, edits.to_json(edit), *withdrawing]
        if repeated := self._repeated(client_id, request):
            return repeated
        opened = self.open(document_id)
        said = edits.said_by(opened.session, edit)

        def act(session: Session) -> Outcome:
            return said.to(session, seconds=seconds, withdrawing=withdrawing)

        return self._perform(client_id, request, opened, act)

    def withdraw(self, client_id: str, document_id: int, number: int) -> ActionOutcome:
        """Withdraw one answer or edit."""
        request = ["withdraw", document_id, number]
        if repeated := self._repeated(client_id, request):
            return repeated
        done = self._perform(client_id, request, self.open(document_id), lambda session: session.withdraw(number))
        return replace(done, number=number)

    def undo(self, client_id: str) -> ActionOutcome:
        """Undo the last thing the person did, in whichever document that was."""
        return self._step(client_id, "undo")

    def redo(self, client_id: str) -> ActionOutcome:
        return self._step(client_id, "redo")

    def finish(self, document_id: int, *, done: bool = True) -> None:
        """Mark a document as finished, or as not finished. The second one annotated in full starts a training.

        Raises `DocumentTakenError` if the person's lease has ended and somebody else has the document now.
        """
        opened = self.open(document_id)
        in_full = done and is_whole(opened.session.complete, opened.session.document)

        def finish(connection: Connection) -> None:
            if done:
                self._assignments(connection, time.time(), document_id).check_room(document_id, self.person_id)
            assignments.change(connection, self.person_id, document_id, done=done)
            if in_full and self.workspaces.settings.retrain_every:
                assignments.request_training_in_full(connection)

        self._write(finish)
        opened.done = done
        (self.finished.add if done else self.finished.discard)(document_id)

    def ask_more(self, document_id: int) -> None:
        """Continue with a document beyond its budget, until the person finishes it or the server stops."""
        self.workspaces.without_budget.add((self.person_id, document_id))
        self.open(document_id).session.budget = Budget()
        self.finish(document_id, done=False)

    # Internals: choosing and leasing

    @property
    def _lease_seconds(self) -> float:
        return self.workspaces.settings.lease_minutes * 60.0

    def _is_half_over(self, opened: OpenDocument) -> bool:
        return time.time() >= opened.lease_until - self._lease_seconds / 2

    def _assignments(self, connection: Connection, now: float, document_id: int | None = None) -> Assignments:
        workspaces = self.workspaces
        return Assignments(connection, workspaces.documents(), workspaces.settings, now, document_id=document_id)

    def _unsaved(self, document_id: int, version: int) -> Assignment:
        return Assignment(self.person_id, document_id, version, done=False, lease_until=0.0, touched_at=0.0)

    def _take_next(self) -> int | None:
        """Choose a document and lease it in one transaction, so that no two people are given the same."""

        def take(connection: Connection) -> int | None:
            everybody = self._assignments(connection, time.time())
            document_id = self._next_of(everybody)
            newest = None if document_id is None else self.workspaces.newest(document_id)
            if document_id is not None and newest is not None:
                everybody.take(connection, document_id, self.person_id, newest)
            return document_id

        chosen = self._choose()
        opened = None if chosen is None else self.workspaces.cached(self.person_id, chosen)
        if chosen is None or (opened is not None and time.time() < opened.lease_until):
            return chosen
        return self._write(take)

    def _choose(self, *, besides: int | None = None) -> int | None:
        with self.project.database.read() as connection:
            everybody = self._assignments(connection, time.time())
        return self._next_of(everybody, besides)

    def _next_of(self, everybody: Assignments, besides: int | None = None) -> int | None:
        """The document to continue with. One for which the model has no questions comes only if there is no other."""
        newest = self.workspaces.newest
        silent = {document_id for document_id, version in self._silent.items() if newest(document_id) == version}
        others = {besides, *self._damaged}
        found = everybody.next_for(self.person_id, besides=others | silent)
        return everybody.next_for(self.person_id, besides=others) if found is None and silent else found

    # Internals: recording

    def _step(self, client_id: str, kind: Literal["undo", "redo"]) -> ActionOutcome:
        if repeated := self._repeated(client_id, [kind]):
            return repeated
        document_id = self.steps.last(kind)
        if document_id is None:
            raise UnknownAnswerError(f"there is nothing to {kind}")
        action: list[Action] = []

        def act(session: Session) -> None:
            action.append(session.undo() if kind == "undo" else session.redo())

        done = self._perform(client_id, [kind], self.open(document_id), act)
        return replace(done, number=(*action[0].given, *action[0].withdrawn)[0])

    def _repeated(self, client_id: str, request: list[Any]) -> ActionOutcome | None:
        """The result of a request that was recorded before; raises if its id was used for another request."""
        if not self.steps.has(client_id):
            return None
        with self.project.database.read() as connection:
            row = log.find(connection, self.person_id, client_id)
        if row is None:
            return None
        fields = row.outcome
        sent = fields.get("request", [row.kind, *request[1:]])  # logs of earlier versions do not keep it
        if sent != request:
            raise ReusedIdError(f"the client_id {client_id} was sent before with another request: use a new one")
        session = self.open(row.document_id).session
        return ActionOutcome(row.document_id, session, outcome_from_json(fields), row.number, repeated=True)

    def _perform(
        self,
        client_id: str,
        request: list[Any],
        opened: OpenDocument,
        act: Callable[[Session], Outcome | None],
        timing: Timing | None = None,
    ) -> ActionOutcome:
        """Change a session and write its log: both, or neither."""
        switch = self._next_version(opened)
        before = opened.session.entries
        try:
            outcome = act(opened.session)
        except AnswerError:  # refused, and the session is as it was
            raise
        except BaseException:
            self.workspaces.forget(self.person_id)
            raise
        event = opened.session.last_event
        step = log.LoggedStep(client_id, opened.document_id, event["event"], event.get("seconds", 0.0))
        now = time.time()
        reopen = reopens(step.kind, before, opened.session.entries)

        def write(connection: Connection) -> bool:
            log.append(
                connection,
                step,
                person_id=self.person_id,
                place=opened.events_logged + 1,
                event=event,
                outcome={"request": request, **outcome_to_json(outcome)},
                timing=timing or Timing(),
                model_version=opened.version,
            )
            everybody = self._assignments(connection, now, opened.document_id)
            return everybody.touch(connection, opened.document_id, self.person_id, switch.version, reopen=reopen)

        leased = self._write(write)
        number = event["number"] if step.kind in ("answer", "edit") else None
        done = ActionOutcome(opened.document_id, opened.session, outcome, number)
        try:
            self._adopt(opened, step, switch, now if leased else None, reopen=reopen)
        except Exception:  # it is on disk, and therefore acknowledged
            self.workspaces.forget(self.person_id)
        return done

    def _adopt(
        self, opened: OpenDocument, step: log.LoggedStep, switch: Switch, leased_at: float | None, *, reopen: bool
    ) -> None:
        """Update memory to what is on disk. This must not read from the database."""
        opened.events_logged += 1
        if leased_at is not None:
            opened.lease_until = leased_at + self._lease_seconds
            if reopen:
                opened.done = False
                self.finished.discard(opened.document_id)
        opened.newer_pending = switch.newer_pending
        if switch.prediction is not None:
            opened.session.use(switch.prediction)
        opened.version, opened.preloaded_version = switch.version, None
        self.steps.remember(step)

    def _write(self, function: Callable[[Connection], T]) -> T:
        """Write to the database. If that fails, drop this person's sessions, so that they are read again."""
        try:
            return self.project.writer.write(function)
        except BaseException:
            self.workspaces.forget(self.person_id)
            raise

    def _next_version(self, opened: OpenDocument) -> Switch:
        """The model version for the next question.

        Switching is slow, so a new version is normally loaded by `preload_newer_model` while the person reads.
        Without that call, the switch happens one answer later.
        """
        if opened.preloaded_version is not None:
            return Switch(opened.preloaded_version)
        if not opened.newer_pending:
            newest = self.workspaces.newest(opened.document_id)
            return Switch(opened.version, newer_pending=newest not in (None, opened.version))
        return Switch(*self.workspaces.newer_prediction(opened))


def question_id_of(question: Question) -> str:
    """An id for a question. An answer carries it, so it cannot be applied to a different question."""
    return question.id

"""One person's place in a project: their open sessions, and everything they did, in order, across documents."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, select

from corefine.annotation.log import Outcome
from corefine.annotation.question import Answer, Question, span_to_json
from corefine.annotation.session import Session
from corefine.errors import ModelError, NotOpenError, ReusedIdError, UnknownAnswerError
from corefine.prediction import Prediction
from corefine.project.store import log, schema
from corefine.project.store.log import Logged, Timing
from corefine.project.work import assignments, edits
from corefine.project.work.assignments import Board
from corefine.project.work.sessions import Seat

if TYPE_CHECKING:
    from corefine.project.work.workspaces import Office


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person is to see now; `state` as in the API."""

    state: str
    seat: Seat | None = None
    question: Question | None = None
    document_id: int | None = None
    upcoming: int | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What came of something a person did; `repeated` if it had been done before under the same client's id."""

    document_id: int
    outcome: dict[str, Any] | None
    number: int | None
    repeated: bool = False


class Desk:
    """Used by one thread at a time: `Office.at` sees to that. A failing call raises and changes nothing."""

    def __init__(self, office: Office, person_id: int) -> None:
        self.office, self.person_id = office, person_id
        self.project = office.project
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
                seat.document_id for seat in assignments.seats(connection) if seat.person_id == person_id and seat.done
            }
        for row in rows:
            self._note(row.client_id, row.document_id, row.kind, row.seconds)

    # What to show

    def show(self, document_id: int | None = None) -> Shown:
        """The question that is open in a document, by default in the one to work on."""
        if document_id is None:
            document_id = self._take_next()
            if document_id is None:
                return Shown("all-done" if self.office.entries() else "empty")
        seat = self.seat(document_id)
        if seat is None:
            return Shown("preparing", document_id=document_id)
        question = None if seat.done else seat.session.next_question()
        if question is not None:
            return Shown("question", seat, question, document_id)
        if not seat.done:
            self.finish(document_id)
        return Shown("document-done", seat, None, document_id, upcoming=self._choose(besides=document_id))

    def seat(self, document_id: int) -> Seat | None:
        """The person's session about a document, leased to them; None while no model has read it."""
        seat = self.office.kept(self.person_id, document_id)
        now = time.time()
        half = self.office.settings.lease_minutes * 30.0
        if seat is not None and (seat.done or now < seat.lease_until - half):
            return seat
        newest = self.office.newest(document_id)
        if newest is None:
            return None

        def job(connection: Connection) -> assignments.SeatRow:
            board = Board(connection, self.office.settings, now)
            return assignments.take(connection, board, document_id, self.person_id, newest)

        row = self.project.writer.write(job)
        if seat is None:
            seat = self.office.rebuild(row)
        seat.lease_until = now + 2 * half
        return seat

    def look_ahead(self, document_id: int) -> None:
        """Take up a newer model while the person thinks, so that the next answer does not wait for it."""
        seat = self.office.kept(self.person_id, document_id)
        if seat is None or seat.done or seat.session.next_question() is None:
            return
        version, prediction = self.office.newer(seat)
        if prediction is not None and version != seat.ahead:
            seat.session.use(prediction, keep_open=True)
            seat.ahead = version

    def own(self, document_id: int) -> Seat:
        """The person's session about a document they have worked on, whoever has it now."""
        seat = self.office.kept(self.person_id, document_id)
        if seat is not None:
            return seat
        with self.project.database.read() as connection:
            row = assignments.seat_of(connection, self.person_id, document_id)
        return self._seat(document_id) if row is None else self.office.rebuild(row)

    def view(self, document_id: int) -> Session:
        """A session to look at: the person's own, or a fresh one that leases nothing."""
        with self.project.database.read() as connection:
            row = assignments.seat_of(connection, self.person_id, document_id)
        if row is not None:
            return self.own(document_id).session
        newest = self.office.newest(document_id)
        if newest is None:
            raise ModelError("the model has not read this document yet: try again in a moment")
        return self.office.session(self.person_id, document_id, self.project.predictions.load(newest, document_id))[0]

    def past(self, document_id: int) -> Session:
        """The person's session about a document, for looking at what was said: without a model unless it is live."""
        seat = self.office.kept(self.person_id, document_id)
        return seat.session if seat is not None else self.office.session(self.person_id, document_id)[0]

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
    ) -> Done:
        """Answer the open question; when this returns, the answer is on disk."""
        request = ["answer", document_id, question_id, answer.to_json(), *withdrawing]
        if repeated := self._repeated(client_id, request):
            return repeated
        seat = self._seat(document_id)
        question = None if seat.done else seat.session.next_question()
        if question is None or question_id_of(question) != question_id:
            raise NotOpenError("this question is no longer open: it was answered, or another one took its place")
        timing = timing or Timing()
        outcome = seat.session.answer(answer, seconds=timing.total, withdrawing=withdrawing)
        return self._commit(client_id, request, seat, outcome, timing)

    def edit(
        self,
        client_id: str,
        document_id: int,
        edit: edits.Edit,
        *,
        seconds: float = 0.0,
        withdrawing: Sequence[int] = (),
    ) -> Done:
        """Change the entities of a document as its reviewer."""
        request = ["edit", document_id, edits.to_json(edit), *withdrawing]
        if repeated := self._repeated(client_id, request):
            return repeated
        seat = self.own(document_id)
        assertions, mentions = edits.assertions_of(seat.session, edit)
        outcome = seat.session.edit(assertions, mentions=mentions, seconds=seconds, withdrawing=withdrawing)
        return self._commit(client_id, request, seat, outcome)

    def withdraw(self, client_id: str, document_id: int, number: int) -> Done:
        request = ["withdraw", document_id, number]
        if repeated := self._repeated(client_id, request):
            return repeated
        seat = self.own(document_id)
        seat.session.withdraw(number)
        return replace(self._commit(client_id, request, seat), number=number)

    def undo(self, client_id: str) -> Done:
        """Undo the last thing the person did, in whichever document that was."""
        if repeated := self._repeated(client_id, ["undo"]):
            return repeated
        if not self._done:
            raise UnknownAnswerError("there is nothing to undo")
        seat = self.own(self._done[-1])
        action = seat.session.undo()
        return replace(self._commit(client_id, ["undo"], seat), number=(*action.given, *action.withdrawn)[0])

    def redo(self, client_id: str) -> Done:
        if repeated := self._repeated(client_id, ["redo"]):
            return repeated
        if not self._undone:
            raise UnknownAnswerError("there is nothing to redo")
        seat = self.own(self._undone[-1])
        action = seat.session.redo()
        return replace(self._commit(client_id, ["redo"], seat), number=(*action.given, *action.withdrawn)[0])

    def finish(self, document_id: int, *, done: bool = True) -> None:
        """Leave a document, or take it up again."""
        seat = self.own(document_id)
        self.project.writer.write(
            lambda connection: assignments.touch(connection, self.person_id, document_id, done=done)
        )
        seat.done = done
        (self.finished.add if done else self.finished.discard)(document_id)

    # Within

    def _seat(self, document_id: int) -> Seat:
        seat = self.seat(document_id)
        if seat is None:
            raise ModelError("the model has not read this document yet: try again in a moment")
        return seat

    def _take_next(self) -> int | None:
        """Choose a document and lease it in one step, so that no two people are given the same."""

        def job(connection: Connection) -> int | None:
            board = Board(connection, self.office.settings, time.time())
            document_id = board.next_for(self.person_id)
            newest = None if document_id is None else self.office.newest(document_id)
            if document_id is not None and newest is not None:
                assignments.take(connection, board, document_id, self.person_id, newest)
            return document_id

        chosen = self._choose()
        leased = None if chosen is None else self.office.kept(self.person_id, chosen)
        if chosen is None or (leased is not None and time.time() < leased.lease_until):
            return chosen
        return self.project.writer.write(job)

    def _choose(self, *, besides: int | None = None) -> int | None:
        with self.project.database.read() as connection:
            return Board(connection, self.office.settings, time.time()).next_for(self.person_id, besides=besides)

    def _repeated(self, client_id: str, request: list[Any]) -> Done | None:
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
        return Done(row.document_id, outcome or None, row.number, repeated=True)

    def _newer(self, seat: Seat) -> tuple[int, Prediction | None]:
        """The version that asks next, and its prediction if that is still to be taken up.

        One that came while the question was open waits for `look_ahead`, since taking it up takes a while; if nobody
        calls that, the next answer does it.
        """
        if seat.ahead is not None:
            return seat.ahead, None
        return self.office.newer(seat) if seat.waited else (seat.version, None)

    def _commit(
        self,
        client_id: str,
        request: list[Any],
        seat: Seat,
        outcome: Outcome | None = None,
        timing: Timing | None = None,
    ) -> Done:
        """Put the session's last event on disk. If that fails, memory is ahead of the log, and is forgotten."""
        event = seat.session.log["events"][-1]
        told = None if outcome is None else outcome_to_json(outcome)
        version, prediction = self._newer(seat)
        now = time.time()
        lease = now + self.office.settings.lease_minutes * 60.0
        reopens = event["event"] in ("undo", "redo", "withdraw") and seat.done

        def job(connection: Connection) -> None:
            log.append(
                connection,
                person_id=self.person_id,
                document_id=seat.document_id,
                place=seat.place + 1,
                client_id=client_id,
                event=event,
                outcome={"request": request, **(told or {})},
                timing=timing,
                model_version=seat.version,
            )
            values = {"model_version": version, "lease_until": lease, "touched_at": now}
            if reopens:
                values["done"] = False
            assignments.touch(connection, self.person_id, seat.document_id, **values)

        try:
            self.project.writer.write(job)
        except BaseException:
            self.office.forget(self.person_id)
            raise
        seat.place += 1
        seat.lease_until = lease
        if reopens:
            seat.done = False
            self.finished.discard(seat.document_id)
        seat.waited = seat.ahead is None and prediction is None and self.office.newest(seat.document_id) != seat.version
        if prediction is not None:
            seat.session.use(prediction)
        seat.version, seat.ahead = version, None
        self._note(client_id, seat.document_id, event["event"], event.get("seconds", 0.0))
        return Done(seat.document_id, told, event.get("number") if event["event"] in ("answer", "edit") else None)

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


def count_answers(connection: Connection) -> int:
    """How many answers and edits the project has."""
    kinds = schema.events.c.kind.in_(("answer", "edit"))
    return connection.execute(select(func.count()).select_from(schema.events).where(kinds)).scalar_one()


def answers_by_document(connection: Connection, person_id: int) -> dict[int, int]:
    """How many answers a person has given in each document, withdrawn ones included."""
    rows = schema.events.c
    query = select(rows.document_id, func.count()).where(rows.person_id == person_id, rows.kind == "answer")
    return {row[0]: row[1] for row in connection.execute(query.group_by(rows.document_id))}


def history(
    connection: Connection, person_id: int, document_id: int | None, before: int | None, limit: int
) -> list[Logged]:
    """A person's answers and edits, newest first."""
    rows = schema.events.c
    query = select(schema.events).where(rows.person_id == person_id, rows.kind.in_(("answer", "edit")))
    if document_id is not None:
        query = query.where(rows.document_id == document_id)
    if before is not None:
        query = query.where(rows.id < before)
    return [log.logged(row) for row in connection.execute(query.order_by(rows.id.desc()).limit(limit))]

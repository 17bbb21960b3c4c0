"""Estimates what a project will cost, in documents, questions and hours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median

from sqlalchemy import Connection, Integer, func, select

from corefine.project.results.times import FEWEST
from corefine.project.store import documents, schema, settings
from corefine.project.store.documents import DocumentInfo
from corefine.project.work import assignments
from corefine.project.work.assignments import overlap

FEWEST_READ = 3
"""Reading time is estimated from at least this many documents."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The budget of all documents, in questions and hours.

    questions       at most this many for all people together; a document may end before its budget is used
    answers         how many questions are answered, also beyond a document's budget
    seconds_each    the time of one question
    measured        how many answers that time was measured on; 0 if it comes from the project's cost model
    reading         seconds to read the remaining documents, from the project's own times
    hours           the time of all questions; `hours_left` is that of the open ones, with reading
    """

    documents: int
    questions: int
    answers: int
    seconds_each: float
    measured: int
    reading: float
    hours: float
    hours_left: float


def estimate(connection: Connection) -> Estimate | None:
    """The estimate; None if documents have no budget of questions."""
    project = settings.load(connection)
    asked = documents.to_annotate(connection)
    shared = overlap([info.id for info in asked], project.overlap)
    answers, measured, seconds = _answers(connection, {info.id for info in asked})
    finished = Counter(each.document_id for each in assignments.all_of(connection) if each.done)
    questions = left = 0
    for info in asked:
        budget = project.questions(info.tokens)
        if budget is None:
            return None
        people = len(info.assigned) or (project.overlap_people if info.id in shared else 1)
        questions += budget * people
        unfinished = budget * max(0, people - finished[info.id])
        left += min(unfinished, max(0, budget * people - answers[info.id]))
    enough = measured >= FEWEST
    each = seconds / measured if enough else settings.load_cost(connection).expected(project.protocol)
    reading = _reading(connection, asked)
    return Estimate(
        documents=len(asked),
        questions=questions,
        answers=answers.total(),
        seconds_each=each,
        measured=measured if enough else 0,
        reading=reading,
        hours=questions * each / 3600.0,
        hours_left=(left * each + reading) / 3600.0,
    )


def _answers(connection: Connection, asked: set[int]) -> tuple[Counter[int], int, float]:
    """How many answers each of these documents has, how many of all were timed, and their total seconds."""
    events = schema.events.c
    timed = func.sum((events.seconds > 0).cast(Integer))
    query = select(events.document_id, func.count(), timed, func.sum(events.seconds)).where(events.kind == "answer")
    found = [row for row in connection.execute(query.group_by(events.document_id)) if row[0] in asked]
    counts = Counter({row[0]: row[1] for row in found})
    return counts, sum(int(row[2]) for row in found), sum(float(row[3]) for row in found)


def _reading(connection: Connection, asked: list[DocumentInfo]) -> float:
    """Seconds to read the documents that nobody has begun, by the median pace so far; 0 if it is unknown."""
    events, columns = schema.events.c, schema.documents.c
    read = connection.execute(
        select(events.reading, columns.tokens)
        .join(schema.documents, columns.id == events.document_id)
        .where(events.reading.is_not(None))
    ).all()
    if len(read) < FEWEST_READ:
        return 0.0
    begun = set(connection.execute(select(schema.assignments.c.document_id)).scalars())
    pace: float = median(seconds / max(1, tokens) for seconds, tokens in read)
    return pace * sum(info.tokens for info in asked if info.id not in begun)

"""How long answers took: the paper's timing table for this project, and a cost model made of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import fmean, median, stdev

from sqlalchemy import Connection, select

from corefine.annotation.cost import CostModel
from corefine.annotation.question import Protocol
from corefine.project.store import schema, settings
from corefine.project.store.log import Timing

INITIAL, FOLLOW_UP, ALONE = "Initial question", "Follow-up question", "ONLY follow-up questions"
READING = "Reading a document"
FEWEST = 20
"""With fewer answers of a kind, the cost model keeps the paper's time for it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; in seconds."""

    name: str
    answers: int
    mean: float | None
    deviation: float | None
    median: float | None


def measure(connection: Connection) -> list[Row]:
    """Mean time of each kind of question, over every answer that was timed, whether or not it still stands."""
    rows = schema.events.c
    query = select(rows.event, rows.reading, rows.initial, rows.follow_up).where(rows.kind == "answer")
    found = connection.execute(query)
    return table((Protocol(json.loads(text)["protocol"]), Timing(*seconds)) for text, *seconds in found)


def table(timed: Iterable[tuple[Protocol, Timing]]) -> list[Row]:
    """The lines of the table, from what each answer took."""
    samples: dict[str, list[float | None]] = {INITIAL: [], FOLLOW_UP: [], ALONE: [], READING: []}
    for protocol, timing in timed:
        samples[READING].append(timing.reading)
        if protocol is Protocol.FOLLOW_UP:
            samples[ALONE].append(timing.follow_up)
        elif protocol in (Protocol.DISCRETE, Protocol.PAIRWISE):
            samples[INITIAL].append(timing.initial)
            samples[FOLLOW_UP].append(timing.follow_up)
    return [_row(name, [second for second in seconds if second is not None]) for name, seconds in samples.items()]


def cost_model(rows: list[Row], *, fewest: int = FEWEST) -> CostModel:
    """The project's own times, where there are enough answers; the paper's elsewhere."""
    mean = {row.name: row.mean for row in rows if row.mean is not None and row.answers >= fewest}
    paper = CostModel()
    return CostModel(
        initial=mean.get(INITIAL, paper.initial),
        follow_up=mean.get(FOLLOW_UP, paper.follow_up),
        follow_up_alone=mean.get(ALONE, paper.follow_up_alone),
    )


def keep(connection: Connection, cost: CostModel) -> None:
    """Make this the project's cost model."""
    settings.put(connection, "cost", asdict(cost))


def _row(name: str, seconds: list[float]) -> Row:
    return Row(
        name=name,
        answers=len(seconds),
        mean=fmean(seconds) if seconds else None,
        deviation=stdev(seconds) if len(seconds) > 1 else None,
        median=median(seconds) if seconds else None,
    )

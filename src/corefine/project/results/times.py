"""How long answers took: the paper's timing table for this project, and the cost model that follows from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import fmean, median, stdev

from sqlalchemy import Connection, select

from corefine.annotation.cost import CostModel
from corefine.annotation.question import Protocol
from corefine.project.store import log, schema, settings
from corefine.project.store.log import Timing

INITIAL, FOLLOW_UP, ALONE = "Initial question", "Follow-up question", "ONLY follow-up questions"
GROUP, EACH = "Question about equal words", "Each mention of it, in addition to an initial question"
READING = "Reading a document"
FEWEST = 20
"""With fewer answers of a kind, the cost model uses the paper's time for it."""


@dataclass(frozen=True, slots=True)
class TimingRow:
    """A row of the table, in seconds."""

    name: str
    answers: int
    mean: float | None
    deviation: float | None
    median: float | None


def measure(connection: Connection) -> list[TimingRow]:
    """The table over every answer that was timed, withdrawn ones included."""
    columns = schema.events.c
    query = select(columns.event, columns.reading, columns.initial, columns.follow_up)
    rows = connection.execute(query.where(columns.kind == "answer"))
    timed, groups = [], []
    for text, *seconds in rows:
        event, timing = log.event_or_empty(text), Timing(*seconds)
        if event.get("protocol") not in set(Protocol):  # a damaged row
            continue
        timed.append((Protocol(event["protocol"]), timing))
        if event.get("group") and timing.initial is not None:
            groups.append((timing.initial, len(event["group"])))
    found = table(timed)
    return [*found, *_group_rows(groups, cost_model(found).initial)] if groups else found


def _group_rows(groups: list[tuple[float, int]], initial: float) -> list[TimingRow]:
    """The seconds of group questions, and of each of their mentions in addition to an initial question."""
    each = [max(0.0, seconds - initial) / mentions for seconds, mentions in groups]
    return [_row(GROUP, [seconds for seconds, _ in groups]), _row(EACH, each)]


def table(timed: Iterable[tuple[Protocol, Timing]]) -> list[TimingRow]:
    """The table of answers with these protocols and times."""
    samples: dict[str, list[float | None]] = {INITIAL: [], FOLLOW_UP: [], ALONE: [], READING: []}
    for protocol, timing in timed:
        samples[READING].append(timing.reading)
        if protocol is Protocol.FOLLOW_UP:
            samples[ALONE].append(timing.follow_up)
        elif protocol in (Protocol.DISCRETE, Protocol.PAIRWISE):
            samples[INITIAL].append(timing.initial)
            samples[FOLLOW_UP].append(timing.follow_up)
    return [_row(name, [second for second in seconds if second is not None]) for name, seconds in samples.items()]


def cost_model(rows: list[TimingRow]) -> CostModel:
    """The project's own times, where there are enough answers; the paper's elsewhere."""
    mean = {row.name: row.mean for row in rows if row.mean is not None and row.answers >= FEWEST}
    paper = CostModel()
    return CostModel(
        initial=mean.get(INITIAL, paper.initial),
        follow_up=mean.get(FOLLOW_UP, paper.follow_up),
        follow_up_alone=mean.get(ALONE, paper.follow_up_alone),
        group_mention=mean.get(EACH, paper.group_mention),
    )


def keep(connection: Connection, cost: CostModel) -> None:
    """Make this the project's cost model."""
    settings.put(connection, "cost", asdict(cost))


def _row(name: str, seconds: list[float]) -> TimingRow:
    return TimingRow(
        name=name,
        answers=len(seconds),
        mean=fmean(seconds) if seconds else None,
        deviation=stdev(seconds) if len(seconds) > 1 else None,
        median=median(seconds) if seconds else None,
    )

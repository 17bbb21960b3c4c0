"""Training on the screen: a bar for each member on a terminal, a line for each epoch elsewhere, or JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import typer

from corefine.models.training.events import (
    Encoding,
    EpochStart,
    Evaluated,
    NewBest,
    Started,
    Step,
    Stopped,
    TrainingEvent,
    to_json,
)
from corefine.models.training.jobs import MemberEvent


@dataclass(slots=True)
class _Member:
    """What is known of a member so far."""

    epochs: int = 0
    total: int = 0
    loss: float | None = None
    f1: float | None = None
    best: float | None = None

    def take(self, event: TrainingEvent) -> None:
        if isinstance(event, Started):
            self.epochs, self.total = event.epochs, event.epochs * event.steps_per_epoch
        elif isinstance(event, Step):
            self.loss = event.loss if self.loss is None else 0.95 * self.loss + 0.05 * event.loss
        elif isinstance(event, Evaluated):
            self.f1 = event.conll_f1
        elif isinstance(event, NewBest):
            self.best = event.conll_f1

    def __str__(self) -> str:
        parts = [f"loss {self.loss:.3f}"] if self.loss is not None else []
        if self.f1 is not None:
            parts.append(f"F1 {self.f1:.2f}")
        if self.best is not None:
            parts.append(f"best {self.best:.2f}")
        return ", ".join(parts)


def show_json(events: Iterator[MemberEvent]) -> None:
    """Every event as a line of JSON on stdout."""
    for found in events:
        typer.echo(json.dumps({"member": found.member, **to_json(found.event)}))


def show_lines(events: Iterator[MemberEvent]) -> None:
    """A line on stderr when something worth a line happens."""
    members: dict[int, _Member] = {}
    for found in events:
        member = members.setdefault(found.member, _Member())
        member.take(found.event)
        if line := _line(found.event, member):
            name = f"member {found.member}: " if len(members) > 1 or found.member else ""
            sys.stderr.write(f"{name}{line}\n")
            sys.stderr.flush()


def _line(event: TrainingEvent, member: _Member) -> str | None:
    if isinstance(event, Encoding) and (event.done == event.documents or event.done % 25 == 0):
        return f"encoded {event.done} of {event.documents} documents"
    if isinstance(event, Started):
        again = f", going on at step {event.step}" if event.step else ""
        return (
            f"{event.documents} documents, {event.parameters:,} parameters, {event.device}, "
            f"{event.threads} threads{again}"
        )
    if isinstance(event, Evaluated):
        return f"epoch {event.epoch + 1} of {member.epochs}: {member}"
    if isinstance(event, Stopped):
        return f"stopped: {event.reason}" + (f"; best F1 {event.best_f1:.2f}" if event.best_f1 is not None else "")
    return None


def show_bars(events: Iterator[MemberEvent]) -> None:
    """A bar on stderr for each member, with its loss and F1."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeRemainingColumn())
    members: dict[int, _Member] = {}
    with Progress(*columns, console=Console(stderr=True)) as progress:
        encoding = progress.add_task("encoding", total=None, visible=False, state="")
        bars = {}
        for found in events:
            event = found.event
            if isinstance(event, Encoding):
                state = f"{event.done}/{event.documents}"
                progress.update(encoding, visible=True, completed=event.done, total=event.documents, state=state)
                continue
            member = members.setdefault(found.member, _Member())
            member.take(event)
            if found.member not in bars:
                bars[found.member] = progress.add_task("training", total=None, state="")
            bar = bars[found.member]
            if isinstance(event, Started):
                progress.update(bar, total=member.total, completed=event.step)
            elif isinstance(event, Step):
                progress.update(bar, completed=event.step)
            elif isinstance(event, EpochStart):
                name = f"member {found.member}, " if len(members) > 1 or found.member else ""
                progress.update(bar, description=f"{name}epoch {event.epoch + 1}/{member.epochs}")
            elif isinstance(event, Stopped):
                progress.update(bar, completed=member.total)
            progress.update(bar, state=str(member))
    for number, member in members.items():
        typer.echo(f"member {number}: {member}" if len(members) > 1 else str(member), err=True)

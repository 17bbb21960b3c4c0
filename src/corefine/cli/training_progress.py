"""Training on the screen: a bar for each member on a terminal, a line for each epoch elsewhere, or JSON lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import typer
from rich.progress import TaskID

from corefine.cli.output import show_json
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


def show_training(events: Iterator[MemberEvent], *, json: bool) -> None:
    """Show the events of a training job as they come."""
    if json:
        for found in events:
            show_json({"member": found.member, **to_json(found.event)})
    elif sys.stderr.isatty():
        _show_bars(events)
    else:
        _show_lines(events)


@dataclass(slots=True)
class _Member:
    """What is known of a member so far."""

    name: str
    bar: TaskID | None = None
    epochs: int = 0
    steps: int = 0
    loss: float | None = None
    f1: float | None = None
    best: float | None = None

    def take(self, event: TrainingEvent) -> None:
        if isinstance(event, Started):
            self.epochs, self.steps = event.epochs, event.epochs * event.steps_per_epoch
        elif isinstance(event, Step):
            self.loss = event.loss if self.loss is None else 0.95 * self.loss + 0.05 * event.loss
        elif isinstance(event, Evaluated):
            self.f1 = event.conll_f1
        elif isinstance(event, NewBest):
            self.best = event.conll_f1

    def __str__(self) -> str:
        shown = (("loss", self.loss, 3), ("F1", self.f1, 2), ("best", self.best, 2))
        return ", ".join(f"{name} {value:.{digits}f}" for name, value, digits in shown if value is not None)


def _followed(events: Iterator[MemberEvent]) -> Iterator[tuple[_Member, TrainingEvent]]:
    """Each event, with what is known of its member after it."""
    members: dict[int, _Member] = {}
    for found in events:
        name = f"member {found.member}: " if found.member or len(members) > 1 else ""
        member = members.setdefault(found.member, _Member(name))
        member.name = name
        member.take(found.event)
        yield member, found.event


def _show_lines(events: Iterator[MemberEvent]) -> None:
    for member, event in _followed(events):
        if line := _line(member, event):
            typer.echo(f"{member.name}{line}", err=True)


def _line(member: _Member, event: TrainingEvent) -> str | None:
    if isinstance(event, Encoding) and (event.done == event.documents or event.done % 25 == 0):
        return f"encoded {event.done} of {event.documents} documents"
    if isinstance(event, Started):
        again = f", continuing at step {event.step}" if event.step else ""
        size = f"{event.documents} documents, {event.parameters:,} parameters"
        return f"{size}, {event.device}, {event.threads} threads{again}"
    if isinstance(event, Evaluated):
        return f"epoch {event.epoch + 1} of {member.epochs}: {member}"
    if isinstance(event, Stopped):
        return f"stopped: {event.reason}" + (f"; best F1 {event.best_f1:.2f}" if event.best_f1 is not None else "")
    return None


def _show_bars(events: Iterator[MemberEvent]) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        for member, event in _followed(events):
            if member.bar is None:
                member.bar = progress.add_task("", total=None, state="")
            if isinstance(event, Encoding):
                progress.update(member.bar, description="encoding", total=event.documents, completed=event.done)
            elif isinstance(event, Started):
                progress.reset(member.bar, description="training", total=member.steps, completed=event.step)
            elif isinstance(event, EpochStart):
                progress.update(member.bar, description=f"{member.name}epoch {event.epoch + 1}/{member.epochs}")
            elif isinstance(event, Step):
                progress.update(member.bar, completed=event.step)
            elif isinstance(event, Stopped):
                progress.update(member.bar, completed=member.steps)
            progress.update(member.bar, state=str(member))

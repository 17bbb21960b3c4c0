"""The events that training yields while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Encoding:
    """`done` of `documents` are in the cache of the frozen encoder."""

    done: int
    documents: int


@dataclass(frozen=True, slots=True)
class Started:
    """Training begins, or resumes at `epoch` and `step`."""

    epochs: int
    steps_per_epoch: int
    documents: int
    parameters: int
    device: str
    threads: int
    epoch: int = 0
    step: int = 0


@dataclass(frozen=True, slots=True)
class EpochStart:
    """An epoch begins; the first is 0."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Step:
    """One update of the weights. `step` counts over all epochs, from 1; `loss` is a mean over mentions."""

    epoch: int
    step: int
    loss: float
    learning_rate: float
    gradient_norm: float


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The model was scored on the development documents, singletons dropped; percentages."""

    epoch: int
    conll_f1: float
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class NewBest:
    """The model is better than all before; it is saved if there is a folder."""

    epoch: int
    conll_f1: float


@dataclass(frozen=True, slots=True)
class Saved:
    """The state of the training is on disk; it can be resumed from here."""

    epoch: int
    step: int


@dataclass(frozen=True, slots=True)
class Stopped:
    """Training is over; the model now has the weights of the best epoch (without development data, the last)."""

    reason: str
    epochs: int
    best_epoch: int | None
    best_f1: float | None


TrainingEvent = Encoding | Started | EpochStart | Step | Evaluated | NewBest | Saved | Stopped


def to_json(event: TrainingEvent) -> dict[str, Any]:
    """The event as JSON values; "event" is its type."""
    return {"event": type(event).__name__, **asdict(event)}

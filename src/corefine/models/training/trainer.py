"""The training loop. It yields events; showing, logging and stopping are up to the caller.

Everything random in a step follows from the seed and the number of the step. So a run that was killed and resumed, or
whose caller used torch in between, ends with the same weights, byte for byte.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from corefine.annotation.labels import Labels
from corefine.document import Document
from corefine.errors import InputError, ModelError
from corefine.files import exclusive
from corefine.models.devices import mixed_precision
from corefine.models.evaluation import evaluate, summary
from corefine.models.network.config import ModelConfig
from corefine.models.network.inputs import Inputs, TokenFeatures
from corefine.models.network.model import Model
from corefine.models.network.ranker import Ranking
from corefine.models.network.spans import MentionScores
from corefine.models.storage.checkpoint import MODEL, is_model, save_model
from corefine.models.storage.tensors import exists, load_tensors, save_tensors
from corefine.models.training.events import EpochStart, Evaluated, NewBest, Saved, Started, Step, Stopped, TrainingEvent
from corefine.models.training.loss import (
    answered_mention_loss,
    boundary_loss,
    kept_loss,
    marginal_loss,
    mention_loss,
    ranking_with_answers,
    targets_for,
)
from corefine.models.training.optimiser import Optimiser, Plateau, RunningMean
from corefine.models.training.pieces import pieces
from corefine.models.training.recipe import TrainingConfig

STATE = "training"
"""The state of a run has this name in its folder; "model" beside it is the best model so far."""

SETTINGS = "training configuration"
MODEL_SETTINGS = "model configuration"

HELD_BYTES = 2**31
"""How many bytes of what stays the same in training are kept in memory; the rest is read or computed again."""


@dataclass(slots=True)
class RunProgress:
    """How far a run is: the part of its state that is not tensors."""

    epoch: int = 0
    step: int = 0
    best_epoch: int | None = None
    best_f1: float | None = None
    stale: int = 0  # epochs since the best
    plateau: Plateau = field(default_factory=Plateau)
    over: str | None = None  # why it stopped, if it did


def train(
    model: Model,
    labels: Sequence[Labels],
    config: TrainingConfig,
    *,
    dev: Sequence[Document] = (),
    folder: Path | None = None,
    resume: bool = False,
    untrained: bool = False,
) -> Iterator[TrainingEvent]:
    """Train the model in place and yield events. At `Stopped` it has the weights of the best epoch.

    dev          documents to choose the best epoch by; without them it is the last
    folder       where the best model and the state of the run are saved
    resume       continue from the state in the folder, if there is one
    untrained    whether the model's weights are random: no label policy then holds rows to its probabilities
    """
    run = _Run(model, labels, config, dev, folder, untrained=untrained)
    with exclusive(folder, "training into") if folder is not None else nullcontext():
        if resume:
            run.restore()
        yield run.started()
        while run.progress.over is None:
            yield EpochStart(run.progress.epoch)
            for batch in run.batches_left():
                yield run.step(batch)
                if config.save_every and run.progress.step % config.save_every == 0 and run.save():
                    yield Saved(run.progress.epoch, run.progress.step)
            yield from run.finish_epoch()
        run.take_best()
        yield Stopped(run.progress.over, run.progress.epoch, run.progress.best_epoch, run.progress.best_f1)


class _Run:
    """The state of a training run."""

    def __init__(
        self,
        model: Model,
        labels: Sequence[Labels],
        config: TrainingConfig,
        dev: Sequence[Document],
        folder: Path | None,
        *,
        untrained: bool,
    ) -> None:
        policy = config.label_policy
        self.policy = replace(policy, keep=0.0) if untrained else policy
        taught = [each for each in labels if each.teach(policy)]
        if labels and not taught:
            raise InputError("there is nothing to train on: no answer says anything about a mention")
        self.pieces = [piece for each in taught for piece in pieces(each, _longest(each, config))]
        if not self.pieces:
            raise InputError("there is nothing to train on: no document has any tokens")
        self.model, self.config, self.dev, self.folder = model, config, tuple(dev), folder
        held = self.policy.keep and not all(each.full for each in taught)
        self._before = model.snapshot() if held else None  # what rows that nobody answered are held to
        self.steps_per_epoch = math.ceil(len(self.pieces) / config.documents_per_step)
        self.epochs = max(config.epochs, math.ceil(_fewest_steps(taught, config) / self.steps_per_epoch))
        self.optimiser = Optimiser(model, config, self.epochs * self.steps_per_epoch)
        self.mean = RunningMean(self.optimiser.parameters, config.ema)
        self.progress = RunProgress()
        self._inputs: dict[int, Inputs] = {}
        self._scored: dict[int, tuple[TokenFeatures, MentionScores]] = {}
        self._held = 0
        self._best: dict[str, Tensor] | None = None

    def started(self) -> Started:
        return Started(
            epochs=self.epochs,
            steps_per_epoch=self.steps_per_epoch,
            documents=len(self.pieces),
            parameters=sum(value.numel() for value in self.optimiser.parameters.values()),
            device=str(self.model.device),
            threads=torch.get_num_threads(),
            epoch=self.progress.epoch,
            step=self.progress.step,
        )

    def batches_left(self) -> Iterator[list[int]]:
        """The pieces of each remaining step of the epoch. Their order follows from seed and epoch."""
        order = list(range(len(self.pieces)))
        random.Random(f"{self.config.seed}/{self.progress.epoch}").shuffle(order)
        size = self.config.documents_per_step
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        yield from batches[self.progress.step - self.progress.epoch * self.steps_per_epoch :]

    def step(self, batch: list[int]) -> Step:
        """One update of the weights."""
        self.model.train()
        total = 0.0
        with torch.random.fork_rng(devices=_cuda(self.model.device)):
            torch.manual_seed(_number(self.config.seed, self.progress.step))
            for index in batch:
                loss = self._loss(index) / len(batch)
                if loss.requires_grad:
                    loss.backward()  # type: ignore[no-untyped-call]
                total += float(loss.detach())
        self._require_finite("loss", total, batch)
        norm = self.optimiser.clip()
        self._require_finite("norm of the gradient", norm, batch)
        rate = self.optimiser.update(self.progress.step, self.progress.plateau.factor)
        self.mean.update()
        self.progress.step += 1
        return Step(self.progress.epoch, self.progress.step, total, rate, norm)

    def finish_epoch(self) -> Iterator[TrainingEvent]:
        """Score the model, keep it if it is the best, decide whether to stop, and save."""
        progress = self.progress
        epoch = progress.epoch
        better = True
        f1: float | None = None
        with self.mean.applied():
            if self.dev:
                scores = evaluate(self.model.predict, self.dev)
                f1 = scores.conll_f1
                yield Evaluated(epoch, f1, summary(scores))
                better = progress.best_f1 is None or f1 > progress.best_f1
                if self.config.schedule == "plateau":
                    progress.plateau.see(f1, self.config)
            if better:
                progress.best_epoch, progress.best_f1, progress.stale = epoch, f1, 0
                self._keep()
            else:
                progress.stale += 1
        if better and f1 is not None:
            yield NewBest(epoch, f1)
        progress.epoch += 1
        if self.dev and self.config.patience and progress.stale >= self.config.patience:
            progress.over = f"no better development F1 in {progress.stale} epochs"
        elif progress.epoch == self.epochs:
            progress.over = f"all {self.epochs} epochs are done"
        if self.save():
            yield Saved(progress.epoch, progress.step)

    def take_best(self) -> None:
        """Give the model the weights of the best epoch."""
        if self.folder is not None and is_model(self.folder):
            self._best = load_tensors(self.folder, MODEL).tensors
        if self._best is not None:
            self.model.load_tensors(self._best)

    def save(self) -> bool:
        """Save the state of the run, if it has a folder."""
        if self.folder is None:
            return False
        tensors = {
            **{f"model.{name}": value for name, value in self.model.tensors().items()},
            **{f"optimiser.{name}": value for name, value in self.optimiser.tensors().items()},
            **{f"mean.{name}": value for name, value in self.mean.tensors().items()},
        }
        save_tensors(self.folder, STATE, tensors, {"progress": asdict(self.progress), "run": self._identity()})
        return True

    def restore(self) -> None:
        """Continue from the state in the folder, if there is one. Raises if it is of another run."""
        if self.folder is None or not exists(self.folder, STATE):
            return
        record = load_tensors(self.folder, STATE)
        saved = dict(record.facts["run"])
        saved[SETTINGS] = TrainingConfig.from_dict(saved[SETTINGS]).to_dict()  # it may lack newer settings
        saved[MODEL_SETTINGS] = ModelConfig.from_dict(saved[MODEL_SETTINGS]).to_dict()
        for name, value in self._identity().items():
            if saved.get(name) != value:
                raise InputError(
                    f"{self.folder} holds a run with a different {name}; resume it as it was started, "
                    "or train without --resume to start again"
                )
        progress = dict(record.facts["progress"])
        self.progress = RunProgress(**progress | {"plateau": Plateau(**progress.get("plateau", {}))})
        parts: dict[str, dict[str, Tensor]] = {"model": {}, "optimiser": {}, "mean": {}}
        for name, value in record.tensors.items():
            part, _, rest = name.partition(".")
            parts[part][rest] = value
        self.model.load_tensors(parts["model"])
        self.optimiser.load_tensors(parts["optimiser"])
        self.mean.load_tensors(parts["mean"])

    def _require_finite(self, what: str, value: float, batch: list[int]) -> None:
        if math.isfinite(value):
            return
        names = ", ".join(self.pieces[index].document.key for index in batch)
        raise ModelError(
            f"the {what} is {value} in step {self.progress.step + 1} (documents {names}): "
            "lower the learning rate; the last saved state is intact"
        )

    def _loss(self, index: int) -> Tensor:
        labels = self.pieces[index].labels
        with mixed_precision(self.model.device, enabled=self.config.mixed_precision):
            ranking = self._ranking(self._inputs_of(index), labels)
        targets = targets_for(ranking, labels, self.policy)
        loss = marginal_loss(ranking, targets)
        if self._before is not None and not labels.full:
            loss = loss + kept_loss(ranking, self._ranking_before(self._before, index, ranking), targets)
        if self.config.loss == "mean":
            loss = loss / targets.total
        if self.config.mention_loss:
            spans = ranking.mentions.scores.isfinite().sum().clamp(min=1)
            if labels.full:
                of_mentions = mention_loss(ranking.mentions, labels.document.clusters)
            else:  # labels that are partly the model's own lack mentions: only what people said counts
                of_mentions = answered_mention_loss(ranking.mentions, labels)
            loss = loss + self.config.mention_loss * of_mentions / spans
        if self.config.boundary_loss and self.policy.answers and not labels.full:
            loss = loss + self.config.boundary_loss * boundary_loss(ranking.mentions, labels)
        return loss

    def _ranking(self, inputs: Inputs, labels: Labels) -> Ranking:
        if not labels.full and self.policy.answers:
            return ranking_with_answers(self.model.ranker, inputs, labels)
        ranking: Ranking = self.model.ranker(inputs)
        return ranking

    def _ranking_before(self, before: Model, index: int, ranking: Ranking) -> Ranking:
        """The ranking of the same spans by the model before training."""
        with torch.no_grad():
            features, mentions = self._mentions_before(before, index)
            return before.ranker.pairs(features, mentions, ranking.top, ranking.candidates)

    def _mentions_before(self, before: Model, index: int) -> tuple[TokenFeatures, MentionScores]:
        """The mention scores by the model before training. They stay the same, so they are kept while there is room."""
        if index in self._scored:
            return self._scored[index]
        inputs = self._inputs_of(index) if before.frozen else before.inputs(self.pieces[index].document)
        found = inputs.without_states(), before.ranker.mentions(inputs)
        self._held += found[1].nbytes
        if self._held < HELD_BYTES:
            self._scored[index] = found
        return found

    def _inputs_of(self, index: int) -> Inputs:
        piece = self.pieces[index]
        if not self.model.frozen:
            return self.model.inputs(piece.document)
        if index in self._inputs:
            return self._inputs[index]
        inputs = self.model.inputs_of_part(piece.whole, piece.offset, piece.offset + len(piece.document))
        self._held += inputs.states.nbytes
        if self._held < HELD_BYTES:
            self._inputs[index] = inputs
        return inputs

    def _keep(self) -> None:
        """Keep the present weights as the best."""
        if self.folder is None:
            self._best = {name: value.detach().clone() for name, value in self.model.tensors().items()}
            return
        trained = {
            "epoch": self.progress.best_epoch,
            "dev_conll_f1": self.progress.best_f1,
            "documents": len(self.pieces),
            "training": self.config.to_dict(),
        }
        save_model(self.folder, self.model, trained)

    def _identity(self) -> dict[str, Any]:
        """What must be the same for a run to be resumed."""
        return {
            MODEL_SETTINGS: self.model.config.to_dict(),
            SETTINGS: self.config.to_dict(),
            "set of training documents": _digest([_described(piece.labels) for piece in self.pieces]),
            "set of development documents": _digest([_document(document) for document in self.dev]),
        }


def _fewest_steps(taught: Sequence[Labels], config: TrainingConfig) -> float:
    """The number of steps that training takes at least. A long document is one step, however many answers it has."""
    answers = sum(len(labels.settled) for labels in taught) if config.label_policy.answers else 0
    return max(config.min_steps, config.steps_per_answer * answers)


def _longest(labels: Labels, config: TrainingConfig) -> int:
    """The most tokens in a piece of a document. Answers link mentions that are far apart, so their limit is higher."""
    answered = not labels.full and config.label_policy.answers
    return config.max_tokens_answered if answered else config.max_tokens


def _described(labels: Labels) -> list[Any]:
    answers: list[Any] = [labels.to_json()]
    if labels.full:
        answers = [None, 0.0, [], True]  # as earlier versions described full labels, so that their runs can be resumed
    return [_document(labels.document), *answers]


def _document(document: Document) -> list[Any]:
    return [document.key, document.tokens, [[list(span) for span in cluster] for cluster in document.clusters]]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def _number(seed: int, step: int) -> int:
    """A different seed for every seed and step."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{step}".encode()).digest()[:7])


def _cuda(device: torch.device) -> list[torch.device]:
    return [device] if device.type == "cuda" else []

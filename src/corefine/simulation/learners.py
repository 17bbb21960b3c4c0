"""Learners: one that trains a model, and one that learns nothing. torch is imported only where a model is used."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from corefine.annotation.labels import Labels, label_policy
from corefine.document import Document
from corefine.errors import ConfigError, InputError
from corefine.files import whole_folder
from corefine.models import rules
from corefine.models.training.recipe import Recipe, TrainingConfig, load_recipe, recipe_names
from corefine.prediction import Prediction
from corefine.simulation.config import SimulationConfig
from corefine.simulation.executors import Executor, LocalExecutor, TrainedPredictor
from corefine.simulation.splits import described

if TYPE_CHECKING:
    from corefine.models.network.model import Model
    from corefine.models.resolver import Predictor
    from corefine.models.training.jobs import TrainingJob

RECIPE = Path(__file__).with_name("recipe.toml")
RECIPE_NAME = "simulation"
"""The name of that recipe: a head small enough for a whole run in minutes on one core."""


class Learner(Protocol):
    """Turns labels into something that predicts.

    The result depends only on the labels, the settings and the round. `learn` may be called again for a round that
    was interrupted or finished, and gives the same predictor.
    """

    def learn(self, lessons: Sequence[Labels], *, round: int, final: bool) -> Predictor: ...

    def predict(self, predictor: Predictor, documents: Sequence[Document]) -> list[Prediction]:
        """One prediction for each document, in their order."""
        ...

    def finished(self, round: int) -> None:
        """Called when the round is on disk: what only an earlier round needed can be removed."""
        ...


class FixedLearner:
    """Learns nothing: the rules, for tests and to watch the loop, or a model from outside."""

    def __init__(self, predictor: Predictor = rules) -> None:
        self.predictor = predictor

    def learn(self, lessons: Sequence[Labels], *, round: int, final: bool) -> Predictor:
        return self.predictor

    def predict(self, predictor: Predictor, documents: Sequence[Document]) -> list[Prediction]:
        return [predictor.predict(document) for document in documents]

    def finished(self, round: int) -> None:
        return


class NeuralLearner:
    """Trains a model or a committee: by default from the last round's model, and from scratch at the end.

    Checkpoints are in `folder`, as `round-03/member-0`. An interrupted training is resumed, and a finished one is
    loaded. Everything random follows from the seed, so neither changes the result.

    cache      a folder for the states of a frozen encoder
    shared     a folder where the runs of a grid keep their first models: runs that differ only in what they ask have
               the same one; None: every run trains its own
    executor   what trains and predicts: this process, or a cluster
    """

    def __init__(
        self,
        config: SimulationConfig,
        recipe: Recipe,
        dev: Sequence[Document],
        *,
        folder: Path,
        cache: Path | None = None,
        shared: Path | None = None,
        executor: Executor | None = None,
    ) -> None:
        self.config, self.recipe = config, recipe
        self.dev = tuple(dev) if config.initial else ()  # a field without gold has no development documents
        self.folder, self.cache, self.shared = folder, cache, shared
        self.executor = executor or LocalExecutor()
        self._device = self.executor.own_device(config.device)
        self._share: Model | None = None  # its loaded encoder is used again
        self._trained: TrainedPredictor | None = None

    def learn(self, lessons: Sequence[Labels], *, round: int, final: bool) -> Predictor:
        """The model of a round; the starter if there is nothing to learn from yet."""
        policy = label_policy(self.config.labels, self.config.rest)
        lessons = [lesson for lesson in lessons if lesson.teach(policy)]
        if not lessons:
            return self._first()
        taught = lessons if final or round == 0 or not self._shortcut else recent(lessons, self.config, round)
        jobs = [self._job(tuple(taught), round, final, member) for member in range(self.config.members)]
        for job in jobs:
            self._borrow(job)
        self.executor.train([job for job in jobs if not job.done], self._share)
        for job in jobs:
            self._lend(job)
        return self._predictor([job.folder for job in jobs])

    def _first(self) -> Predictor:
        """The starter, which may be Python code."""
        from corefine.models.load import load, model_folder

        if self.config.starter is None:
            raise ConfigError("there is nothing to learn from, and no starter")
        if model_folder(self.config.starter) is None:
            return load(self.config.starter).model
        return self._predictor(starter_folders(self.config))

    def predict(self, predictor: Predictor, documents: Sequence[Document]) -> list[Prediction]:
        if self._trained is None or self._trained.predictor is not predictor:
            return [predictor.predict(document) for document in documents]
        return self.executor.predict(self._trained, documents)

    def finished(self, round: int) -> None:
        """Remove the checkpoints of the round before, unless every training begins with them."""
        if round > (1 if self.config.start == "first" else 0):
            with suppress(OSError):
                shutil.rmtree(self._round(round - 1))

    def _predictor(self, folders: Sequence[Path]) -> Predictor:
        from corefine.models.committee import Committee
        from corefine.models.storage.checkpoint import load_model

        models: list[Model] = []
        for folder in folders:
            models.append(load_model(folder, share=self._share, cache=self.cache))
            self._share = self._share or (models[-1] if models[-1].frozen else None)
        predictor = (models[0] if len(models) == 1 else Committee(models)).to(self._device)
        self._trained = TrainedPredictor(predictor, tuple(folders), self.cache, self.config.threads, self.config.device)
        return predictor

    def _round(self, number: int) -> Path:
        return self.folder / f"round-{number:02}"

    def _job(self, labels: tuple[Labels, ...], round: int, final: bool, member: int) -> TrainingJob:
        from corefine.models.training.jobs import TrainingJob

        config = self.config
        training = replace(self.recipe.training, seed=1000 * config.seed + member)
        warm = self._warm(round, final, member)
        if not all(each.full for each in labels):  # else the policy changes nothing, and runs share their first models
            training = replace(training, labels=config.labels, rest=config.rest)
        if not final:
            training = self._within_rounds(training, round, warm)
        return TrainingJob(
            recipe=replace(self.recipe, training=training),
            labels=labels,
            dev=self.dev,
            folder=self._round(round) / f"member-{member}",
            device=config.device,
            threads=config.threads,
            resume=True,
            warm=warm,
            cache=self.cache,
            keep_state=False,
        )

    @property
    def _shortcut(self) -> bool:
        return self.config.round_training == "shortcut"

    def _within_rounds(self, training: TrainingConfig, round: int, warm: Path | None) -> TrainingConfig:
        """The settings of a training within rounds."""
        if not self._shortcut:
            if self.config.start == "first" and round > 0:
                return training  # all answers so far are learnt anew, so it needs what the last training needs
            within = self.recipe.rounds.applied_to(training)
            # a model that starts from random weights needs all its steps
            return within if warm is not None else replace(within, min_steps=training.min_steps)
        return replace(training, epochs=self.config.round_epochs, min_steps=0) if round > 0 else training

    def _warm(self, round: int, final: bool, member: int) -> Path | None:
        """The model that a training starts from: none, the last round's, or the starter."""
        from corefine.models.storage.checkpoint import is_model

        if self.config.start == "first" and self.config.initial and round > 0:
            return self._existing(self._round(0) / f"member-{member}")
        if round == 0 or final or self.config.start != "warm":
            return self._starter(member)
        before = self._round(round - 1) / f"member-{member}"
        if not self.config.initial and not is_model(before):
            return self._starter(member)  # no round has trained a model yet
        return self._existing(before)

    def _starter(self, member: int) -> Path | None:
        folders = starter_folders(self.config)
        return folders[member] if folders else None

    def _existing(self, folder: Path) -> Path:
        """The folder, which has to hold a model of an earlier round."""
        from corefine.models.storage.checkpoint import is_model

        if not is_model(folder):
            raise InputError(f"{folder} is gone, and this training starts from it: start a new run")
        return folder

    # First models that the runs of a grid share

    def _place(self, job: TrainingJob) -> Path | None:
        """Where the runs of a grid keep a first model; None for other models."""
        if self.shared is None or job.warm is not None or not job.folder.is_relative_to(self._round(0)):
            return None
        learnt = [described(labels.document) for labels in job.labels]
        known = json.dumps([job.recipe.to_dict(), learnt, list(map(described, job.dev)), job.threads, job.device])
        return self.shared / hashlib.sha256(known.encode()).hexdigest()[:16]

    def _borrow(self, job: TrainingJob) -> None:
        place = self._place(job)
        if place is not None and place.is_dir() and not job.done:
            copy = job.folder.with_name(f"{job.folder.name}.borrowed")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(place, copy)
            shutil.rmtree(job.folder, ignore_errors=True)
            copy.rename(job.folder)  # in one step: a kill must not leave half a model that looks finished

    def _lend(self, job: TrainingJob) -> None:
        place = self._place(job)
        if place is None or place.exists():
            return
        with whole_folder(place) as copy:
            shutil.copytree(job.folder, copy, dirs_exist_ok=True)


def recipe_of(config: SimulationConfig) -> Recipe:
    """The recipe that the settings name, with their word vectors and changes."""
    return resolve_recipe(config.recipe).adapted(config.set, None if config.vectors is None else Path(config.vectors))


def resolve_recipe(name: str) -> Recipe:
    """The recipe of that name, "simulation" among them, or from a file."""
    return load_recipe(RECIPE if name == RECIPE_NAME and name not in recipe_names() else name)


def recent(lessons: Sequence[Labels], config: SimulationConfig, round: int) -> Sequence[Labels]:
    """What a warm round trains on: half the newest labels, half drawn from the others, in their order."""
    size = config.round_documents
    if not size or len(lessons) <= size or config.start == "scratch":
        return lessons
    newest = (size + 1) // 2
    old = range(len(lessons) - newest)
    drawn = random.Random(f"{config.seed}/{round}").sample(old, size - newest)
    return [*(lessons[index] for index in sorted(drawn)), *lessons[len(old) :]]


def starter_folders(config: SimulationConfig) -> list[Path]:
    """The model that each member begins with; empty if the settings name no starter.

    Rules and Python code cannot be trained: what they ask about is learnt by the starter model, as in the app.
    """
    if config.starter is None:
        return []
    from corefine.models.committee import committee_members
    from corefine.models.load import model_folder

    folder = model_folder(config.starter) or model_folder("starter")
    if folder is None:
        return []
    members = committee_members(folder)
    if members and len(members) != config.members:
        raise ConfigError(
            f"starter = {config.starter!r} is a committee of {len(members)}: set committee = {len(members)}"
        )
    if not members and config.members > 1 and not config.initial:
        raise ConfigError("initial = 0: all members of the committee would be the starter, and never disagree")
    return members or [folder] * config.members


def starter_weights(config: SimulationConfig) -> str | None:
    """The hash of the starter's weights; those of a committee's members one after the other."""
    from corefine.models.storage.checkpoint import MODEL
    from corefine.models.storage.tensors import read_facts

    hashes = [str(read_facts(folder, MODEL)["sha256"]) for folder in dict.fromkeys(starter_folders(config))]
    return " ".join(hashes) or None

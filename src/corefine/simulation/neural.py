"""The learner that trains the model: warm from round to round, from scratch at the end, alone or as a committee.

Checkpoints stand in a folder, `round-03/member-0` and so on. Training of a round goes on where it was interrupted; a
round that is finished is loaded. All that is random follows from the seed, so that neither changes anything.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from corefine.annotation.labels import Labels
from corefine.document import Document
from corefine.errors import ConfigError, InputError
from corefine.models.committee import Committee
from corefine.models.network.model import Model
from corefine.models.storage.checkpoint import MODEL, is_model, load_model
from corefine.models.storage.records import load_record
from corefine.models.training.recipe import Recipe, load_recipe, recipe_names
from corefine.prediction import Prediction
from corefine.simulation.config import SimulationConfig
from corefine.simulation.splits import described
from corefine.simulation.workers import Here, MemberJob, Trained, Workers

if TYPE_CHECKING:
    from corefine.models.resolver import Predictor

RECIPE = Path(__file__).with_name("recipe.toml")
RECIPE_NAME = "simulation"
"""The recipe of that name: a head small enough for a whole run in minutes on one core."""


def resolve_recipe(name: str) -> Recipe:
    """The recipe of that name, "simulation" among them, or of a file."""
    return load_recipe(RECIPE if name == RECIPE_NAME and name not in recipe_names() else name)


class NeuralLearner:
    """Learns with `corefine.models`.

    folder     for checkpoints
    cache      for the states of a frozen encoder
    shared     a folder where the runs of a grid keep their first models, which are the same for all that differ only
               in what they ask; None: every run trains its own
    workers    who trains and predicts: this process, or a cluster
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
        workers: Workers | None = None,
    ) -> None:
        self.config, self.recipe = config, recipe
        self.dev = tuple(dev) if config.initial else ()  # who has no gold has none to choose an epoch by either
        self.folder, self.cache, self.shared = folder, cache, shared
        self.workers = workers or Here()
        self._lender: Model | None = None  # a model whose loaded encoder the next one uses again
        self._trained: Trained | None = None

    def learn(self, lessons: Sequence[Labels], *, round: int, final: bool) -> Predictor:
        """The model of a round: the starter, as it is, if there is nothing to learn from yet."""
        if not lessons:
            return self._predictor([self._begin()] * self.config.members)
        taught = lessons if final or round == 0 else recent(lessons, self.config, round)
        jobs = [self._job(tuple(taught), round, final, member) for member in range(self.config.members)]
        for job in jobs:
            self._borrow(job)
        self.workers.train([job for job in jobs if not job.done], self._lender)
        for job in jobs:
            self._lend(job)
        return self._predictor([job.folder for job in jobs])

    def _predictor(self, folders: Sequence[Path]) -> Predictor:
        models = [self._load(folder) for folder in folders]
        predictor = models[0] if len(models) == 1 else Committee(models)
        self._trained = Trained(predictor, tuple(folders), self.cache, self.config.threads)
        return predictor

    def _begin(self) -> Path:
        if (folder := starter_folder(self.config)) is None:
            raise ConfigError("there is nothing to learn from, and no starter")
        return folder

    def predict(self, predictor: Predictor, documents: Sequence[Document]) -> list[Prediction]:
        if self._trained is None or self._trained.predictor is not predictor:
            return [predictor.predict(document) for document in documents]
        return self.workers.predict(self._trained, documents)

    def finished(self, round: int) -> None:
        """Checkpoints of rounds that nothing goes on from are removed."""
        if round > 0:
            with suppress(OSError):
                shutil.rmtree(self._round(round - 1))

    def _load(self, folder: Path) -> Model:
        model = load_model(folder, share=self._lender, cache=self.cache)
        if self._lender is None and model.frozen:
            self._lender = model
        return model

    def _round(self, number: int) -> Path:
        return self.folder / f"round-{number:02}"

    def _job(self, labels: tuple[Labels, ...], round: int, final: bool, member: int) -> MemberJob:
        config = self.config
        training = replace(
            self.recipe.training, seed=1000 * config.seed + member, labels=config.labels, rest=config.rest
        )
        if not final and round > 0:
            training = replace(training, epochs=self.config.round_epochs, min_steps=0)
        return MemberJob(
            recipe=replace(self.recipe, training=training),
            labels=labels,
            dev=self.dev,
            folder=self._round(round) / f"member-{member}",
            threads=self.config.threads,
            cache=self.cache,
            warm=self._warm(round, final, member),
        )

    def _warm(self, round: int, final: bool, member: int) -> Path | None:
        """What a training begins with: new weights, the last round's, or the starter's."""
        if round == 0 or final or self.config.start != "warm":
            return starter_folder(self.config)
        before = self._round(round - 1) / f"member-{member}"
        if is_model(before):
            return before
        if self.config.initial:
            raise InputError(f"{before} is gone, and the next round begins with it: start a new run")
        return starter_folder(self.config)  # nothing had been learnt before

    # First models that the runs of a grid share

    def _place(self, job: MemberJob) -> Path | None:
        """Where the runs of a grid keep a model that depends on nothing they differ in."""
        if self.shared is None or job.warm is not None or not job.folder.is_relative_to(self._round(0)):
            return None
        learnt = [described(labels.document) for labels in job.labels]
        known = json.dumps([job.recipe.to_dict(), learnt, list(map(described, job.dev)), job.threads])
        return self.shared / hashlib.sha256(known.encode()).hexdigest()[:16]

    def _borrow(self, job: MemberJob) -> None:
        place = self._place(job)
        if place is not None and place.is_dir() and not job.done:
            copy = job.folder.with_name(f"{job.folder.name}.borrowed")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(place, copy)
            shutil.rmtree(job.folder, ignore_errors=True)
            copy.rename(job.folder)  # at once: a kill must not leave half a model that seems done

    def _lend(self, job: MemberJob) -> None:
        place = self._place(job)
        if place is None or place.exists():
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        copy = Path(tempfile.mkdtemp(prefix=f"{place.name}.", dir=place.parent))
        shutil.copytree(job.folder, copy, dirs_exist_ok=True)
        with suppress(OSError):  # another run was faster; its model is the same
            copy.rename(place)
        shutil.rmtree(copy, ignore_errors=True)


def recent(lessons: Sequence[Labels], config: SimulationConfig, round: int) -> Sequence[Labels]:
    """What a round's training sees: half the newest lessons, half drawn from the others, in their order.

    A round that starts from scratch sees them all.
    """
    size = config.round_documents
    if not size or len(lessons) <= size or config.start == "scratch":
        return lessons
    newest = (size + 1) // 2
    old = range(len(lessons) - newest)
    drawn = random.Random(f"{config.seed}/{round}").sample(old, size - newest)
    return [*(lessons[index] for index in sorted(drawn)), *lessons[len(old) :]]


def starter_folder(config: SimulationConfig) -> Path | None:
    """The model that trainings from scratch begin with, if one is named."""
    if config.starter is None:
        return None
    from corefine.models.resolver import STARTER

    path = STARTER if config.starter == "starter" else Path(config.starter).expanduser()
    if not is_model(path):
        raise ConfigError(f"starter = {config.starter!r}: {path} holds no model")
    return path


def starter_weights(config: SimulationConfig) -> str | None:
    """The hash of the starter's weights."""
    folder = starter_folder(config)
    return None if folder is None else str(load_record(folder, MODEL).facts["sha256"])

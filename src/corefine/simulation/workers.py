"""Who trains models and predicts documents: this process (`Here`), or a cluster (`ray_cluster`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from corefine.annotation.labels import Labels
from corefine.document import Document
from corefine.files import write_atomically
from corefine.models.network.model import Model
from corefine.models.storage.checkpoint import load_model
from corefine.models.threads import use_threads
from corefine.models.training.recipe import Recipe
from corefine.models.training.trainer import STATE, train
from corefine.prediction import Prediction

if TYPE_CHECKING:
    from corefine.models.resolver import Predictor

DONE = "done"
"""A file in the folder of a training that is finished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberJob:
    """One training of one model into a folder.

    warm     the folder of a model to begin from, None for new weights
    """

    recipe: Recipe
    labels: tuple[Labels, ...]
    dev: tuple[Document, ...]
    folder: Path
    threads: int
    cache: Path | None = None
    warm: Path | None = None

    @property
    def done(self) -> bool:
        return (self.folder / DONE).is_file()


@dataclass(frozen=True, slots=True)
class Trained:
    """A predictor, and the folders of its members."""

    predictor: Predictor
    folders: tuple[Path, ...]
    cache: Path | None
    threads: int


class Workers(Protocol):
    """Whoever it is, the results are the same."""

    def train(self, jobs: Sequence[MemberJob], lender: Model | None) -> None:
        """Do all jobs; each leaves its model in its folder. `lender` has a loaded encoder to use again."""
        ...

    def predict(self, trained: Trained, documents: Sequence[Document]) -> list[Prediction]:
        """What the predictor says of each document, in their order."""
        ...


class Here:
    """This process, one thing after another."""

    def train(self, jobs: Sequence[MemberJob], lender: Model | None) -> None:
        for job in jobs:
            train_member(job, lender)

    def predict(self, trained: Trained, documents: Sequence[Document]) -> list[Prediction]:
        use_threads(trained.threads)
        return [trained.predictor.predict(document) for document in documents]


def train_member(job: MemberJob, lender: Model | None = None) -> None:
    """Train, or go on where a training into this folder was interrupted."""
    use_threads(job.threads)
    if job.warm is not None:
        model = load_model(job.warm, share=lender, cache=job.cache)
    else:
        encoder = lender.encoder if lender is not None and lender.config.encoder == job.recipe.model.encoder else None
        model = Model.create(job.recipe.model, seed=job.recipe.training.seed, encoder=encoder, cache=job.cache)
    for _ in train(model, job.labels, job.recipe.training, dev=job.dev, folder=job.folder, resume=True):
        pass
    write_atomically(job.folder / DONE, b"")
    for left in job.folder.glob(f"{STATE}*"):  # what only an interrupted training needs
        left.unlink()

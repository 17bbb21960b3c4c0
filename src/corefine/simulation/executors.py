"""Where models are trained and documents predicted: in this process, or on a cluster (`ray_cluster.RayExecutor`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from corefine.document import Document
from corefine.prediction import Prediction

if TYPE_CHECKING:
    from corefine.models.network.model import Model
    from corefine.models.resolver import Predictor
    from corefine.models.training.jobs import TrainingJob


@dataclass(frozen=True, slots=True)
class TrainedPredictor:
    """A predictor, and the folders of its members."""

    predictor: Predictor
    folders: tuple[Path, ...]
    cache: Path | None
    threads: int
    device: str


class Executor(Protocol):
    """Trains models and predicts documents. All implementations give the same results."""

    def own_device(self, name: str) -> str:
        """The device that this process uses. Raises if no machine that does the work has it."""
        ...

    def train(self, jobs: Sequence[TrainingJob], share: Model | None) -> None:
        """Do all jobs; `share` has a loaded encoder that they may use."""
        ...

    def predict(self, trained: TrainedPredictor, documents: Sequence[Document]) -> list[Prediction]:
        """One prediction for each document, in their order."""
        ...


class LocalExecutor:
    """Does everything in this process, one thing after another."""

    def own_device(self, name: str) -> str:
        from corefine.models.devices import choose_device

        return str(choose_device(name))

    def train(self, jobs: Sequence[TrainingJob], share: Model | None) -> None:
        from corefine.models.training.jobs import train_model

        for job in jobs:
            for _ in train_model(job, share):
                pass

    def predict(self, trained: TrainedPredictor, documents: Sequence[Document]) -> list[Prediction]:
        from corefine.models.devices import use_threads

        use_threads(trained.threads)
        return [trained.predictor.predict(document) for document in documents]

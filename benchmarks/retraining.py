"""Live retraining: ten more documents, a warm start, against one pass of the encoder over the corpus.

    python benchmarks/retraining.py --json

In one run: the frozen encoder reads all of LitBank once (timed; the states are cached), the head is trained on all but
ten of the train documents, then trained again from there with the ten added. The time that counts is until development
F1 is within 0.5 of the best that this second training ever reaches; scoring the development documents is not in it.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from command import Bar, Corpora, Json, corpora_folder, missed, report, run
from corefine.annotation.labels import Labels
from corefine.corpora import Corpus, load_corpus
from corefine.models.devices import use_threads
from corefine.models.network.model import Model
from corefine.models.training.events import Evaluated, Step, Stopped
from corefine.models.training.recipe import Recipe, load_recipe
from corefine.models.training.trainer import train

MORE = 10
NEAR = 0.5
GENTLER = 5
"""A head that is trained already learns at this fraction of the rate: a higher one first unlearns."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """One epoch of the second training: its F1, and the seconds of training up to and including it."""

    f1: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Retraining:
    """`ratio` is above 1 if encoding takes longer than retraining."""

    ratio: float
    encoder_seconds: float
    retraining_seconds: float
    first_f1: float
    best_f1: float
    epochs: tuple[Epoch, ...]
    documents: int
    threads: int

    @property
    def failure(self) -> str | None:
        return missed(Bar("encoding over retraining", self.ratio, "at least", 1))


def measure(*, mirror: Path | None = None, recipe: Recipe | None = None, epochs: int = 6) -> Retraining:
    """Run it all on LitBank."""
    recipe = recipe or load_recipe("default")
    corpus = load_corpus("litbank", mirror=mirror)
    threads = use_threads()
    with tempfile.TemporaryDirectory() as folder:
        model = Model.create(recipe.model, seed=recipe.training.seed, cache=Path(folder))
        encoder_seconds = _encode(model, corpus)
        first_f1 = _first(model, corpus, recipe)
        found = tuple(_again(model, corpus, recipe, epochs))
    best = max(epoch.f1 for epoch in found)
    near = next(epoch for epoch in found if epoch.f1 >= best - NEAR)
    return Retraining(
        ratio=encoder_seconds / near.seconds,
        encoder_seconds=encoder_seconds,
        retraining_seconds=near.seconds,
        first_f1=first_f1,
        best_f1=best,
        epochs=found,
        documents=len(corpus.train),
        threads=threads,
    )


def _encode(model: Model, corpus: Corpus) -> float:
    began = time.perf_counter()
    for document in (*corpus.train, *corpus.dev, *corpus.test):
        model.encoder.encode(document)
    return time.perf_counter() - began


def _first(model: Model, corpus: Corpus, recipe: Recipe) -> float:
    """Train without the last documents; the best development F1."""
    for event in train(model, list(map(Labels, corpus.train[:-MORE])), recipe.training, dev=corpus.dev):
        if isinstance(event, Stopped):
            return event.best_f1 or 0.0
    return 0.0


def _again(model: Model, corpus: Corpus, recipe: Recipe, epochs: int) -> list[Epoch]:
    """Train on all documents from there, and time every epoch's steps."""
    config = replace(recipe.training, epochs=epochs, patience=0, learning_rate=recipe.training.learning_rate / GENTLER)
    found: list[Epoch] = []
    spent = 0.0
    last = time.perf_counter()
    for event in train(model, list(map(Labels, corpus.train)), config, dev=corpus.dev):
        now = time.perf_counter()
        if isinstance(event, Step):
            spent += now - last
        elif isinstance(event, Evaluated):
            found.append(Epoch(event.conll_f1, spent))
        last = now
    return found


def described(found: Retraining) -> str:
    """The figures in words."""
    return (
        f"encoding LitBank takes {found.encoder_seconds:.1f} s, retraining with {MORE} more documents "
        f"{found.retraining_seconds:.1f} s: {found.ratio:.2f} times "
        f"(F1 {found.first_f1:.2f} before, {found.best_f1:.2f} at best)"
    )


def main(
    as_json: Json = False,
    mirror: Corpora = None,
    config: Annotated[str, typer.Option(help="A recipe, as of `corefine train`.")] = "default",
) -> None:
    """Time retraining with ten more documents against one pass of the encoder over LitBank."""
    report(measure(mirror=corpora_folder(mirror), recipe=load_recipe(config)), described, as_json=as_json)


if __name__ == "__main__":
    run(main)

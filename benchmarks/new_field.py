"""A new field: what answers teach a model that knows little of it, as the app trains, against earlier ways and gold.

    python benchmarks/new_field.py --corpus corefud_es_ancora --documents 40 --test 60 --questions 20 --seed 0

Simulated people answer about documents of a corpus that the model has not seen. Each line is CoNLL F1 on other
documents of the corpus: before; after one training, with the labels of the app and of its earlier versions; after each
of four rounds, each asked by the model trained so far; and with gold labels of the same documents.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from corefine.annotation.annotators import GoldAnnotator
from corefine.annotation.labels import Labels
from corefine.annotation.session import Session
from corefine.corpora import load_corpus
from corefine.document import Document
from corefine.files import home_folder
from corefine.models.devices import use_threads
from corefine.models.evaluation import evaluate
from corefine.models.load import model_folder
from corefine.models.network.model import Model
from corefine.models.storage.checkpoint import load_model
from corefine.models.training.recipe import load_recipe
from corefine.models.training.trainer import train

ROUNDS = 4


class NewField:
    """The documents to ask about and those to score on, and the model to begin with."""

    def __init__(self, model: str, documents: Sequence[Document], asked: int, scored: int, seed: int) -> None:
        drawn = sorted(documents, key=lambda document: document.key)
        random.Random(seed).shuffle(drawn)
        self.asked, self.scored = drawn[:asked], drawn[asked : asked + scored]
        self.seed = seed
        folder = model_folder(model)
        if folder is None:
            raise SystemExit(f"{model} cannot be trained")
        self.folder = folder
        self.sessions: dict[str, Session] = {}

    def model(self) -> Model:
        """The model to begin with."""
        return load_model(self.folder, cache=home_folder() / "states")

    def ask(self, model: Model, questions: float) -> None:
        """Ask about every document, as many questions for each 1,000 tokens."""
        for document in self.asked:
            prediction = model.predict(document)
            session = self.sessions.get(document.key)
            if session is None:
                session = self.sessions[document.key] = Session(document.with_clusters([]), prediction)
            else:
                session.use(prediction)
            annotator = GoldAnnotator(document)
            for _ in range(max(1, round(questions * len(document) / 1000))):
                question = session.next_question()
                if question is None:
                    break
                session.answer(annotator.answer(question))

    def learn(self, taught: Iterable[Labels] | None = None, **changes: Any) -> Model:
        """The model after training as the app does, with some settings changed."""
        model = self.model()
        config = replace(load_recipe("app").training, seed=self.seed, **changes)
        if taught is None:
            taught = map(Labels.from_session, self.sessions.values())
        for _ in train(model, list(taught), config):
            pass
        return model

    def f1(self, model: Model) -> str:
        scores = evaluate(model.predict, self.scored)
        return f"{scores.conll_f1:.2f} (mention recall {scores.mentions.recall:.1f})"

    @property
    def hours(self) -> float:
        return sum(entry.seconds for session in self.sessions.values() for entry in session.entries) / 3600


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", default="corefud_es_ancora")
    parser.add_argument("--model", default="starter")
    parser.add_argument("--documents", type=int, default=40)
    parser.add_argument("--test", type=int, default=60)
    parser.add_argument("--questions", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mirror", type=Path)
    given = parser.parse_args()
    use_threads(1)
    corpus = load_corpus(given.corpus, mirror=given.mirror)
    documents = [document for split in ("train", "dev", "test") for document in corpus.split(split)]
    field = NewField(given.model, documents, given.documents, given.test, given.seed)

    def show(name: str, model: Model) -> None:
        print(f"{name:44} {field.f1(model)}", flush=True)  # noqa: T201

    show("before", field.model())
    field.ask(field.model(), given.questions)
    old: dict[str, Any] = {"labels": "mix", "rest": 0.3, "learning_rate": 1e-4, "mention_loss": 0.0}
    show(f"{field.hours:.1f} h, unanswered rows at 0.3, rate 1e-4", field.learn(**old))
    show(f"{field.hours:.1f} h, as the app trains", field.learn())
    field.sessions.clear()
    model = field.model()
    for number in range(1, ROUNDS + 1):
        field.ask(model, given.questions / ROUNDS)
        model = field.learn()
        show(f"{field.hours:.1f} h, round {number} of {ROUNDS}", model)
    show("gold labels of the same documents", field.learn(map(Labels.gold, field.asked)))


if __name__ == "__main__":
    main()

"""A project in a new language: two documents annotated in full, then questions, against the rules and the first model.

    python benchmarks/cold_start.py [--corpus openboek_nl] [--json]

Gold labels stand in for the person. Every mention of two documents is marked and every sentence ticked off, as the page
does it; the app's training makes a model of that, which asks about three other documents; and it learns from those
answers too. Each score is CoNLL F1 on documents that nobody has seen, singletons dropped.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from command import Bar, Corpora, Json, Seed, corpora_folder, missed, report, run
from corefine.annotation.annotators import GoldAnnotator, annotate
from corefine.annotation.labels import Labels
from corefine.annotation.session import Session
from corefine.corpora import load_corpus
from corefine.document import Document
from corefine.models import rules
from corefine.models.devices import use_threads
from corefine.models.evaluation import evaluate
from corefine.models.load import load, model_folder
from corefine.models.training.jobs import TrainingJob
from corefine.models.training.jobs import run as train
from corefine.project.learning.training import recipe_for
from corefine.project.store.predictions import EMPTY
from corefine.project.store.settings import ProjectConfig
from corefine.project.work import edits
from corefine.project.work.open_document import restore_session

IN_FULL, ASKED = 2, 3


@dataclass(frozen=True, slots=True)
class ColdStart:
    """F1 of the rules, of the first model, after two documents in full, and after the questions.

    mentions     how many were marked in full
    questions    how many the new model asked, with gold answers
    """

    corpus: str
    tokens: int
    mentions: int
    questions: int
    rules: float
    first_model: float
    in_full: float
    after_questions: float

    @property
    def failure(self) -> str | None:
        return missed(
            Bar("F1 after two documents in full, less that of the rules", self.in_full - self.rules, "at least", 0.1),
            Bar("F1 after the questions, less that of the rules", self.after_questions - self.rules, "at least", 0.1),
        )


def beginning(document: Document, tokens: int) -> Document:
    """The first sentences of a document."""
    ends = [span.end + 1 for span in document.sentence_spans if span.end < tokens]
    end = ends[-1] if ends else len(document)
    kept = [[span for span in cluster if span.end < end] for cluster in document.clusters]
    sentences = [list(sentence) for sentence in document.sentences[: len(ends) or None]]
    return Document.from_sentences(
        document.name, sentences, [each for each in kept if each], language=document.language
    )


def annotated_in_full(document: Document) -> Session:
    """A session in which every mention was marked and every sentence ticked off."""
    session = Session(document.with_clusters([]), EMPTY)
    first = {span: cluster[0] for cluster in document.clusters for span in cluster}
    for mention in document.mentions:
        to = None if first[mention] == mention else first[mention]
        edits.said_by(session, edits.Mark(mention, to)).to(session)
    edits.said_by(session, edits.Complete(tuple(range(len(document.sentence_starts))))).to(session)
    return session


class Project:
    """The labels so far, and the models trained on them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.labels: list[Labels] = []
        self.versions = 0

    def learn(self) -> Path:
        """Train as the app does, from the model that ships."""
        self.versions += 1
        recipe = recipe_for(self.labels)
        job = TrainingJob(
            recipe=replace(recipe, training=replace(recipe.training, seed=self.seed)),
            labels=self.labels,
            folder=self.folder / f"v{self.versions}",
            warm=model_folder("starter"),
            cache=self.folder / "cache",
            keep_state=False,
        )
        for _ in train(job):
            pass
        return job.folder

    def f1(self, model: str | Path, documents: Sequence[Document]) -> float:
        return evaluate(load(model, cache=self.folder / "cache").model.predict, documents).conll_f1


def measure(corpus: str, mirror: Path | None, tokens: int, questions: float, seed: int, folder: Path) -> ColdStart:
    loaded = load_corpus(corpus, mirror=mirror)
    every = [beginning(each, tokens) for split in ("train", "dev", "test") for each in loaded.split(split)]
    drawn = [each for each in every if len(each) >= tokens // 2]
    gold, asked, scored = drawn[:IN_FULL], drawn[IN_FULL : IN_FULL + ASKED], drawn[IN_FULL + ASKED :]
    project = Project(folder, seed)
    project.labels = [Labels.from_session(annotated_in_full(document)) for document in gold]
    by_rules = evaluate(rules.predict, scored).conll_f1
    first = project.f1("starter", scored)
    own = project.learn()
    in_full = project.f1(own, scored)
    settings, given = ProjectConfig(budget_per_1000_tokens=questions), 0
    model = load(own, cache=folder / "cache").model
    for document in asked:
        session = restore_session(document.with_clusters([]), [], model.predict(document), settings)
        given += sum(1 for _ in annotate(session, GoldAnnotator(document)))
        project.labels.append(Labels.from_session(session))
    after = project.f1(project.learn(), scored)
    mentions = sum(len(document.mentions) for document in gold)
    return ColdStart(corpus, sum(map(len, gold)), mentions, given, by_rules, first, in_full, after)


def described(found: ColdStart) -> str:
    return (
        f"{found.corpus}: rules {found.rules:.1f}, the first model {found.first_model:.1f}; "
        f"after two documents in full ({found.tokens} tokens, {found.mentions} mentions) {found.in_full:.1f}; "
        f"after {found.questions} questions {found.after_questions:.1f} CoNLL F1"
    )


def main(
    corpus: Annotated[str, typer.Option(help="A corpus in a language that the first model does not know.")] = (
        "openboek_nl"
    ),
    tokens: Annotated[int, typer.Option(min=100, help="How much of each document is used, from its beginning.")] = 1000,
    questions: Annotated[float, typer.Option(help="Questions for each 1,000 tokens.")] = 43.0,
    seed: Seed = 1,
    mirror: Corpora = None,
    json: Json = False,
) -> None:
    """Cold start in a new language: documents in full, then questions."""
    use_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(corpus, corpora_folder(mirror), tokens, questions, seed, Path(folder))
    report(found, described, as_json=json)


if __name__ == "__main__":
    run(main)

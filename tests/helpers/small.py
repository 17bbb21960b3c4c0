"""Runs small enough for a test: the bundled stories, the rules or a tiny model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corefine.corpora import Corpus
from corefine.document import Document
from corefine.simulation import splits
from corefine.simulation.config import SimulationConfig
from corefine.simulation.loop import RoundDone
from corefine.simulation.rows import RoundRow
from corefine.simulation.runs import run

TINY_RECIPE = Path(__file__).with_name("tiny.toml")
FILES = ("config.json", "questions.jsonl", "rounds.jsonl", "lessons.jsonl")
"""What of a run's folder must be the same, byte for byte."""


def rules(**settings: Any) -> SimulationConfig:
    """A run that trains nothing."""
    return SimulationConfig.from_dict(
        {"corpus": "stories", "learner": "rules", "documents_per_round": 3, "questions": 60} | settings
    )


def tiny(**settings: Any) -> SimulationConfig:
    """A run with a model of a few thousand weights, on few documents."""
    return SimulationConfig.from_dict(
        {
            "corpus": "stories",
            "recipe": str(TINY_RECIPE),
            "documents": 5,
            "initial": 0.4,
            "documents_per_round": 2,
            "questions": 60,
        }
        | settings
    )


def stories() -> Corpus:
    return splits.load("stories")


def short_stories(tokens: int = 90) -> Corpus:
    """The stories cut short, for what trains."""
    corpus = stories()
    train, dev, test = (
        tuple(_cut(each, tokens) for each in split) for split in (corpus.train, corpus.dev, corpus.test)
    )
    return Corpus("stories", train, dev[:1], test[:1])


def _cut(document: Document, tokens: int) -> Document:
    size = max(start for start in (*document.sentence_starts, len(document)) if start <= tokens)
    kept = [[span for span in cluster if span.end < size] for cluster in document.clusters]
    starts = tuple(start for start in document.sentence_starts if start < size)
    return Document(document.name, document.tokens[:size], starts, tuple(tuple(each) for each in kept if each))


def finish(config: SimulationConfig, folder: Path, corpus: Corpus, **options: Any) -> list[RoundRow]:
    """Run to the end; the rows of the rounds that were run now."""
    return [event.row for event in run(config, folder, corpus, **options) if isinstance(event, RoundDone)]


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}

"""Short simulations: one story, and a new field in which the model learns from the answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from corefine.annotation.annotators import GoldAnnotator, Turn, annotate
from corefine.annotation.log import Budget
from corefine.annotation.session import Session
from corefine.corpora import Corpus
from corefine.document import Document
from corefine.models.rules import predict
from corefine.scores import report
from corefine.simulation.config import LEARNING, NEW_FIELD, SimulationConfig
from corefine.simulation.loop import RoundDone
from corefine.simulation.rows import RoundRow
from corefine.simulation.runs import run


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The cost of a demo, and CoNLL F1 of the labels before and after it, singletons dropped."""

    document: str
    questions: int
    yes: int
    seconds: float
    f1_before: float
    f1_after: float


def play(story: Document, *, questions: int) -> tuple[list[Turn], DemoResult]:
    """Ask about a story, and let its gold clusters answer. The first labels are those of the rules."""

    def f1() -> float:
        return report(story, session.relabelled(), singletons="drop").scores.conll_f1

    session = Session(story, predict(story), budget=Budget(questions=questions))
    before = f1()
    turns = list(annotate(session, GoldAnnotator(story)))
    yes = sum(turn.answer.same is True for turn in turns)
    return turns, DemoResult(story.name, len(turns), yes, session.seconds, before, f1())


def new_field(corpus: Corpus, folder: Path, *, starter: str, questions: float, seed: int) -> Iterator[RoundRow]:
    """Ask about documents of a corpus that the model does not know, and train as the app does; a row per round."""
    settings = {**NEW_FIELD, **LEARNING, "corpus": corpus.name}
    config = SimulationConfig.from_dict({**settings, "starter": starter, "questions": questions, "seed": seed})
    for event in run(config, folder, corpus):
        if isinstance(event, RoundDone):
            yield event.row

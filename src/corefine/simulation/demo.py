"""A short simulated annotation of one story: what is asked, what it costs, and how much it improves the labels."""

from __future__ import annotations

from dataclasses import dataclass

from corefine.annotation.annotators import GoldAnnotator, Turn, annotate
from corefine.annotation.log import Budget
from corefine.annotation.session import Session
from corefine.document import Document
from corefine.models.rules import predict
from corefine.scores import score


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
        return score(story, session.relabelled(), singletons="drop").conll_f1

    session = Session(story, predict(story), budget=Budget(questions=questions))
    before = f1()
    turns = list(annotate(session, GoldAnnotator(story)))
    yes = sum(turn.answer.same is True for turn in turns)
    return turns, DemoResult(story.name, len(turns), yes, session.seconds, before, f1())

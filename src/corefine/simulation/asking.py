"""The questions of one document, from prediction to lesson."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from corefine.annotation.annotators import GoldAnnotator
from corefine.annotation.labels import Labels
from corefine.annotation.log import AnswerEntry, Budget
from corefine.annotation.question import Protocol, span_to_json
from corefine.annotation.revision import decode
from corefine.annotation.selectors import Selector, make_selector
from corefine.annotation.session import Session
from corefine.document import Document
from corefine.errors import ContradictionError
from corefine.prediction import Prediction
from corefine.scores import Counts
from corefine.simulation.ablation import CLOSURES
from corefine.simulation.config import SimulationConfig

Clock = Callable[[], float]


@dataclass(slots=True)
class Annotation:
    """What came of asking about one document.

    rows         one for each question, as it stands in questions.jsonl
    lesson       what is left for training
    before       how the model's own clusters score against gold, singletons dropped
    after        how the relabelled document does
    seconds      of annotation
    selection    seconds this machine took to choose questions
    closure      seconds it took to take answers: links, their closure, rows and clusters
    """

    document: Document
    rows: list[dict[str, Any]]
    lesson: Labels
    before: Counts
    after: Counts
    seconds: float
    selection: float = 0.0
    closure: float = 0.0

    @property
    def initial(self) -> int:
        """Questions that asked "same entity?"."""
        return sum(row["same"] is not None for row in self.rows)

    @property
    def yes(self) -> int:
        """Those of them that were answered yes."""
        return sum(row["same"] is True for row in self.rows)


def annotator_of(document: Document, config: SimulationConfig) -> GoldAnnotator:
    """Who answers: the gold clusters, with the habits that the settings give them."""
    return GoldAnnotator(document, nearest=config.nearest, error_rate=config.error_rate, seed=config.seed)


def selector_of(config: SimulationConfig) -> Selector:
    """The selector of the settings, with their seed where it draws lots."""
    seeded = {"seed": config.seed} if config.selector == "random" else {}
    return make_selector(config.selector, clustered=config.clustered, **seeded)


def session_of(document: Document, prediction: Prediction, config: SimulationConfig, budget: Budget) -> Session:
    """The session the settings describe."""
    return Session(
        document,
        prediction,
        protocol=Protocol(config.protocol),
        selector=selector_of(config),
        budget=budget,
        infer_first=config.infer_first,
        cost=config.cost,
        closure=CLOSURES[config.closure],
    )


def annotate_document(
    document: Document, prediction: Prediction, config: SimulationConfig, budget: Budget, clock: Clock
) -> Annotation:
    """Ask until the budget is spent.

    An annotator who errs may contradict what he said before. He then passes: the answer is not taken, its time is.
    """
    annotator = annotator_of(document, config)
    selection = closure = 0.0
    began = clock()
    session = session_of(document, prediction, config, budget)
    rows: list[dict[str, Any]] = []
    while True:
        question = session.next_question()
        selection += clock() - began
        if question is None:
            break
        answer = annotator.answer(question)
        seconds = config.cost.seconds(question.protocol, answer)
        row = {"document": document.key, **AnswerEntry(question, answer, seconds).to_json()}
        began = clock()
        try:
            outcome = session.answer(answer, seconds=seconds)
        except ContradictionError:
            row["passed"] = True
            outcome = session.skip(seconds=seconds)
        closure += clock() - began
        inferred = [span_to_json(span) for span in outcome.settled]
        rows.append(row | {"settled": len(inferred), "pairs": outcome.pairs, "inferred": inferred})
        began = clock()
    lesson = Labels.from_session(session)
    gold = document.without_singletons().clusters
    return Annotation(
        document=document,
        rows=rows,
        lesson=lesson,
        before=Counts.of(gold, decode(prediction)),
        after=Counts.of(gold, lesson.document.without_singletons().clusters),
        seconds=session.seconds,
        selection=selection,
        closure=closure,
    )

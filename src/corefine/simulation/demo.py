"""A short simulated annotation of one story: what is asked, what it costs, and what it is worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from corefine.annotation.annotators import GoldAnnotator, Turn, annotate
from corefine.annotation.log import Budget
from corefine.annotation.session import Session
from corefine.document import Document
from corefine.models.rules import predict
from corefine.scores import score


@dataclass(frozen=True, slots=True)
class DemoResult:
    """CoNLL F1 of the document's labels, singletons dropped, before and after the answers."""

    document: str
    questions: int
    yes: int
    seconds: float
    f1_before: float
    f1_after: float


class Demo:
    """Plays a session on a story with its gold clusters as the annotator; iterate over it, then read `result`."""

    def __init__(self, story: Document, *, questions: int) -> None:
        self.story = story
        self._session = Session(story, predict(story), budget=Budget(questions=questions))
        self._before = self._f1()

    def __iter__(self) -> Iterator[Turn]:
        return annotate(self._session, GoldAnnotator(self.story))

    @property
    def result(self) -> DemoResult:
        answers = self._session.answers
        return DemoResult(
            document=self.story.name,
            questions=len(answers),
            yes=sum(answered.answer.same is True for answered in answers),
            seconds=self._session.seconds,
            f1_before=self._before,
            f1_after=self._f1(),
        )

    def _f1(self) -> float:
        return score(self.story, self._session.relabelled(), singletons="drop").conll_f1

"""What learns from lessons. The loop knows this protocol and nothing of how it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from corefine.annotation.labels import Labels
from corefine.document import Document
from corefine.models import rules
from corefine.prediction import Prediction

if TYPE_CHECKING:
    from corefine.models.resolver import Predictor


class Learner(Protocol):
    """Turns lessons into something that predicts.

    The result depends on the lessons, the settings and the round alone. `learn` may be called again for a round
    that was interrupted, or for one that was finished, and gives the same predictor.
    """

    def learn(self, lessons: Sequence[Labels], *, round: int, final: bool) -> Predictor: ...

    def predict(self, predictor: Predictor, documents: Sequence[Document]) -> list[Prediction]:
        """What the predictor says of each document, in their order."""
        ...

    def finished(self, round: int) -> None:
        """The round's rows are on disk: what only an earlier round needed can go."""
        ...


class Rules:
    """The predictor by rules, as an object."""

    def predict(self, document: Document) -> Prediction:
        return rules.predict(document)


class RulesLearner:
    """Learns nothing: the rules, whatever the lessons. For tests, and to see the loop at work."""

    def learn(self, lessons: Sequence[Labels], *, round: int, final: bool) -> Predictor:
        return Rules()

    def predict(self, predictor: Predictor, documents: Sequence[Document]) -> list[Prediction]:
        return [predictor.predict(document) for document in documents]

    def finished(self, round: int) -> None:
        return

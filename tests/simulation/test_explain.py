from __future__ import annotations

from corefine.annotation.question import Answer, Question, Reply
from corefine.annotation.session import Session
from corefine.document import Span
from corefine.simulation.explain import explain_session
from helpers.making import document_of, prediction_of

ROWS = prediction_of(
    [{"-": 1.0}, {"-": 0.7, 0: 0.3}, {"-": 0.2, 0: 0.3, 1: 0.5}, {"-": 0.25, 0: 0.25, 1: 0.25, 2: 0.25}]
)


class Stubborn:
    """Says of everything that it first appears as w1."""

    def answer(self, question: Question) -> Answer:
        return Answer.no(Reply.FIRST, Span(1, 1))


def test_a_question_is_explained_by_its_entities_and_what_the_answer_settled() -> None:
    lines = list(explain_session(Session(document_of(), ROWS), Stubborn(), most=1))
    text = "\n".join(lines)
    assert "1. … w0 w1 w2 [w3] w4" in text
    assert "   0.500   “w1” (1-1), “w2” (2-2)" in text  # one entity, one probability
    assert "   0.250   a new entity" in text
    assert "Is “w3” (3-3) the same entity as “w2” (2-2)?" in text
    assert "“w3” (3-3) is not “w2” (2-2); the entity of “w3” (3-3) first appears as “w1” (1-1)" in text
    assert "3 pairs of mentions are now known" in text


def test_an_answer_that_contradicts_settles_nothing() -> None:
    text = "\n".join(explain_session(Session(document_of(), ROWS), Stubborn()))
    assert "settled    nothing: it contradicts what was said" in text
    assert "Nothing is left to ask, or the budget is spent." in text

"""What is said without being asked, contradictions resolved in one step, and the protocol that asks for mentions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefine.annotation.annotators import GoldAnnotator, annotate
from corefine.annotation.log import Budget
from corefine.annotation.question import Answer, Protocol, Reply
from corefine.annotation.session import Session
from corefine.document import Document, Span
from corefine.errors import AnswerError, ContradictionError, InvalidSpanError, UnknownAnswerError
from corefine.links import Assertion, Cannot, First, Must, NotAMention, Relation
from corefine.prediction import Prediction
from helpers.making import cases
from helpers.sessions import DOCUMENT, PREDICTION, A, B, C, D, ask, fresh, state_of


def test_an_edit_is_one_numbered_step_that_can_be_undone() -> None:
    session = fresh()
    before = state_of(session)
    outcome = session.edit([Must(A, C), Cannot(A, B)])
    assert outcome.number == 1
    assert session.links.relation(B, C) is Relation.CANNOT
    assert ask(session).number == 2
    session.undo()
    assert state_of(session) == before
    session.redo()
    assert session.links.relation(A, C) is Relation.MUST


def test_an_edit_uses_no_budget_of_questions() -> None:
    session = Session(DOCUMENT, PREDICTION, budget=Budget(questions=1))
    session.edit([Must(A, C)], seconds=3.0)
    assert session.next_question() is not None
    assert session.seconds == 3.0
    assert session.answers == ()
    assert len(session.entries) == 1


def test_a_mention_that_is_added_is_one_even_if_nothing_links_it() -> None:
    session = fresh()
    session.edit([First(Span(4, 5), Span(4, 5))], mentions=[Span(4, 5)])
    assert (Span(4, 5),) in session.relabelled().clusters
    session.withdraw(1)
    assert (Span(4, 5),) not in session.relabelled().clusters


def test_edits_that_cannot_be_meant() -> None:
    session = fresh()
    before = state_of(session)
    with pytest.raises(AnswerError):
        session.edit([])
    with pytest.raises(InvalidSpanError):
        session.edit([Must(A, Span(0, 10_000))])
    with pytest.raises(ContradictionError):
        session.edit([Must(A, C), Cannot(A, C)])
    assert state_of(session) == before


def test_a_contradiction_is_resolved_in_one_step() -> None:
    session = fresh()
    session.edit([Cannot(C, D)])
    session.edit([Must(B, D)])
    before = state_of(session)
    question = ask(session)
    assert question.mention == C
    with pytest.raises(ContradictionError) as caught:
        session.answer(Answer.no(Reply.FIRST, B) if question.antecedent != B else Answer.yes())
    assert caught.value.answers
    session.answer(Answer.no(Reply.FIRST, B) if question.antecedent != B else Answer.yes(), withdrawing=[1])
    assert session.links.relation(B, C) is Relation.MUST
    assert [entry.number for entry in session.entries] == [2, 3]
    session.undo()
    assert state_of(session) == before


def test_if_the_contradiction_remains_nothing_is_withdrawn() -> None:
    session = fresh()
    session.edit([Cannot(A, C)])
    session.edit([Cannot(B, C)])
    question = ask(session)
    before = state_of(session)
    with pytest.raises(ContradictionError):
        session.edit([Must(B, C)], withdrawing=[1])
    with pytest.raises(UnknownAnswerError):
        session.edit([Must(B, C)], withdrawing=[2, 7])
    assert state_of(session) == before
    assert session.next_question() is question


def test_a_refused_edit_leaves_the_order_of_the_answers() -> None:
    session = fresh()
    session.edit([Cannot(A, C)])
    session.edit([Cannot(A, B)])
    session.edit([Cannot(B, C)])
    with pytest.raises(ContradictionError):
        session.edit([Must(B, C)], withdrawing=[2])
    assert session.links.answers() == [1, 2, 3]


def test_a_contradiction_about_mentions_names_the_disputed_span() -> None:
    session = fresh()
    session.edit([NotAMention(C)])
    with pytest.raises(ContradictionError, match=f"answer 2 and answer 1 disagree on whether {C} is a mention"):
        session.edit([First(A, A)], mentions=[A, C])  # A is not disputed, and comes first
    session.edit([NotAMention(D)])
    with pytest.raises(
        ContradictionError, match=f"answer 3 and answers 1, 2 disagree on whether {C}, {D} are mentions"
    ):
        session.edit([First(A, A)], mentions=[A, C, D])
    with pytest.raises(ContradictionError, match=f"answer 3 contradicts itself on whether {B} is a mention"):
        session.edit([NotAMention(B)], mentions=[A, B])


def test_is_this_a_mention() -> None:
    session = Session(DOCUMENT, PREDICTION_WITH_SCORES, protocol=Protocol.MENTIONS)
    question = ask(session)
    assert question.antecedent is None
    assert (question.mention, question.probability) == (A, 0.5)  # the most uncertain
    session.answer(Answer.yes())
    assert any(A in cluster for cluster in session.relabelled().clusters)
    assert ask(session).mention == B
    session.answer(Answer(reply=Reply.NOT_A_MENTION))
    assert not session.links.is_mention(B)
    mention = ask(session).mention
    session.answer(Answer(reply=Reply.BOUNDARIES, span=Span(mention.start, 5)))
    assert not session.links.is_mention(mention)
    assert (Span(mention.start, 5),) in session.relabelled().clusters
    assert ask(session).mention != Span(mention.start, 5)  # who drags a span says that it is a mention


def test_what_was_said_to_be_no_mention_cannot_be_added_and_the_other_way_round() -> None:
    session = fresh()
    session.edit([NotAMention(B)])
    before = state_of(session)
    with pytest.raises(ContradictionError) as caught:
        session.edit([First(B, B)], mentions=[B])
    assert caught.value.answers == (1,)
    assert state_of(session) == before
    session.edit([First(B, B)], mentions=[B], withdrawing=[1])
    with pytest.raises(ContradictionError) as caught:
        session.edit([NotAMention(B)])
    assert caught.value.answers == (2,)


def test_gold_says_what_is_a_mention() -> None:
    session = Session(DOCUMENT.with_clusters([[A, C]]), PREDICTION_WITH_SCORES, protocol=Protocol.MENTIONS)
    said = {turn.question.mention: turn.answer.same for turn in annotate(session, GoldAnnotator(session.document))}
    assert said == {A: True, B: None, C: True, D: None}


PREDICTION_WITH_SCORES = Prediction(
    PREDICTION.spans,
    PREDICTION.candidates,
    PREDICTION.probabilities,
    mention_scores=np.array([0.0, 0.1, -0.2, 5.0]),
)


@st.composite
def assertions(draw: st.DrawFn, spans: list[Span]) -> Assertion:
    one, other = draw(st.sampled_from(spans)), draw(st.sampled_from(spans))
    kind = draw(st.sampled_from([Must, Cannot, First]))
    return NotAMention(one) if one == other and kind is not First else kind(min(one, other), max(one, other))


@given(cases(most=8), st.data(), st.booleans())
def test_whatever_is_edited_the_log_brings_it_back(
    case: tuple[Document, Prediction], data: st.DataObject, infer_first: bool
) -> None:
    document, prediction = case
    session = Session(document, prediction, infer_first=infer_first)
    annotator = GoldAnnotator(document)
    spans = [*prediction.spans, Span(0, 1), Span(1, 3)]
    for _ in range(data.draw(st.integers(0, 12))):
        before = state_of(session)
        standing = [entry.number for entry in session.entries]
        withdrawing = data.draw(st.lists(st.sampled_from(standing), max_size=2)) if standing else []
        try:
            match data.draw(st.sampled_from(["edit", "answer", "undo", "redo", "withdraw"])):
                case "edit":
                    said = data.draw(st.lists(assertions(spans), min_size=1, max_size=3))
                    session.edit(said, mentions=data.draw(st.lists(st.sampled_from(spans), max_size=1)))
                case "answer" if (question := session.next_question()) is not None:
                    session.answer(annotator.answer(question), withdrawing=withdrawing)
                case "undo":
                    session.undo()
                case "redo":
                    session.redo()
                case _:
                    session.withdraw(data.draw(st.integers(1, 5)))
        except AnswerError:
            assert state_of(session) == before
    log = json.loads(json.dumps(session.log))
    again = Session(document, prediction, infer_first=infer_first)
    again.replay(log)
    assert state_of(again) == state_of(session)
    assert again.log == session.log
    # Replaying costs less without a prediction; taking it up afterwards is the same.
    quick = Session(document, EMPTY, infer_first=infer_first)
    quick.replay(log)
    quick.use(prediction)
    assert state_of(quick) == state_of(session)


EMPTY = Prediction((), np.zeros((0, 0)), np.zeros((0, 1)))

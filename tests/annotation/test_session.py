"""Sessions: what is asked, what answers do, and going back."""

from __future__ import annotations

import pytest

from corefine.annotation.annotators import GoldAnnotator, annotate
from corefine.annotation.cost import CostModel
from corefine.annotation.log import Budget
from corefine.annotation.question import Answer, Protocol, Reply
from corefine.annotation.session import Session
from corefine.document import Span
from corefine.errors import (
    AnswerError,
    ContradictionError,
    CorefineError,
    InputError,
    InvalidSpanError,
    QuestionNotOpenError,
    UnknownAnswerError,
)
from corefine.links import NotAMention, Relation
from helpers.making import document_of
from helpers.sessions import DOCUMENT, PREDICTION, A, B, C, D, ask, fresh, state_of

# Asking


def test_it_asks_about_the_most_uncertain_mention_and_its_likeliest_antecedent() -> None:
    question = ask(fresh())
    assert (question.number, question.mention, question.protocol) == (1, D, Protocol.DISCRETE)
    assert question.antecedent == C  # three tie: the nearest
    assert question.probability == 0.25


def test_asking_again_is_the_same_question() -> None:
    session = fresh()
    assert session.next_question() is session.next_question()


def test_epsilon_is_never_proposed_and_the_first_span_never_asked_about() -> None:
    session = fresh()
    asked = [turn.question for turn in annotate(session, GoldAnnotator(DOCUMENT))]
    assert {question.mention for question in asked} == {B, C, D}
    proposed = {question.mention: question.antecedent for question in asked}
    assert proposed[C] is not None
    assert proposed[D] is not None
    assert proposed[B] is None  # its only candidate is ruled out: it is only asked where B first appears


def test_the_budget_ends_it() -> None:
    session = Session(DOCUMENT, PREDICTION, budget=Budget(questions=2))
    assert len(list(annotate(session, GoldAnnotator(DOCUMENT)))) == 2
    by_time = Session(DOCUMENT, PREDICTION, budget=Budget(seconds=20.0))
    assert len(list(annotate(by_time, GoldAnnotator(DOCUMENT)))) == 1
    assert by_time.open_mentions > 0


def test_only_the_follow_up() -> None:
    session = Session(DOCUMENT, PREDICTION, protocol=Protocol.FOLLOW_UP)
    question = ask(session)
    assert question.antecedent is None
    session.answer(Answer(reply=Reply.FIRST, span=B))
    assert session.links.relation(B, D) is Relation.MUST
    assert session.seconds == CostModel().follow_up_alone


# Answering


def test_yes_links_and_no_links_and_parts() -> None:
    session = fresh()
    ask(session)
    session.answer(Answer.no(Reply.FIRST, B))
    assert session.links.relation(B, D) is Relation.MUST
    assert session.links.relation(C, D) is Relation.CANNOT
    assert session.links.relation(B, C) is Relation.CANNOT  # by closure
    assert ask(session).mention == C
    assert ask(session).antecedent == A  # B was ruled out
    session.answer(Answer.yes())
    assert session.relabelled().clusters == ((A, C), (B, D))


def test_an_outcome_tells_what_followed() -> None:
    session = fresh()
    ask(session)
    assert session.answer(Answer.no(Reply.FIRST, B)).pairs == 3  # B=D, C/D, and B/C by closure
    inferring = Session(DOCUMENT, PREDICTION, infer_first=True)
    ask(inferring)
    assert inferring.answer(Answer.no(Reply.FIRST, B)).settled == (B,)  # the first of an entity needs no question


def test_this_is_the_first() -> None:
    session = fresh()
    ask(session)
    session.answer(Answer.no(Reply.FIRST, D))
    assert session.links.has_no_antecedent(D)
    assert all(D not in cluster for cluster in session.relabelled().clusters)


def test_a_first_appearance_that_no_model_proposed_is_kept() -> None:
    session = fresh()
    ask(session)
    session.answer(Answer.no(Reply.FIRST, Span(0, 2)))
    assert any({Span(0, 2), D} <= set(cluster) for cluster in session.relabelled().clusters)


def test_not_a_mention_is_in_no_cluster() -> None:
    session = fresh()
    ask(session)
    session.answer(Answer(reply=Reply.NOT_A_MENTION))
    assert all(D not in cluster for cluster in session.relabelled().clusters)


def test_wrong_boundaries_ask_again_about_the_right_span() -> None:
    session = fresh()
    ask(session)
    session.answer(Answer(reply=Reply.BOUNDARIES, span=Span(3, 5)))
    again = ask(session)
    assert (again.mention, again.antecedent, again.protocol) == (Span(3, 5), C, Protocol.DISCRETE)
    assert (Span(3, 5),) in session.relabelled().clusters  # a mention already, if alone
    session.answer(Answer.yes())
    assert any({C, Span(3, 5)} <= set(cluster) for cluster in session.relabelled().clusters)
    assert ask(session).mention != Span(3, 5)


def test_wrong_boundaries_before_the_antecedent_ask_only_for_the_first() -> None:
    session = fresh()
    ask(session)
    session.answer(Answer(reply=Reply.BOUNDARIES, span=Span(1, 4)))
    again = ask(session)
    assert (again.mention, again.antecedent, again.protocol) == (Span(1, 4), None, Protocol.FOLLOW_UP)


def test_a_skip_asserts_nothing_costs_its_time_and_is_not_asked_again() -> None:
    session = fresh()
    before = session.relabelled()
    ask(session)
    session.skip()
    assert session.relabelled() == before
    assert session.seconds == CostModel().initial
    assert D not in {turn.question.mention for turn in annotate(session, GoldAnnotator(DOCUMENT))}


def test_a_skipped_pair_is_not_asked_again_but_its_mention_is() -> None:
    session = Session(DOCUMENT, PREDICTION, protocol=Protocol.PAIRWISE)
    first = ask(session)
    session.skip()
    pairs = {(turn.question.antecedent, turn.question.mention) for turn in annotate(session, GoldAnnotator(DOCUMENT))}
    assert (first.antecedent, first.mention) not in pairs
    assert first.mention in {mention for _, mention in pairs}


def test_measured_seconds_take_the_place_of_expected_ones() -> None:
    session = fresh()
    ask(session)
    session.answer(Answer.yes(), seconds=3.5)
    assert session.seconds == 3.5


# Answers that cannot be taken


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer.no(Reply.FIRST, Span(0, 99)), InvalidSpanError),
        (Answer.no(Reply.FIRST, Span(5, 5)), InvalidSpanError),
        (Answer.no(Reply.ANTECEDENT, D), InvalidSpanError),
        (Answer(reply=Reply.BOUNDARIES, span=D), InvalidSpanError),
        (Answer.no(Reply.FIRST, C), AnswerError),  # C was just denied
        (Answer.no(), AnswerError),
        (Answer(reply=Reply.FIRST, span=A), AnswerError),
    ],
)
def test_an_answer_that_cannot_be_leaves_everything_as_it_was(answer: Answer, error: type[AnswerError]) -> None:
    session = fresh()
    ask(session)
    before = state_of(session)
    with pytest.raises(error):
        session.answer(answer)
    assert state_of(session) == before
    assert session.log["events"] == []


def test_a_contradiction_names_the_answers_and_changes_nothing() -> None:
    session = fresh()
    ask(session)
    session.answer(Answer.no(Reply.FIRST, B))  # 1: C is not D, B is D
    assert ask(session).mention == C
    before = state_of(session)
    with pytest.raises(ContradictionError) as caught:
        session.answer(Answer.no(Reply.FIRST, B))
    assert caught.value.answers == (1,)
    assert state_of(session) == before


def test_only_the_open_question_can_be_answered() -> None:
    session = fresh()
    with pytest.raises(QuestionNotOpenError):
        session.answer(Answer.yes())
    ask(session)
    session.answer(Answer.yes(), number=1)
    ask(session)
    with pytest.raises(QuestionNotOpenError, match="question 1 is not open; question 2 is"):
        session.answer(Answer.yes(), number=1)


def test_withdrawing_what_is_not_there() -> None:
    session = fresh()
    for attempt in (lambda: session.withdraw(1), session.undo, session.redo):
        with pytest.raises(UnknownAnswerError):
            attempt()


def test_a_prediction_about_another_document_is_refused() -> None:
    with pytest.raises(InvalidSpanError):
        Session(document_of(tokens=2), PREDICTION)


# Going back


def test_undo_and_redo_go_back_and_forth() -> None:
    session = fresh()
    states = [state_of(session), *(state_of(session) for _ in annotate(session, GoldAnnotator(DOCUMENT)))]
    for state in reversed(states[:-1]):
        session.undo()
        assert state_of(session) == state
    for state in states[1:]:
        session.redo()
        assert state_of(session) == state


def test_a_new_answer_ends_redo() -> None:
    session = fresh()
    ask(session)
    session.answer(Answer.yes())
    session.undo()
    ask(session)
    session.skip()
    with pytest.raises(UnknownAnswerError):
        session.redo()


def test_a_withdrawal_can_be_undone() -> None:
    session = fresh()
    list(annotate(session, GoldAnnotator(DOCUMENT)))
    before = state_of(session)
    session.withdraw(1)
    assert state_of(session) != before
    session.undo()
    assert state_of(session) == before


# Logs


def test_a_log_of_something_else_is_refused() -> None:
    log = fresh().log
    for field, value in {"version": 99, "document": "other", "tokens": 1, "infer_first": True}.items():
        with pytest.raises(InputError, match=field):
            fresh().replay({**log, field: value})


@pytest.mark.parametrize("events", [[{"event": "dance"}], [{"event": "undo"}], [{"event": "answer"}], [7], "x", None])
def test_a_damaged_log_is_an_error_of_ours(events: object) -> None:
    with pytest.raises(CorefineError):
        fresh().replay({**fresh().log, "events": events})


def test_it_ends_when_no_answer_would_surprise_the_model() -> None:
    session = Session(DOCUMENT, PREDICTION, budget=Budget(least_gain=0.2))
    while session.next_question() is not None:
        session.answer(Answer.unsure())
    every = Session(DOCUMENT, PREDICTION)
    while every.next_question() is not None:
        every.answer(Answer.unsure())
    assert session.ending == ("sure" if len(session.answers) < len(every.answers) else "nothing")
    assert every.ending == "nothing"
    assert Session(DOCUMENT, PREDICTION, budget=Budget(least_gain=1.0)).ending == "sure"
    assert Session(DOCUMENT, PREDICTION, budget=Budget(questions=0)).ending == "budget"


def test_what_is_said_to_be_first_is_kept_alone() -> None:
    session = Session(DOCUMENT, PREDICTION)
    question = session.next_question()
    assert question is not None
    while (question := session.next_question()) is not None:
        session.answer(Answer.no(Reply.FIRST, question.mention) if question.antecedent else Answer.unsure())
    firsts = {entry.question.mention for entry in session.answers if entry.answer.reply is Reply.FIRST}
    assert firsts
    assert firsts <= {span for cluster in session.annotated().clusters for span in cluster}
    session.edit([NotAMention(min(firsts))])
    assert min(firsts) not in {span for cluster in session.annotated().clusters for span in cluster}

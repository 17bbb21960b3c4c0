"""What the labels of a document keep of a session."""

from __future__ import annotations

from corefine.annotation.annotators import GoldAnnotator, annotate
from corefine.annotation.labels import Labels
from corefine.annotation.question import Answer, Protocol
from corefine.annotation.session import Session
from helpers.sessions import DOCUMENT, PREDICTION, D, ask, fresh


def test_labels_keep_what_the_model_expected_before_each_answer() -> None:
    session = fresh()
    question = ask(session)
    assert (question.mention, question.linked) == (D, 0.75)  # the mass of its three candidates
    session.answer(Answer.yes())
    labels = Labels.from_session(session)
    assert labels.expected == ((D, 0.75),)
    assert labels.settled == {D: True}


def test_later_answers_do_not_change_what_was_expected() -> None:
    session = fresh()
    asked = [turn.question for turn in annotate(session, GoldAnnotator(DOCUMENT))]
    known = tuple((each.mention, each.linked) for each in asked if each.linked is not None)
    assert Labels.from_session(session).expected == known
    restored = fresh()
    restored.replay(session.log)
    assert Labels.from_session(restored).expected == known


def test_protocols_in_which_only_some_answers_say_whether_there_is_an_antecedent_test_nothing() -> None:
    session = Session(DOCUMENT, PREDICTION, protocol=Protocol.PAIRWISE)
    for _ in annotate(session, GoldAnnotator(DOCUMENT)):
        pass
    labels = Labels.from_session(session)
    assert labels.settled
    assert labels.expected == ()


def test_labels_in_json() -> None:
    session = fresh()
    for _ in annotate(session, GoldAnnotator(DOCUMENT)):
        pass
    labels = Labels.from_session(session)
    assert Labels.from_json(labels.to_json(), DOCUMENT) == labels

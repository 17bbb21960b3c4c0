"""The ablation of the closure: what a session does when nothing follows from an answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from corefine.annotation.annotators import GoldAnnotator, annotate
from corefine.annotation.log import Budget, Closing
from corefine.annotation.question import Answer, Protocol, Reply
from corefine.annotation.selectors import Entropy
from corefine.annotation.session import Session
from corefine.document import Document, Span
from corefine.prediction import Prediction
from helpers.making import cases, document_of, prediction_of

A, B, C, D, E = (Span(i, i) for i in range(5))
ROWS = prediction_of(
    [
        {"-": 1.0},
        {"-": 0.4, 0: 0.6},
        {"-": 0.6, 0: 0.1, 1: 0.3},
        {"-": 0.1, 0: 0.2, 1: 0.3, 2: 0.4},
    ]
)
DOCUMENT = document_of([[A, B], [C, D]])
PROTOCOLS = [Protocol.DISCRETE, Protocol.PAIRWISE, Protocol.FOLLOW_UP]
ABLATIONS = [Closing.PER_DOCUMENT, Closing.OFF]


def session(closing: Closing) -> Session:
    return Session(DOCUMENT, ROWS, closing=closing)


@pytest.mark.parametrize("closing", ABLATIONS)
def test_an_answer_changes_only_the_row_of_its_mention(closing: Closing) -> None:
    asked = session(closing)
    before = asked.revision.rows.copy()
    question = asked.next_question()
    assert question is not None
    assert question.mention == D
    asked.answer(Answer.no(Reply.FIRST, B))
    changed = np.flatnonzero((asked.revision.rows != before).any(axis=1)).tolist()
    assert changed == [3]
    with_closure = session(Closing.INCREMENTAL)
    with_closure.next_question()
    with_closure.answer(Answer.no(Reply.FIRST, B))
    assert with_closure.revision.rows[2, 2] == 0.0  # C cannot be B, since D is B and C is not D
    assert asked.revision.rows[2, 2] == before[2, 2]


def test_the_closure_is_taken_when_the_document_is_relabelled_or_never() -> None:
    """D is B and not C: only the closure tells that B and C are two."""
    rows = prediction_of(
        [{"-": 1.0}, {"-": 1.0, 0: 0.0}, {"-": 0.2, 0: 0.3, 1: 0.5}, {"-": 0.25, 0: 0.2, 1: 0.25, 2: 0.3}]
    )
    relabelled = {}
    for closing in Closing:
        asked = Session(DOCUMENT, rows, closing=closing, selector=Entropy(clustered=False), budget=Budget(questions=1))
        question = asked.next_question()
        assert question is not None
        assert (question.mention, question.antecedent) == (D, C)
        asked.answer(Answer.no(Reply.FIRST, B))
        relabelled[closing] = asked.relabelled().clusters
    assert relabelled[Closing.INCREMENTAL] == relabelled[Closing.PER_DOCUMENT] == ((A, C), (B, D))
    assert relabelled[Closing.OFF] == ((B, D),)  # C's row still prefers B, which its no to D forbids: C stays alone


@pytest.mark.parametrize("closing", ABLATIONS)
def test_undo_leaves_no_trace(closing: Closing) -> None:
    asked = session(closing)
    asked.next_question()
    before = asked.revision.rows.copy(), asked.revision.clusters(), asked.revision.blocked.copy()
    asked.answer(Answer.no(Reply.FIRST, A))
    asked.undo()
    assert (asked.revision.rows == before[0]).all()
    assert asked.revision.clusters() == before[1]
    assert (asked.revision.blocked == before[2]).all()


def test_the_log_names_the_ablation() -> None:
    assert "closing" not in session(Closing.INCREMENTAL).log
    assert session(Closing.OFF).log["closing"] == "off"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(case=cases())
def test_per_document_labels_are_those_of_the_closure_over_the_same_answers(
    protocol: Protocol, case: tuple[Document, Prediction]
) -> None:
    document, prediction = case
    asked = Session(document, prediction, protocol=protocol, closing=Closing.PER_DOCUMENT, budget=Budget(questions=4))
    list(annotate(asked, GoldAnnotator(document)))
    closed = Session(document, prediction, protocol=protocol)
    closed.replay({**asked.log, "closing": None})
    assert asked.relabelled().clusters == closed.relabelled().clusters


@pytest.mark.parametrize("closing", ABLATIONS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(case=cases(committee=True))
def test_every_direct_answer_is_respected(
    closing: Closing, protocol: Protocol, case: tuple[Document, Prediction]
) -> None:
    document, prediction = case
    asked = Session(document, prediction, protocol=protocol, closing=closing)
    turns = list(annotate(asked, GoldAnnotator(document)))
    owner = {span: number for number, cluster in enumerate(asked.relabelled().clusters) for span in cluster}
    assert len({(turn.question.mention, turn.question.antecedent) for turn in turns}) == len(turns)
    for turn in turns:
        mention, antecedent = turn.question.mention, turn.question.antecedent
        if antecedent is None or turn.answer.same is None:
            continue
        same = mention in owner and owner[mention] == owner.get(antecedent)
        assert same == turn.answer.same


@given(case=cases())
def test_retraining_keeps_the_answers(case: tuple[Document, Prediction]) -> None:
    document, prediction = case
    asked = Session(document, prediction, closing=Closing.OFF, budget=Budget(questions=3))
    list(annotate(asked, GoldAnnotator(document)))
    rows = asked.revision.rows.copy()
    asked.use(prediction)
    assert (asked.revision.rows == rows).all()

"""The ablation of the closure: what a session does when nothing follows from an answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from corefine.annotation.annotators import GoldAnnotator, annotate
from corefine.annotation.log import Budget
from corefine.annotation.question import Answer, Protocol, Reply
from corefine.annotation.revision import Revision
from corefine.annotation.selectors import Entropy, LccMcu
from corefine.annotation.session import Session
from corefine.document import Document, Span
from corefine.links import Must
from corefine.prediction import Prediction
from corefine.simulation.ablation import CLOSURES, NoClosure, PerDocumentClosure
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
ABLATIONS = [PerDocumentClosure, NoClosure]


def session(closure: type[Revision]) -> Session:
    return Session(DOCUMENT, ROWS, closure=closure)


@pytest.mark.parametrize("closure", ABLATIONS)
def test_an_answer_changes_only_the_row_of_its_mention(closure: type[Revision]) -> None:
    asked = session(closure)
    before = asked.revision.rows.copy()
    question = asked.next_question()
    assert question is not None
    assert question.mention == D
    asked.answer(Answer.no(Reply.FIRST, B))
    changed = np.flatnonzero((asked.revision.rows != before).any(axis=1)).tolist()
    assert changed == [3]
    with_closure = session(Revision)
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
    for name, closure in CLOSURES.items():
        asked = Session(DOCUMENT, rows, closure=closure, selector=Entropy(clustered=False), budget=Budget(questions=1))
        question = asked.next_question()
        assert question is not None
        assert (question.mention, question.antecedent) == (D, C)
        asked.answer(Answer.no(Reply.FIRST, B))
        relabelled[name] = asked.relabelled().clusters
    assert relabelled["incremental"] == relabelled["per-document"] == ((A, C), (B, D))
    assert relabelled["off"] == ((B, D),)  # C's row still prefers B, which its no to D forbids: C stays alone


@pytest.mark.parametrize("closure", ABLATIONS)
def test_undo_leaves_no_trace(closure: type[Revision]) -> None:
    asked = session(closure)
    asked.next_question()
    before = asked.revision.rows.copy(), asked.revision.clusters(), asked.revision.blocked.copy()
    asked.answer(Answer.no(Reply.FIRST, A))
    asked.undo()
    assert (asked.revision.rows == before[0]).all()
    assert asked.revision.clusters() == before[1]
    assert (asked.revision.blocked == before[2]).all()


def test_an_ablation_follows_no_edits() -> None:
    with pytest.raises(NotImplementedError, match="not edits"):
        session(NoClosure).edit([Must(A, C)])


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(case=cases())
def test_per_document_labels_are_those_of_the_closure_over_the_same_answers(
    protocol: Protocol, case: tuple[Document, Prediction]
) -> None:
    document, prediction = case
    asked = Session(document, prediction, protocol=protocol, closure=PerDocumentClosure, budget=Budget(questions=4))
    list(annotate(asked, GoldAnnotator(document)))
    closed = Session(document, prediction, protocol=protocol)
    closed.replay(asked.log)
    assert asked.relabelled().clusters == closed.relabelled().clusters


@pytest.mark.parametrize("closure", ABLATIONS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(case=cases(committee=True))
def test_every_direct_answer_is_respected(
    closure: type[Revision], protocol: Protocol, case: tuple[Document, Prediction]
) -> None:
    document, prediction = case
    asked = Session(document, prediction, protocol=protocol, closure=closure)
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
    asked = Session(document, prediction, closure=NoClosure, budget=Budget(questions=3))
    list(annotate(asked, GoldAnnotator(document)))
    rows = asked.revision.rows.copy()
    asked.use(prediction)
    assert (asked.revision.rows == rows).all()


@given(case=cases())
def test_scores_follow_the_cluster_of_the_own_mention(case: tuple[Document, Prediction]) -> None:
    document, prediction = case
    asked = Session(document, prediction, closure=NoClosure, selector=LccMcu())
    for _ in annotate(asked, GoldAnnotator(document)):
        question = asked.next_question()
        asked.use(prediction)
        assert asked.next_question() == question

"""Laws of sessions, on random documents and predictions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corefine.annotation.annotators import GoldAnnotator, annotate
from corefine.annotation.question import Answer, Protocol, Question, Reply
from corefine.annotation.selectors import SELECTORS, PairwiseEntropy, make_selector
from corefine.annotation.session import Session
from corefine.document import Document, Span
from corefine.errors import (
    AnswerError,
)
from corefine.prediction import Prediction
from helpers.making import cases
from helpers.sessions import ask, state_of


def choices(session: Session, data: st.DataObject) -> Answer:
    """Any answer at all that a person could send."""
    spans = st.sampled_from([*session.revision.prediction.spans, Span(0, 1), Span(1, 3), Span(0, 10_000)])
    reply = data.draw(st.sampled_from([None, *Reply]))
    span = data.draw(spans) if reply not in (None, Reply.NOT_A_MENTION, Reply.UNSURE) else None
    same = data.draw(st.sampled_from([True, False, None]))
    if same is None and reply is None:
        return Answer.unsure()
    question = ask(session)
    struck = data.draw(st.sets(st.sampled_from(question.mentions))) if question.group else ()
    equal = session.equal_to(question.mention)
    also = data.draw(st.sets(st.sampled_from(equal))) if equal and reply is Reply.BOUNDARIES else ()
    same = None if same is True and reply is not None else same
    return Answer(same=same, reply=reply, span=span, struck=tuple(struck), also=tuple(also))


@given(cases(most=10), st.data(), st.sampled_from([p for p in Protocol if p is not Protocol.GROUP]), st.booleans())
def test_whatever_is_done_the_log_brings_it_back(
    case: tuple[Document, Prediction], data: st.DataObject, protocol: Protocol, infer_first: bool
) -> None:
    document, prediction = case
    words = tuple(f"word{token % 3}" for token in range(len(document)))  # so that there are groups
    settings: dict[str, Any] = {"protocol": protocol, "infer_first": infer_first, "groups": True}
    document = replace(document, tokens=words)
    session = Session(document, prediction, **settings)
    for _ in range(data.draw(st.integers(0, 12))):
        before = state_of(session)
        try:
            match data.draw(st.sampled_from(["answer", "answer", "answer", "undo", "redo", "withdraw"])):
                case "answer":
                    question = session.next_question()
                    if question is not None:
                        session.answer(choices(session, data))
                case "withdraw":
                    session.withdraw(data.draw(st.integers(1, 12)))
                case "undo":
                    session.undo()
                case "redo":
                    session.redo()
        except AnswerError:
            assert state_of(session) == before
    again = Session(document, prediction, **settings)
    log = json.loads(json.dumps(session.log))
    again.replay(log)
    assert state_of(again) == state_of(session)
    assert again.log == session.log
    assert again.seconds == session.seconds


@given(cases(committee=True), st.sampled_from(sorted(SELECTORS)), st.booleans(), st.booleans(), st.booleans())
def test_a_faultless_annotator_asked_to_the_end_gives_gold_over_what_was_asked(
    case: tuple[Document, Prediction], selector: str, clustered: bool, nearest: bool, infer_first: bool
) -> None:
    document, prediction = case
    protocol = Protocol.PAIRWISE if selector == "pairwise-entropy" else Protocol.DISCRETE
    session = Session(
        document,
        prediction,
        protocol=protocol,
        selector=make_selector(selector, clustered=clustered),
        infer_first=infer_first and not nearest,
    )
    asked: set[Span] = set()
    for turn in annotate(session, GoldAnnotator(document, nearest=nearest)):
        asked.add(turn.question.mention)
        assert_nothing_violated(session)
    if protocol is Protocol.PAIRWISE or nearest:
        return  # a chain of pairs or of nearest antecedents may run through a mention that was not asked about
    gold = {span: number for number, cluster in enumerate(document.clusters) for span in cluster}
    home = {span: number for number, cluster in enumerate(session.relabelled().clusters) for span in cluster}
    assert session.open_mentions == 0
    for x in asked:
        for y in asked - {x}:
            assert (x in home and home[x] == home.get(y)) == (x in gold and gold[x] == gold.get(y))


def assert_nothing_violated(session: Session) -> None:
    """What was answered holds in the relabelled document."""
    home = {span: number for number, cluster in enumerate(session.relabelled().clusters) for span in cluster}
    for answered in session.answers:
        mention, antecedent = answered.question.mention, answered.question.antecedent
        if antecedent is not None:
            assert (mention in home and home[mention] == home.get(antecedent)) == answered.answer.same
        span = answered.answer.span
        if span == mention and mention in home:
            assert session.relabelled().clusters[home[mention]][0] == mention
        elif span is not None and span != mention:
            assert home[span] == home[mention]


@given(cases(), st.integers(0, 2**16))
def test_a_pair_is_asked_about_once(case: tuple[Document, Prediction], seed: int) -> None:
    document, prediction = case
    session = Session(document, prediction, protocol=Protocol.PAIRWISE, selector=PairwiseEntropy())
    pairs = [
        (turn.question.antecedent, turn.question.mention)
        for turn in annotate(session, Unreliable(GoldAnnotator(document), seed))
    ]
    assert len(pairs) == len(set(pairs))


class Unreliable:
    """Passes now and then."""

    def __init__(self, annotator: GoldAnnotator, seed: int) -> None:
        self._annotator = annotator
        self._rng = np.random.default_rng(seed)

    def answer(self, question: Question) -> Answer:
        return Answer.unsure() if self._rng.random() < 0.3 else self._annotator.answer(question)


@given(cases(committee=True), st.data())
def test_a_new_prediction_keeps_every_answer(case: tuple[Document, Prediction], data: st.DataObject) -> None:
    document, prediction = case
    session = Session(document, prediction)
    turns = annotate(session, GoldAnnotator(document))
    for _ in range(data.draw(st.integers(0, 5))):
        next(turns, None)
    answers = session.answers
    session.use(Prediction(prediction.spans, prediction.candidates, np.asarray(prediction.members)[0]))
    assert session.answers == answers
    assert_nothing_violated(session)
    question = session.next_question()
    assert question is None or question.mention not in {answered.question.mention for answered in answers}

from __future__ import annotations

import pytest

from corefine.annotation.log import Budget
from corefine.annotation.question import Protocol
from corefine.document import Document
from corefine.models import rules as by_rules
from corefine.prediction import Prediction
from corefine.simulation.asking import annotate_document, annotator_of
from corefine.simulation.baselines import buy, full_seconds
from corefine.simulation.budget import budget_of, own_budget, shares
from helpers.small import rules, stories

DOCUMENTS = stories().train[:4]
PREDICTIONS = [by_rules.predict(document) for document in DOCUMENTS]


def still() -> float:
    return 0.0


def test_a_budget_is_for_each_document_or_each_thousand_tokens() -> None:
    document = DOCUMENTS[0]
    assert own_budget(document, rules(questions=7, per="document")) == Budget(questions=7)
    assert own_budget(document, rules(questions=50)) == Budget(questions=round(50 * len(document) / 1000))
    seconds = own_budget(document, rules(questions=None, seconds=600))
    assert seconds.questions is None
    assert seconds.seconds == pytest.approx(600 * len(document) / 1000)


@pytest.mark.parametrize(("document", "prediction"), list(zip(DOCUMENTS, PREDICTIONS, strict=True)))
def test_pairwise_has_the_time_that_discrete_takes(document: Document, prediction: Prediction) -> None:
    discrete, pairwise = rules(), rules(protocol="pairwise")
    spent = annotate_document(document, prediction, discrete, own_budget(document, discrete), still).seconds
    budget = budget_of(document, prediction, annotator_of(document, pairwise), pairwise)
    assert budget == Budget(seconds=spent)
    annotation = annotate_document(document, prediction, pairwise, budget, still)
    assert spent <= annotation.seconds < spent + pairwise.cost.initial  # it ends with the question that uses it up
    assert {row["protocol"] for row in annotation.rows} == {Protocol.PAIRWISE}


def test_pairwise_may_have_its_own_budget() -> None:
    config = rules(protocol="pairwise", equal_time=False, questions=5, per="document")
    annotator = annotator_of(DOCUMENTS[0], config)
    assert budget_of(DOCUMENTS[0], PREDICTIONS[0], annotator, config) == Budget(questions=5)


def test_documents_that_are_not_read_leave_their_budget_to_those_that_are() -> None:
    config = rules(read_at_most=2)
    found = shares(DOCUMENTS, PREDICTIONS, config)
    assert sum(share > 0 for share in found) == 2
    spread = sum(share * len(document) for share, document in zip(found, DOCUMENTS, strict=True))
    assert spread == pytest.approx(sum(map(len, DOCUMENTS)))
    assert shares(DOCUMENTS, PREDICTIONS, rules(read_at_most=9)) == (1.0,) * 4


def test_whole_documents_are_bought_with_what_questions_would_have_cost() -> None:
    config = rules(protocol="full", questions=100)
    hours = 0.0
    for document, prediction in zip(DOCUMENTS, PREDICTIONS, strict=True):
        hours += budget_of(document, prediction, annotator_of(document, config), config).seconds or 0.0
    purchase = buy(DOCUMENTS, PREDICTIONS, config, left=0.0)
    spent = sum(annotation.seconds for annotation in purchase.annotations)
    assert spent + purchase.left == pytest.approx(hours)
    assert purchase.left < full_seconds(PREDICTIONS[len(purchase.annotations)], config)
    assert spent == pytest.approx(28.01 * sum(map(len, PREDICTIONS[: len(purchase.annotations)])))
    richer = buy(DOCUMENTS, PREDICTIONS, config, left=1e6)
    assert len(richer.annotations) == 4
    for annotation, document in zip(richer.annotations, DOCUMENTS, strict=True):
        assert annotation.lesson.full
        assert annotation.lesson.document.clusters == document.without_singletons().clusters

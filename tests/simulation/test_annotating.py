from __future__ import annotations

import json
from typing import Any

import pytest

from corefine.annotation.labels import Labels
from corefine.annotation.log import Budget
from corefine.annotation.question import Protocol
from corefine.document import Document
from corefine.errors import ConfigError
from corefine.models import rules as by_rules
from corefine.prediction import Prediction
from corefine.simulation.annotating import annotate_document, budget_of, label_fully, session_of, shares
from corefine.simulation.rows import QuestionRow
from helpers.small import rules, stories

DOCUMENTS = stories().train[:4]
PREDICTIONS = [by_rules.predict(document) for document in DOCUMENTS]
DOCUMENT, PREDICTION = DOCUMENTS[0], PREDICTIONS[0]
NO_LIMIT = Budget()


def test_a_row_tells_all_about_a_question() -> None:
    annotation = annotate_document(DOCUMENT, PREDICTION, rules(), Budget(questions=3))
    assert len(annotation.rows) == 3
    for number, row in enumerate(annotation.rows, start=1):
        assert row.document == DOCUMENT.key
        assert row.answered.number == number
        assert row.answered.question.score >= 0
        assert row.answered.seconds == (15.96 if row.answered.answer.same else 15.96 + 15.57)
        assert row.pairs >= 1
        assert not row.passed
    assert annotation.seconds == pytest.approx(sum(row.answered.seconds for row in annotation.rows))


def test_with_all_questions_answered_the_labels_are_gold_for_what_the_model_can_see() -> None:
    annotation = annotate_document(DOCUMENT, PREDICTION, rules(), NO_LIMIT)
    gold = {span: cluster for cluster in DOCUMENT.clusters for span in cluster}
    asked = {row.answered.question.mention for row in annotation.rows}
    for cluster in annotation.lesson.document.clusters:
        entities = {gold.get(span) for span in cluster if span in asked}
        assert len(entities) == 1
    assert annotation.after.scores.conll_f1 > annotation.before.scores.conll_f1 + 20


def test_groups_are_asked_about_once_at_their_own_cost_and_kept_in_the_rows() -> None:
    document = Document.from_sentences("told", [["Nora", "Pell", word, "."] for word in ("slept", "ate", "left")])
    document = document.with_clusters([[(0, 1), (4, 5), (8, 9)]])
    annotation = annotate_document(document, by_rules.predict(document), rules(groups=True), NO_LIMIT)
    [row] = annotation.rows
    assert row.answered.question.protocol is Protocol.GROUP
    assert annotation.seconds == pytest.approx(15.96 + 3 * 2.0)
    assert annotation.lesson.document.clusters == document.clusters
    assert QuestionRow.from_json(json.loads(json.dumps(row.to_json()))) == row
    with pytest.raises(ConfigError, match="incremental"):
        rules(groups=True, closure="off")


def test_more_questions_than_mentions_ends_when_all_is_asked() -> None:
    annotation = annotate_document(DOCUMENT, PREDICTION, rules(), Budget(questions=10_000))
    assert len(annotation.rows) < len(PREDICTION)


def test_a_document_with_one_mention_or_none_has_no_questions() -> None:
    for words in (["Anna", "slept", "."], ["."]):
        document = Document.from_sentences("one", [words], [[(0, 0)]])
        annotation = annotate_document(document, by_rules.predict(document), rules(), NO_LIMIT)
        assert annotation.rows == ()
        assert annotation.lesson.document.clusters == ()


def test_who_contradicts_himself_passes_and_his_time_counts() -> None:
    config = rules(error_rate=0.4)
    annotation = annotate_document(DOCUMENT, PREDICTION, config, NO_LIMIT)
    passed = [row for row in annotation.rows if row.passed]
    assert passed  # with so many errors some answers contradict
    for row in passed:
        assert row.pairs == len(row.settled) == 0
        assert row.answered.seconds >= 15.96
    assert annotation.seconds == pytest.approx(sum(row.answered.seconds for row in annotation.rows))


def test_a_lesson_survives_json() -> None:
    for protocol in ("discrete", "pairwise", "follow-up"):
        annotation = annotate_document(DOCUMENT, PREDICTION, rules(protocol=protocol), Budget(questions=20))
        assert Labels.from_json(annotation.lesson.to_json(), DOCUMENT) == annotation.lesson


def test_a_lesson_says_what_people_said_and_how_sure_the_rest_is() -> None:
    session = session_of(DOCUMENT, PREDICTION, rules(), Budget(questions=25))
    annotation = annotate_document(DOCUMENT, PREDICTION, rules(), Budget(questions=25))
    lesson = annotation.lesson
    assert lesson.together
    assert lesson.first
    assert all(one < other for one, other in lesson.apart)
    assert all(0.0 <= chance <= 1.0 for _, chance in lesson.certainty)
    listed = {span for span, _ in lesson.certainty}
    said = {span for group in lesson.together for span in group[1:]} | set(lesson.first)
    assert not listed & said
    assert len(listed) < len(session.revision.prediction)


def test_a_budget_is_for_each_document_or_each_thousand_tokens() -> None:
    thousands = len(DOCUMENT) / 1000
    for settings, expected in (
        ({"questions": 7, "per": "document"}, Budget(questions=7)),
        ({"questions": 50}, Budget(questions=round(50 * thousands))),
        ({"questions": None, "seconds": 600}, Budget(seconds=600 * thousands)),
    ):
        assert budget_of(DOCUMENT, PREDICTION, rules(**settings)) == expected


@pytest.mark.parametrize(("document", "prediction"), list(zip(DOCUMENTS, PREDICTIONS, strict=True)))
def test_pairwise_has_the_time_that_discrete_takes(document: Document, prediction: Prediction) -> None:
    discrete, pairwise = rules(), rules(protocol="pairwise")
    spent = annotate_document(document, prediction, discrete, budget_of(document, prediction, discrete)).seconds
    budget = budget_of(document, prediction, pairwise)
    assert budget == Budget(seconds=spent)
    annotation = annotate_document(document, prediction, pairwise, budget)
    assert spent <= annotation.seconds < spent + pairwise.cost.initial  # it ends with the question that uses it up
    assert {row.answered.question.protocol for row in annotation.rows} == {Protocol.PAIRWISE}


@pytest.mark.parametrize(
    "arm",
    [
        {"selector": "random"},
        {"selector": "lcc-mcu"},
        {"clustered": False},
        {"closure": "per-document"},
        {"protocol": "follow-up"},
        {"error_rate": 0.2},
        {"nearest": True},
    ],
)
def test_every_arm_has_the_same_time(arm: dict[str, Any]) -> None:
    """Before, only pairwise had: unclustered had 60.6 hours where discrete had 69.0."""
    discrete, other = rules(), rules(**arm)
    spent = annotate_document(DOCUMENT, PREDICTION, discrete, budget_of(DOCUMENT, PREDICTION, discrete)).seconds
    assert budget_of(DOCUMENT, PREDICTION, other) == Budget(seconds=spent)
    for way in ("pairwise", "off"):
        questions = budget_of(DOCUMENT, PREDICTION, other.with_changes(equal_time=way))
        assert questions == budget_of(DOCUMENT, PREDICTION, discrete)


def test_gold_labels_of_everything_need_no_budget() -> None:
    labelled, left = label_fully(DOCUMENTS, PREDICTIONS, rules(protocol="gold", questions=0), left=0.0)
    assert len(labelled) == len(DOCUMENTS)
    assert left == 0.0
    assert sum(each.seconds for each in labelled) == pytest.approx(28.01 * sum(map(len, PREDICTIONS)))


def test_pairwise_may_have_its_own_budget() -> None:
    config = rules(protocol="pairwise", equal_time="off", questions=5, per="document")
    assert budget_of(DOCUMENT, PREDICTION, config) == Budget(questions=5)


def test_documents_that_are_not_read_leave_their_budget_to_those_that_are() -> None:
    config = rules(read_at_most=2)
    found = shares(DOCUMENTS, PREDICTIONS, config)
    assert sum(share > 0 for share in found) == 2
    spread = sum(share * len(document) for share, document in zip(found, DOCUMENTS, strict=True))
    assert spread == pytest.approx(sum(map(len, DOCUMENTS)))
    assert shares(DOCUMENTS, PREDICTIONS, rules(read_at_most=9)) == (1.0,) * 4


def test_whole_documents_are_bought_with_what_questions_would_have_cost() -> None:
    config = rules(protocol="full", questions=100)
    seconds = sum(budget_of(*pair, config).seconds or 0.0 for pair in zip(DOCUMENTS, PREDICTIONS, strict=True))
    labelled, left = label_fully(DOCUMENTS, PREDICTIONS, config, left=0.0)
    spent = sum(annotation.seconds for annotation in labelled)
    assert spent + left == pytest.approx(seconds)
    assert left < 28.01 * len(PREDICTIONS[len(labelled)])
    assert spent == pytest.approx(28.01 * sum(map(len, PREDICTIONS[: len(labelled)])))
    labelled, _ = label_fully(DOCUMENTS, PREDICTIONS, config, left=1e6)
    for annotation, document in zip(labelled, DOCUMENTS, strict=True):
        assert annotation.lesson.full
        assert annotation.lesson.document.clusters == document.without_singletons().clusters


def test_mentions_alone_are_asked_about_at_their_own_cost_and_taught() -> None:
    config = rules(protocol="mentions", selector="random", questions=8, per="document", equal_time="off")
    annotation = annotate_document(DOCUMENT, PREDICTION, config, budget_of(DOCUMENT, PREDICTION, config))
    assert len(annotation.rows) == 8
    assert annotation.seconds == pytest.approx(8 * config.cost.mention)
    gold = {span for cluster in DOCUMENT.clusters for span in cluster}
    asked = {row.answered.question.mention for row in annotation.rows}
    assert set(annotation.lesson.mentions) == asked & gold
    assert set(annotation.lesson.no_mentions) == asked - gold
    assert annotation.lesson.mentions
    assert not annotation.lesson.together


def test_a_document_ends_when_the_model_is_sure_of_the_rest() -> None:
    asked = []
    for least_gain in (0.0, 0.3, 1.0):
        config = rules(least_gain=least_gain, questions=1000, per="document", equal_time="off")
        budget = budget_of(DOCUMENT, PREDICTION, config)
        assert budget.least_gain == least_gain
        asked.append(len(annotate_document(DOCUMENT, PREDICTION, config, budget).rows))
    assert asked[0] > asked[1] > asked[2] == 0


def test_a_document_ends_when_an_hour_would_bring_too_little() -> None:
    asked = []
    for per_hour in (0.0, 50.0, 110.0):
        config = rules(least_per_hour=per_hour, questions=1000, per="document", equal_time="off")
        budget = budget_of(DOCUMENT, PREDICTION, config)
        asked.append(len(annotate_document(DOCUMENT, PREDICTION, config, budget).rows))
    assert asked[0] > asked[1] > asked[2]

from __future__ import annotations

import time

import pytest

from corefine.annotation.labels import Labels
from corefine.annotation.log import Budget
from corefine.document import Document
from corefine.models import rules as by_rules
from corefine.simulation.asking import annotate_document, session_of
from helpers.small import rules, stories

DOCUMENT = stories().train[0]
PREDICTION = by_rules.predict(DOCUMENT)
NO_LIMIT = Budget()


def test_a_row_tells_all_about_a_question() -> None:
    annotation = annotate_document(DOCUMENT, PREDICTION, rules(), Budget(questions=3), time.perf_counter)
    assert len(annotation.rows) == 3
    for number, row in enumerate(annotation.rows, start=1):
        assert row["document"] == DOCUMENT.key
        assert row["number"] == number
        assert row["score"] >= 0
        assert row["seconds"] == (15.96 if row["same"] else 15.96 + 15.57)
        assert row["pairs"] >= 1
        assert "passed" not in row
    assert annotation.seconds == pytest.approx(sum(row["seconds"] for row in annotation.rows))


def test_with_all_questions_answered_the_labels_are_gold_for_what_the_model_can_see() -> None:
    annotation = annotate_document(DOCUMENT, PREDICTION, rules(), NO_LIMIT, time.perf_counter)
    gold = {span: cluster for cluster in DOCUMENT.clusters for span in cluster}
    asked = {tuple(row["mention"]) for row in annotation.rows}
    for cluster in annotation.lesson.document.clusters:
        entities = {gold.get(span) for span in cluster if tuple(span) in asked}
        assert len(entities) == 1
    assert annotation.after.scores.conll_f1 > annotation.before.scores.conll_f1 + 20


def test_more_questions_than_mentions_ends_when_all_is_asked() -> None:
    annotation = annotate_document(DOCUMENT, PREDICTION, rules(), Budget(questions=10_000), time.perf_counter)
    assert len(annotation.rows) < len(PREDICTION)


def test_a_document_with_one_mention_or_none_has_no_questions() -> None:
    for words in (["Anna", "slept", "."], ["."]):
        document = Document.from_sentences("one", [words], [[(0, 0)]])
        annotation = annotate_document(document, by_rules.predict(document), rules(), NO_LIMIT, time.perf_counter)
        assert annotation.rows == []
        assert annotation.lesson.document.clusters == ()


def test_who_contradicts_himself_passes_and_his_time_counts() -> None:
    config = rules(error_rate=0.4)
    annotation = annotate_document(DOCUMENT, PREDICTION, config, NO_LIMIT, time.perf_counter)
    passed = [row for row in annotation.rows if row.get("passed")]
    assert passed  # with so many errors some answers contradict
    for row in passed:
        assert row["pairs"] == row["settled"] == 0
        assert row["seconds"] >= 15.96
    assert annotation.seconds == pytest.approx(sum(row["seconds"] for row in annotation.rows))


def test_a_lesson_survives_json() -> None:
    for protocol in ("discrete", "pairwise", "follow-up"):
        annotation = annotate_document(
            DOCUMENT, PREDICTION, rules(protocol=protocol), Budget(questions=20), time.perf_counter
        )
        assert Labels.from_json(annotation.lesson.to_json(), DOCUMENT) == annotation.lesson


def test_a_lesson_says_what_people_said_and_how_sure_the_rest_is() -> None:
    session = session_of(DOCUMENT, PREDICTION, rules(), Budget(questions=25))
    annotation = annotate_document(DOCUMENT, PREDICTION, rules(), Budget(questions=25), time.perf_counter)
    lesson = annotation.lesson
    assert lesson.together
    assert lesson.first
    assert all(one < other for one, other in lesson.apart)
    assert all(0.0 <= chance <= 1.0 for _, chance in lesson.certainty)
    listed = {span for span, _ in lesson.certainty}
    said = {span for group in lesson.together for span in group[1:]} | set(lesson.first)
    assert not listed & said
    assert len(listed) < len(session.revision.prediction)

"""The random sample of mentions, the questions about it, and the share of mentions to link that follows from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from corefine.annotation.annotators import GoldAnnotator
from corefine.annotation.labels import Labels
from corefine.annotation.question import Answer, Reply
from corefine.annotation.sampling import (
    CAUTION,
    PRIOR,
    LinkSample,
    link_rate,
    link_sample,
    sample_order,
    sampling_phase,
)
from corefine.annotation.selectors import Entropy, Sampled, make_selector
from corefine.annotation.session import Session
from corefine.corpora import stories
from corefine.models import rules

STORY = stories.load()[0]
PREDICTION = rules.predict(STORY)


def session(sample: float) -> Session:
    return Session(STORY.with_clusters([]), PREDICTION, selector=make_selector("entropy", sample=sample))


def test_the_order_depends_on_each_span_alone() -> None:
    spans = PREDICTION.spans
    order = [spans[row] for row in sample_order(spans)]
    assert sorted(order) == sorted(spans)
    assert order != sorted(spans)
    some = spans[::2]
    assert [some[row] for row in sample_order(some)] == [span for span in order if span in set(some)]


def test_a_share_of_the_questions_is_about_the_next_mention_of_the_sample() -> None:
    asking, plain = session(0.25), session(0.0)
    gold = GoldAnnotator(STORY)
    phase = sampling_phase(PREDICTION.spans)
    sampled = [int(phase + (number + 1) / 4) > int(phase + number / 4) for number in range(20)]
    assert sum(sampled) == 5
    for number in range(20):
        expected = plain.next_question()
        question = asking.next_question()
        assert question is not None
        assert expected is not None
        if sampled[number]:
            order = sample_order(PREDICTION.spans)
            allowed = asking._chooser.open_rows()
            assert question.mention == PREDICTION.spans[next(row for row in order if allowed[row])]
        else:
            assert question.mention == expected.mention
        answer = gold.answer(question)
        asking.answer(answer)
        plain = Session(STORY.with_clusters([]), PREDICTION, selector=Entropy())
        plain.replay({**plain.log, "events": asking.log["events"]})


def test_what_is_known_of_the_sample_is_what_gold_says() -> None:
    asked = session(0.5)
    gold = GoldAnnotator(STORY)
    while (question := asked.next_question()) is not None:
        asked.answer(gold.answer(question))
    found = link_sample(asked)
    first = {min(cluster) for cluster in STORY.clusters}
    mentions = {span for cluster in STORY.clusters for span in cluster}
    assert found.known == found.rows == len(PREDICTION)  # everything is settled
    assert found.linked == sum(span in mentions - first for span in PREDICTION.spans)
    assert found.expected == sum(row[0] < PREDICTION.threshold for row in PREDICTION.probabilities)
    assert found.predicted == found.expected


def test_an_unsure_answer_is_left_out_and_an_open_mention_ends_the_sample() -> None:
    asked = session(0.999)
    before = link_sample(asked).known
    question = asked.next_question()
    assert question is not None
    asked.answer(Answer(same=False, reply=Reply.UNSURE))
    assert link_sample(asked).known >= before
    question = asked.next_question()
    assert question is not None
    asked.answer(Answer(same=False, reply=Reply.FIRST, span=question.mention))
    assert link_sample(asked).known > before


def test_the_rate_lies_between_the_model_s_own_and_the_sample_s() -> None:
    assert link_rate([]) is None
    assert link_rate([LinkSample(100, 30, 0, 0, 0)]) == pytest.approx(0.3)
    many = link_rate([LinkSample(100, 10, 50_000, 25_000, 5_000), LinkSample(100, 10, 50_000, 25_000, 5_000)])
    assert many == pytest.approx(0.5 * CAUTION, abs=1e-3)
    few = link_rate([LinkSample(100, 10, int(PRIOR), 9, 3)])
    assert few == pytest.approx((CAUTION * 0.3 + 0.1) / 2)
    lucky = link_rate([LinkSample(100, 10, 1000, 300, 300)])  # the model expected what the sample has too much of
    assert lucky == pytest.approx(0.1 * CAUTION, abs=1e-2)


def test_labels_keep_the_sample_in_json() -> None:
    labels = Labels.from_session(session(0.1))
    assert labels.sample is not None
    assert Labels.from_json(labels.to_json(), STORY) == labels
    assert Labels.from_json(replace(labels, sample=None).to_json(), STORY).sample is None


def test_random_questions_are_a_sample_already() -> None:
    assert not isinstance(make_selector("random", sample=0.5, seed=1), Sampled)
    assert make_selector("entropy", sample=0.5).name == "entropy"
    assert np.array_equal(sample_order([]), np.zeros(0))

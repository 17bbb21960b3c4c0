"""The random order of mentions, and the questions that follow it."""

from __future__ import annotations

import numpy as np

from corefine.annotation.annotators import GoldAnnotator
from corefine.annotation.sampling import sample_order, sampling_phase
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


def test_random_questions_are_a_sample_already() -> None:
    assert not isinstance(make_selector("random", sample=0.5, seed=1), Sampled)
    assert make_selector("entropy", sample=0.5).name == "entropy"
    assert np.array_equal(sample_order([]), np.zeros(0))

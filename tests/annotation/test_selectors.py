from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from corefine.annotation.revision import Revision
from corefine.annotation.selectors import SELECTORS, Entropy, LccMcu, PairwiseEntropy, Random, make_selector
from corefine.document import Span
from corefine.errors import InputError, PredictionError
from corefine.links import Cannot, Links, Must
from corefine.prediction import Prediction
from helpers.making import prediction_of, predictions


def scores_of(name: str, prediction: Prediction, links: Links | None = None, **settings: object) -> list[float]:
    revision = Revision(prediction, links or Links())
    return make_selector(name, **settings).scores(revision, np.arange(len(prediction))).tolist()


def entropy(*masses: float) -> float:
    return -sum(mass * math.log(mass) for mass in masses if mass)


# The paper's section 4: antecedents y1 and y2 of span i are equally likely. In scenario 1 the model has put them into
# one cluster, in scenario 2 apart.
TOGETHER = prediction_of([{"-": 1.0}, {"-": 0.1, 0: 0.9}, {"-": 0.02, 0: 0.49, 1: 0.49}])
APART = prediction_of([{"-": 1.0}, {"-": 0.9, 0: 0.1}, {"-": 0.02, 0: 0.49, 1: 0.49}])


def test_scenario_1_is_more_certain_than_scenario_2() -> None:
    assert scores_of("entropy", TOGETHER)[2] == pytest.approx(entropy(0.02, 0.98))
    assert scores_of("entropy", APART)[2] == pytest.approx(entropy(0.02, 0.49, 0.49))
    assert scores_of("entropy", TOGETHER)[2] < scores_of("entropy", APART)[2]


def test_unclustered_the_scenarios_look_alike() -> None:
    together, apart = (scores_of("entropy", each, clustered=False)[2] for each in (TOGETHER, APART))
    assert together == apart == pytest.approx(entropy(0.02, 0.49, 0.49))


def test_an_answer_makes_apart_together() -> None:
    links = Links()
    links.add(1, Must(Span(0, 0), Span(1, 1)))
    assert scores_of("entropy", APART, links)[2] == pytest.approx(entropy(0.02, 0.98))


def test_committee_counts_votes_over_clusters() -> None:
    rows = [{"-": 1.0}, {"-": 0.1, 0: 0.9}, {"-": 0.1, 0: 0.45, 1: 0.45}]
    members = [["-", 0, 0], ["-", 0, 1], ["-", "-", "-"]]
    prediction = prediction_of(rows, members=members)
    assert scores_of("committee", prediction) == pytest.approx([0.0, entropy(2 / 3, 1 / 3), entropy(2 / 3, 1 / 3)])
    apart = scores_of("committee", prediction, clustered=False)
    assert apart[2] == pytest.approx(entropy(1 / 3, 1 / 3, 1 / 3))


def test_lcc_asks_the_doubtful_links_first_then_mcu_the_near_ones() -> None:
    prediction = prediction_of(
        [
            {"-": 1.0},
            {"-": 0.1, 0: 0.9},  # clustered, sure
            {"-": 0.6, 0: 0.2, 1: 0.2},  # not clustered: likelier than not it has no antecedent; 0.4 in one cluster
            {"-": 0.4, 2: 0.6},  # clustered, doubtful
            {"-": 0.8, 0: 0.2},  # not clustered, far from it
        ]
    )
    revision = Revision(prediction, Links())
    selector = LccMcu()
    scores = selector.scores(revision, np.arange(5))
    assert scores[[1, 3]].tolist() == pytest.approx([-0.9, -0.6])
    assert scores[[2, 4]].tolist() == pytest.approx([0.4, 0.2])
    allowed = np.array([False, True, True, True, True])
    order = []
    for asked in range(4):
        row = selector.choose(scores, allowed, revision, asked=asked, budget=4)
        assert row is not None
        order.append(row)
        allowed[row] = False
    assert order == [3, 1, 2, 4]
    assert selector.choose(scores, allowed, revision, asked=4, budget=8) is None


def test_lcc_goes_on_with_the_other_kind_when_one_has_run_out() -> None:
    prediction = prediction_of([{"-": 1.0}, {"-": 0.1, 0: 0.9}, {"-": 0.1, 0: 0.9}])
    revision = Revision(prediction, Links())
    scores = LccMcu().scores(revision, np.arange(3))
    # the second half of the budget, but all are clustered
    assert LccMcu().choose(scores, np.array([False, True, True]), revision, asked=9, budget=10) == 1


def test_pairwise_entropy_is_that_of_the_most_uncertain_pair() -> None:
    scores = scores_of("pairwise-entropy", prediction_of([{"-": 1.0}, {"-": 0.5, 0: 0.5}, {"-": 0.1, 0: 0.2, 1: 0.7}]))
    assert scores == pytest.approx([-math.inf, entropy(0.5, 0.5), entropy(0.7, 0.3)])


def test_pairs_that_are_known_or_were_passed_over_do_not_count() -> None:
    prediction = prediction_of([{"-": 1.0}, {"-": 0.5, 0: 0.5}, {"-": 0.2, 0: 0.4, 1: 0.4}])
    links = Links()
    links.add(1, Cannot(Span(0, 0), Span(2, 2)))
    revision = Revision(prediction, links)
    assert PairwiseEntropy().scores(revision, np.array([2]))[0] == pytest.approx(entropy(2 / 3, 1 / 3))
    revision.unsure_pairs[2, 1] = True
    assert PairwiseEntropy().scores(revision, np.array([2]))[0] == -math.inf


def test_mention_and_joint_entropy() -> None:
    rows = prediction_of([{"-": 1.0}, {"-": 0.5, 0: 0.5}])
    prediction = Prediction(rows.spans, rows.candidates, rows.probabilities, mention_scores=np.array([50.0, 0.0]))
    assert scores_of("mention-entropy", prediction) == pytest.approx([0.0, math.log(2)])
    assert scores_of("joint-entropy", prediction) == pytest.approx([0.0, math.log(2) + 0.5 * math.log(2)])
    with pytest.raises(PredictionError, match="scores mentions"):
        scores_of("mention-entropy", rows)


def test_expected_change_is_the_chance_that_two_draws_differ() -> None:
    scores = scores_of("expected-change", prediction_of([{"-": 1.0}, {"-": 0.5, 0: 0.5}, {"-": 0.8, 0: 0.1, 1: 0.1}]))
    assert scores == pytest.approx([0.0, 0.5, 0.34])


def test_density_prefers_mentions_that_others_refer_to() -> None:
    rows = prediction_of([{"-": 1.0}, {"-": 0.5, 0: 0.5}, {"-": 0.5, 0: 0.5}, {"-": 0.0, 2: 1.0}])
    scores = scores_of("density", rows)
    assert scores == pytest.approx([0.0, math.log(2), 2 * math.log(2), 0.0])


def test_random_is_the_same_for_the_same_seed_and_else_differs() -> None:
    prediction = prediction_of([{"-": 1.0}] * 50)
    assert scores_of("random", prediction, seed=1) == scores_of("random", prediction, seed=1)
    assert scores_of("random", prediction, seed=1) != scores_of("random", prediction, seed=2)


def test_random_gives_every_row_the_same_chance() -> None:
    revision = Revision(prediction_of([{"-": 1.0}] * 4), Links())
    allowed = np.array([False, True, True, True])
    chosen = []
    for seed in range(600):
        selector = Random(seed=seed)
        chosen.append(selector.choose(selector.scores(revision, np.arange(4)), allowed, revision, asked=0, budget=None))
    counts = np.bincount(np.array(chosen), minlength=4)
    assert counts[0] == 0
    assert (counts[1:] > 150).all()


def test_ties_go_to_the_first_in_document_order() -> None:
    prediction = prediction_of([{"-": 1.0}, {"-": 0.5, 0: 0.5}, {"-": 0.5, 0: 0.5}])
    revision = Revision(prediction, Links())
    scores = Entropy().scores(revision, np.arange(3))
    assert scores[1] == scores[2]
    assert Entropy().choose(scores, np.array([False, True, True]), revision, asked=0, budget=None) == 1


def test_an_unknown_selector_is_named_and_so_are_the_known() -> None:
    with pytest.raises(InputError, match=r"'best'.*committee.*entropy"):
        make_selector("best")


@given(predictions(committee=True))
def test_every_selector_scores_some_rows_as_it_scores_all(prediction: Prediction) -> None:
    """A selector looks at the rows it is given and no further."""
    revision = Revision(prediction, Links())
    everything = np.arange(len(prediction))
    for make in SELECTORS.values():
        for clustered in (True, False):
            selector = make(clustered=clustered)
            whole = selector.scores(revision, everything)
            assert whole.shape == everything.shape
            assert not np.isnan(whole).any()
            some = everything[::2]
            assert selector.scores(revision, some) == pytest.approx(whole[some])

"""Each rule of revision by example; that updates equal recomputing, as a law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefine.annotation import revision as revision_module
from corefine.annotation.revision import EPSILON, Revision
from corefine.document import Span
from corefine.errors import ContradictionError, PredictionError
from corefine.links import Cannot, First, Links, Must, NotAMention
from corefine.prediction import Prediction
from helpers.making import prediction_of, predictions

A, B, C, D = (Span(i, i) for i in range(4))
PREDICTION = prediction_of(
    [
        {"-": 1.0},
        {"-": 0.5, 0: 0.5},
        {"-": 0.2, 0: 0.3, 1: 0.5},
        {"-": 0.1, 0: 0.4, 1: 0.2, 2: 0.3},
    ]
)


def row_of(revision: Revision, row: int) -> dict[int | str, float]:
    """A row as `prediction_of` takes it, zeros left out."""
    columns = ["-", *revision.prediction.candidates[row].tolist()]
    return {key: value for key, value in zip(columns, revision.rows[row].tolist(), strict=True) if value}


def test_without_links_a_revision_is_the_prediction() -> None:
    revision = Revision(PREDICTION, Links())
    assert np.array_equal(revision.rows, PREDICTION.probabilities)
    assert not revision.settled.any()


def test_cannot_takes_the_mass_off_and_renormalises() -> None:
    links = Links()
    links.add(1, Cannot(A, D))
    assert row_of(Revision(PREDICTION, links), 3) == pytest.approx({"-": 1 / 6, 1: 2 / 6, 2: 3 / 6})


def test_cannot_reaches_what_must_be_one_with_it() -> None:
    links = Links()
    links.add(1, Cannot(A, D))
    links.add(2, Must(A, B))
    assert row_of(Revision(PREDICTION, links), 3) == pytest.approx({"-": 0.25, 2: 0.75})


def test_must_puts_all_mass_on_one_antecedent() -> None:
    links = Links()
    links.add(1, Must(B, D))
    revision = Revision(PREDICTION, links)
    assert row_of(revision, 3) == {1: 1.0}
    assert revision.settled.tolist() == [False, False, False, True]


def test_of_several_must_antecedents_the_most_probable_takes_the_mass() -> None:
    links = Links()
    links.add(1, Must(A, B))
    links.add(2, Must(B, D))
    assert row_of(Revision(PREDICTION, links), 3) == {0: 1.0}


def test_ties_among_must_antecedents_go_to_the_nearest() -> None:
    prediction = prediction_of([{"-": 1.0}, {"-": 1.0, 0: 0.0}, {"-": 0.4, 0: 0.3, 1: 0.3}])
    links = Links()
    links.add(1, Must(A, B))
    links.add(2, Must(A, C))
    assert row_of(Revision(prediction, links), 2) == {1: 1.0}


def test_must_to_a_span_that_is_no_candidate_still_settles_the_row() -> None:
    outside = Span(0, 3)
    links = Links()
    links.add(1, Must(outside, D))
    revision = Revision(PREDICTION, links)
    assert revision.settled[3]
    assert revision.antecedent(3) == outside
    assert row_of(revision, 3) == {}
    assert any({outside, D} <= set(cluster) for cluster in revision.clusters())


def test_a_row_with_nothing_left_goes_to_epsilon() -> None:
    prediction = prediction_of([{"-": 1.0}, {0: 1.0}])
    links = Links()
    links.add(1, Cannot(A, B))
    assert row_of(Revision(prediction, links), 1) == {"-": 1.0}


def test_the_first_appearance_has_no_antecedent() -> None:
    links = Links()
    links.add(1, First(D, D))
    revision = Revision(PREDICTION, links)
    assert row_of(revision, 3) == {"-": 1.0}
    assert revision.settled[3]


@pytest.mark.parametrize("infer", [False, True])
def test_inferring_firsts_settles_the_first_for_free(infer: bool) -> None:
    links = Links(infer_first=infer)
    links.add(1, First(C, D))
    assert Revision(PREDICTION, links).settled.tolist() == [False, False, infer, True]


def test_no_mention_has_no_antecedent_and_is_none() -> None:
    links = Links()
    links.add(1, NotAMention(B))
    revision = Revision(PREDICTION, links)
    assert row_of(revision, 1) == {"-": 1.0}
    assert row_of(revision, 2) == pytest.approx({"-": 0.4, 0: 0.6})
    assert row_of(revision, 3) == pytest.approx({"-": 0.125, 0: 0.5, 2: 0.375})


def test_votes_follow_the_links() -> None:
    members = [["-", "-", 1, 0], ["-", 0, 1, 1], ["-", 0, 0, 2]]
    prediction = prediction_of(
        [{"-": 1.0}, {"-": 0.5, 0: 0.5}, {"-": 0.2, 0: 0.3, 1: 0.5}, {"-": 0.1, 0: 0.4, 1: 0.2, 2: 0.3}],
        members=members,
    )
    links = Links()
    revision = Revision(prediction, links)
    assert revision.votes is not None
    assert revision.votes[2].tolist() == pytest.approx([0.0, 1 / 3, 2 / 3, 0.0])
    revision.update(links.add(1, Cannot(B, C)))
    assert revision.votes[2].tolist() == pytest.approx([0.0, 1 / 3, 0.0, 0.0])
    revision.update(links.add(2, Must(A, D)))
    assert revision.votes[3].tolist() == [0.0, 1.0, 0.0, 0.0]


def test_votes_without_a_committee_are_refused() -> None:
    with pytest.raises(PredictionError, match="committee"):
        Revision(PREDICTION, Links()).masses(np.arange(4), votes=True)


def test_antecedents_that_are_likelier_together_than_epsilon_make_a_link() -> None:
    prediction = prediction_of([{"-": 1.0}, {"-": 0.5, 0: 0.5}, {"-": 0.4, 0: 0.35, 1: 0.25}])
    revision = Revision(prediction, Links())
    assert revision.antecedent(1) is None  # not likelier than not
    assert revision.antecedent(2) == A


def test_masses_add_up_antecedents_of_one_cluster() -> None:
    # Span 2 joins 1 (0.5), so for span 3 antecedents 1 and 2 are one outcome.
    masses = Revision(PREDICTION, Links()).masses(np.array([3]))
    assert sorted(masses.mass.tolist()) == pytest.approx([0.1, 0.4, 0.5])
    apart = Revision(PREDICTION, Links()).masses(np.array([3]), clustered=False)
    assert sorted(apart.mass.tolist()) == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert EPSILON in masses.label


def test_masses_in_blocks_are_the_masses(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.arange(4)
    whole = Revision(PREDICTION, Links()).masses(rows)
    monkeypatch.setattr("corefine.annotation.revision.MOST_BINS", 6)
    parts = Revision(PREDICTION, Links()).masses(rows)
    assert np.array_equal(whole.row, parts.row)
    assert np.array_equal(whole.label, parts.label)
    assert np.array_equal(whole.mass, parts.mass)


@given(predictions())
def test_masses_of_few_bins_are_the_masses(prediction: Prediction) -> None:
    """For a novel, only the bins that occur are made. The sums are the same to the last bit."""
    found = []
    for sparse_from in (0, 1_000_000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(revision_module, "SPARSE_FROM", sparse_from)
            found.append(Revision(prediction, Links()).masses(np.arange(len(prediction))))
    for name in ("row", "label", "mass"):
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))


@given(predictions(committee=True), st.data(), st.booleans())
def test_following_changes_equals_starting_anew(prediction: Prediction, data: st.DataObject, infer_first: bool) -> None:
    """Answers and withdrawals in any order: rows, votes, masses and clusters are those of a fresh revision."""
    links = Links(infer_first=infer_first)
    followed = Revision(prediction, links)
    spans = [*prediction.spans, Span(0, 1), Span(2, 4)]
    everything = np.arange(len(prediction))
    for number in range(data.draw(st.integers(0, 12))):
        a, b = data.draw(st.sampled_from(spans)), data.draw(st.sampled_from(spans))
        kind = data.draw(st.sampled_from(["must", "cannot", "first", "none", "withdraw"]))
        dirty = everything[:0]
        before = followed.masses(everything)
        try:
            if kind == "withdraw":
                standing = list(links.answers())
                if standing:
                    dirty = followed.update(links.withdraw(data.draw(st.sampled_from(standing))))
            elif kind == "none":
                dirty = followed.update(links.add(number, NotAMention(a)))
            elif kind == "first":
                dirty = followed.update(links.add(number, First(min(a, b), max(a, b))))
            elif a != b:
                dirty = followed.update(links.add(number, Must(a, b) if kind == "must" else Cannot(a, b)))
        except ContradictionError:
            pass
        fresh = Revision(prediction, links)
        assert np.array_equal(followed.rows, fresh.rows)
        assert np.array_equal(followed.votes, fresh.votes)  # type: ignore[arg-type]  # a committee has votes
        assert np.array_equal(followed.blocked, fresh.blocked)
        assert np.array_equal(followed.settled, fresh.settled)
        assert followed.clusters() == fresh.clusters()
        entropy = followed.masses(everything).entropy()
        assert entropy == pytest.approx(fresh.masses(everything).entropy())
        unchanged = np.setdiff1d(everything, dirty)
        assert entropy[unchanged] == pytest.approx(before.entropy()[unchanged])

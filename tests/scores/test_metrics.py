"""Laws that hold for every score, and the naive definitions as reference."""

from __future__ import annotations

from dataclasses import fields
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corefine import Scores, SplitSpan, score
from corefine.scores import Counts, Score
from corefine.scores.metrics import NOTHING, PERFECT
from helpers.partitions import NAIVE, Partition, document, partitions

METRICS = [field.name for field in fields(Scores) if field.name != "mor"]
NEAR = 1e-9


def scored(key: Partition, response: Partition, metric: str) -> Score:
    value: Score = getattr(score(document(key), document(response), blanc="luo"), metric)
    return value


@pytest.mark.parametrize("metric", METRICS)
@given(partitions(), partitions())
def test_equals_its_definition(metric: str, key: Partition, response: Partition) -> None:
    assert scored(key, response, metric) == pytest.approx(NAIVE[metric](key, response), abs=NEAR)


@given(partitions(min_mentions=1))
def test_a_partition_with_itself_is_perfect(key: Partition) -> None:
    scores = score(document(key), document(key), blanc="luo")
    for metric in METRICS:
        without_links = metric == "muc" and all(len(cluster) == 1 for cluster in key)
        assert getattr(scores, metric) == (NOTHING if without_links else PERFECT), metric


@given(partitions(), partitions())
@example([{1, 2}], [{1}, {2}])  # no non-coreference links in the key: where the official BLANC is not symmetric
def test_swapping_key_and_response_swaps_recall_and_precision(key: Partition, response: Partition) -> None:
    key, response = [spans(c) for c in key], [spans(c) for c in response]
    there = score(document(key), document(response), blanc="luo")
    back = score(document(response), document(key), blanc="luo")
    for metric in METRICS:
        recall, precision, f1 = getattr(there, metric)
        assert getattr(back, metric) == pytest.approx((precision, recall, f1), abs=NEAR), metric
    assert there.conll_f1 == pytest.approx(back.conll_f1, abs=NEAR)


def spans(cluster: set[object]) -> set[object]:
    """Bare numbers of an example as spans."""
    return {(mention, mention) if isinstance(mention, int) else mention for mention in cluster}


@given(partitions(), partitions(), st.randoms(use_true_random=False))
def test_order_does_not_matter(key: Partition, response: Partition, random: Random) -> None:
    def shuffled(partition: Partition) -> list[list[object]]:
        clusters = [random.sample(sorted(c, key=repr), len(c)) for c in partition]
        random.shuffle(clusters)
        return clusters

    straight = Counts.of(key, response).scores
    other = Counts.of(shuffled(key), shuffled(response)).scores
    for metric in METRICS:
        assert getattr(straight, metric) == pytest.approx(getattr(other, metric), abs=NEAR), metric


@given(partitions(), partitions())
def test_scores_lie_within_0_and_100(key: Partition, response: Partition) -> None:
    scores = score(document(key), document(response))
    for metric in METRICS:
        for value in getattr(scores, metric):
            assert 0 <= value <= 100
    assert 0 <= scores.conll_f1 <= 100


@given(st.lists(st.tuples(partitions(), partitions()), max_size=4))
def test_documents_add_up_as_one_document_would(cases: list[tuple[Partition, Partition]]) -> None:
    """All but BLANC, whose non-coreference links grow with the document, see clusters only, not where they are."""

    def as_one(side: int) -> list[set[tuple[int, object]]]:
        return [{(number, m) for m in cluster} for number, case in enumerate(cases) for cluster in case[side]]

    apart = score(
        [document(key, f"d{number}") for number, (key, _) in enumerate(cases)],
        [document(response, f"d{number}") for number, (_, response) in enumerate(cases)],
    )
    together = Counts.of(as_one(0), as_one(1)).scores
    for metric in METRICS:
        if metric != "blanc":
            assert getattr(apart, metric) == pytest.approx(getattr(together, metric), abs=NEAR), metric


def test_blanc_adds_up_the_links_of_each_kind() -> None:
    keys = [document([{(0, 0), (1, 1)}, {(2, 2)}], "a"), document([{(0, 0), (1, 1), (2, 2)}], "b")]
    responses = [document([{(0, 0), (1, 1), (2, 2)}], "a"), document([{(0, 0), (1, 1)}], "b")]
    # linked: 1 + 1 right, of 1 + 3 and 3 + 1; apart: 0 right, of 2 + 0 and 0 + 0
    assert score(keys, responses).blanc == pytest.approx((25, 25, 25))
    assert score(keys[1], responses[1]).blanc == pytest.approx((100 / 3, 100, 50))


@pytest.mark.parametrize(
    ("key", "response", "expected"),
    [
        ([], [], NOTHING),
        ([{(0, 0)}], [{(0, 0)}], PERFECT),  # no link anywhere, the same mention
        ([{(0, 0)}], [{(1, 1)}], NOTHING),
        ([{(0, 0)}, {(1, 1)}], [{(0, 0)}, {(1, 1)}], PERFECT),  # no coreference link anywhere
        ([{(0, 0), (1, 1)}], [{(0, 0), (1, 1)}], PERFECT),  # no non-coreference link anywhere
        ([{(0, 0), (1, 1)}], [], NOTHING),
        ([], [{(0, 0)}, {(1, 1)}], NOTHING),
        ([{(0, 0), (1, 1), (2, 2)}], [{(0, 0), (1, 1)}, {(2, 2)}], (100 / 6, 50, 25)),  # both kinds occur
    ],
)
def test_blanc_where_a_kind_of_link_is_missing(
    key: Partition, response: Partition, expected: tuple[float, float, float]
) -> None:
    assert scored(key, response, "blanc") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("key", "response", "expected"),
    [
        ([{(0, 0)}], [{(0, 0)}], NOTHING),  # no link in the key: the official program prints 0
        (
            [{(0, 0), (1, 1)}],
            [{(0, 0)}, {(1, 1)}],
            NOTHING,
        ),  # only coreference links in the key: the others do not count
        ([{(0, 0), (1, 1), (2, 2)}], [{(0, 0), (1, 1)}, {(2, 2)}], (100 / 3, 100, 50)),
    ],
)
def test_official_blanc_looks_at_the_links_of_the_key(
    key: Partition, response: Partition, expected: tuple[float, float, float]
) -> None:
    assert score(document(key), document(response)).blanc == pytest.approx(expected)


def test_a_span_with_a_gap_is_not_its_hull() -> None:
    gap = document([{SplitSpan([(0, 0), (2, 2)]), (5, 5)}])
    hull = document([{(0, 2), (5, 5)}])
    assert score(gap, hull).mentions == (50, 50, 50)
    assert score(gap, gap).conll_f1 == 100


def test_conll_f1_is_the_mean_of_muc_b3_and_ceafe() -> None:
    scores = score(document([{(0, 0), (1, 1), (2, 2)}]), document([{(0, 0), (1, 1)}, {(2, 2)}]))
    assert scores.muc.f1 == pytest.approx(200 / 3)
    assert scores.b3.f1 == pytest.approx(100 * 10 / 14)
    assert scores.ceafe.f1 == pytest.approx(100 * 0.8 * 2 / 3)
    assert scores.conll_f1 == pytest.approx((scores.muc.f1 + scores.b3.f1 + scores.ceafe.f1) / 3)

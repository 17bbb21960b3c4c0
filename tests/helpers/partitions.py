"""Random key and response partitions, and scores written naively, straight from their definitions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import combinations, permutations

from hypothesis import strategies as st

from corefine.document import Document, Span, SplitSpan

Mention = Hashable
Partition = list[set[Mention]]

TOKENS = 30
SPANS = [
    *(Span(start, end) for start in range(8) for end in range(start, min(start + 3, 8))),
    SplitSpan([(0, 0), (2, 2)]),  # equals no Span, and in particular not its hull
    SplitSpan([(1, 1), (3, 4)]),
]


@st.composite
def partitions(draw: st.DrawFn, *, min_mentions: int = 0) -> Partition:
    """A partition of some of `SPANS`."""
    mentions = draw(st.lists(st.sampled_from(SPANS), unique=True, min_size=min_mentions, max_size=len(SPANS)))
    labels = draw(st.lists(st.integers(0, 4), min_size=len(mentions), max_size=len(mentions)))
    clusters: dict[int, set[Mention]] = {}
    for mention, label in zip(mentions, labels, strict=True):
        clusters.setdefault(label, set()).add(mention)
    return list(clusters.values())


def document(partition: Partition, name: str = "d", **fields: object) -> Document:
    return Document.from_sentences(name, [["w"] * TOKENS], partition, **fields)  # type: ignore[arg-type]


def owners(partition: Partition) -> dict[Mention, set[Mention]]:
    return {mention: cluster for cluster in partition for mention in cluster}


def pairs(partition: Partition) -> set[frozenset[Mention]]:
    """Every coreference link."""
    return {frozenset(pair) for cluster in partition for pair in combinations(cluster, 2)}


def pairs_apart(partition: Partition) -> set[frozenset[Mention]]:
    """Every non-coreference link."""
    return {frozenset(pair) for pair in combinations(owners(partition), 2)} - pairs(partition)


def ratio(numerator: Fraction | int, denominator: int) -> Fraction:
    return Fraction(numerator) / denominator if denominator else Fraction(0)


def f1(recall: Fraction, precision: Fraction) -> Fraction:
    return 2 * recall * precision / (recall + precision) if recall + precision else Fraction(0)


Directed = Callable[[Partition, Partition], Fraction]


def both_ways(directed: Directed) -> Callable[[Partition, Partition], tuple[float, ...]]:
    """Recall, precision (recall the other way round) and F1, in percent."""

    def score(key: Partition, response: Partition) -> tuple[float, ...]:
        recall, precision = directed(key, response), directed(response, key)
        return tuple(float(100 * value) for value in (recall, precision, f1(recall, precision)))

    return score


@both_ways
def naive_mentions(key: Partition, response: Partition) -> Fraction:
    return ratio(len(owners(key).keys() & owners(response).keys()), len(owners(key)))


@both_ways
def naive_muc(key: Partition, response: Partition) -> Fraction:
    """Cut each cluster by the other side; every piece beyond the first is a link missed."""
    other = owners(response)
    missed = sum(len({id(other.get(m, m)) for m in cluster}) - 1 for cluster in key)
    links = sum(len(cluster) - 1 for cluster in key)
    return ratio(links - missed, links)


@both_ways
def naive_b3(key: Partition, response: Partition) -> Fraction:
    """The mean over the key's mentions; one that the response lacks counts 0."""
    mine, other = owners(key), owners(response)
    shares = [Fraction(len(mine[m] & other[m]), len(mine[m])) for m in mine if m in other]
    return ratio(sum(shares, Fraction(0)), len(mine))


@both_ways
def naive_lea(key: Partition, response: Partition) -> Fraction:
    total = Fraction(0)
    for cluster in key:
        if len(cluster) == 1:
            resolved = Fraction(int(cluster in response))
        else:
            links = pairs([cluster])
            resolved = Fraction(len(links & pairs(response)), len(links))
        total += len(cluster) * resolved
    return ratio(total, sum(map(len, key)))


def naive_blanc(key: Partition, response: Partition) -> tuple[float, ...]:
    if len(owners(key)) < 2 and len(owners(response)) < 2:
        same = bool(key) and owners(key).keys() == owners(response).keys()
        return (100.0 * same,) * 3
    kinds = [
        (ratio(len(mine & other), len(mine)), ratio(len(mine & other), len(other)))
        for mine, other in ((kind(key), kind(response)) for kind in (pairs, pairs_apart))
        if mine or other
    ]
    scores = [(recall, precision, f1(recall, precision)) for recall, precision in kinds]
    return tuple(float(100 * sum(values) / len(scores)) for values in zip(*scores, strict=True))


Worth = Callable[[set[Mention], set[Mention]], Fraction]


def best_total(key: Sequence[set[Mention]], response: Sequence[set[Mention]], worth: Worth) -> Fraction:
    """The best alignment by trying them all."""
    few, many = sorted([key, response], key=len)
    return max(
        sum((worth(a, b) for a, b in zip(few, chosen, strict=True)), Fraction(0))
        for chosen in permutations(many, len(few))
    )


def shared(a: set[Mention], b: set[Mention]) -> Fraction:
    return Fraction(len(a & b))


def dice(a: set[Mention], b: set[Mention]) -> Fraction:
    return Fraction(2 * len(a & b), len(a) + len(b))


@both_ways
def naive_ceafm(key: Partition, response: Partition) -> Fraction:
    return ratio(best_total(key, response, shared), sum(map(len, key)))


@both_ways
def naive_ceafe(key: Partition, response: Partition) -> Fraction:
    return ratio(best_total(key, response, dice), len(key))


NAIVE = {
    "mentions": naive_mentions,
    "muc": naive_muc,
    "b3": naive_b3,
    "ceafm": naive_ceafm,
    "ceafe": naive_ceafe,
    "blanc": naive_blanc,
    "lea": naive_lea,
}

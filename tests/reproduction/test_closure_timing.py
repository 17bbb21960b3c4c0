"""The annotation that closures are timed on, and why the time for one more link stays flat."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import log2
from random import Random

import pytest

from corefine.document import Span
from corefine.links import Cannot, First, Links, Must
from corefine.links.entities import Entities, Entity, Node, UndoMerge
from corefine.reproduction import closure_timing
from corefine.reproduction.closure_timing import random_entities, random_links


def test_an_annotation_is_reproducible_and_consistent() -> None:
    made = random_links(400, seed=3, mentions=300)
    assert made == random_links(400, seed=3, mentions=300)
    assert made != random_links(400, seed=4, mentions=300)
    assert len(made.mentions) == 300
    assert len(made.links) == 400
    links = Links()
    for number, link in enumerate(made.links):
        links.add(number, link)  # would raise on a contradiction
    kinds = Counter(type(link) for link in made.links)
    assert kinds[Must] > 50
    assert abs(kinds[Cannot] - kinds[First]) <= 1, "every no has its first appearance"
    for left, right in pairwise(made.links):
        if isinstance(left, Cannot):
            assert isinstance(right, First)
            assert right.mention == left.b


def test_no_question_is_asked_whose_answer_is_known() -> None:
    made = random_links(10_000, seed=1, mentions=300)
    links = Links()
    for number, link in enumerate(made.links):
        if isinstance(link, Must | Cannot):
            assert links.relation(link.a, link.b) is None
        links.add(number, link)


def test_entities_are_as_unequal_as_in_long_texts() -> None:
    sizes = [sorted(Counter(random_entities(1600, Random(seed))).values(), reverse=True) for seed in range(20)]
    largest = sum(each[0] / 1600 for each in sizes) / len(sizes)
    single = sum(each.count(1) / len(each) for each in sizes) / len(sizes)
    mean = sum(size * size for each in sizes for size in each) / 1600 / len(sizes)
    assert 0.12 < largest < 0.22
    assert 0.70 < single < 0.78
    assert 55 < mean < 110


def test_a_closure_that_differs_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closure_timing.Algorithm1, "cannot", lambda *_: None)
    with pytest.raises(RuntimeError, match="Algorithm1 and ours differ"):
        closure_timing.algorithm1_us(random_links(120, seed=0), replays=1)


@pytest.mark.parametrize("seed", range(3))
def test_a_span_moves_at_most_log_n_times(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """What keeps the time for one more link flat, however entities are put together."""
    moves: Counter[Node] = Counter()
    merge = Entities.merge

    def counted(self: Entities, a: Entity, b: Entity) -> UndoMerge:
        undo = merge(self, a, b)
        assert undo[1] is not None
        moves.update(undo[1].members)
        return undo

    monkeypatch.setattr(Entities, "merge", counted)
    size = 512
    links = Links()
    groups = [[Span(place, place)] for place in range(size)]
    random = Random(seed)
    while len(groups) > 1:
        a = groups.pop(random.randrange(len(groups)))
        b = groups.pop(random.randrange(len(groups)) if seed else 0)
        links.add(len(groups), Must(random.choice(a), random.choice(b)))
        groups.append(a + b)
    assert len(links.entities()) == 1
    assert max(moves.values()) <= log2(size)

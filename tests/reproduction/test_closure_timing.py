"""The benchmark of links measures what it says, and on request that the bars are met."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from math import log2
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from commands import app
from corefine.document import Span
from corefine.links import Cannot, First, Links, Must
from corefine.links.entities import Entities, Entity, Merge
from corefine.links.facts import Node
from corefine.reproduction import closure_timing as bench
from corefine.reproduction.closure_figure import draw, measured
from corefine.reproduction.random_annotation import annotation, entities_of

SMALL = (20, 40)


def test_an_annotation_is_reproducible_and_consistent() -> None:
    made = annotation(mentions=300, links=400, seed=3)
    assert made == annotation(mentions=300, links=400, seed=3)
    assert made != annotation(mentions=300, links=400, seed=4)
    assert len(made.mentions) == 300
    assert len(made.links) == 400
    links = Links()
    for number, link in enumerate(made.links):
        links.assert_all(number, [link])  # would raise on a contradiction
    kinds = Counter(type(link) for link in made.links)
    assert kinds[Must] > 50
    assert abs(kinds[Cannot] - kinds[First]) <= 1, "every no has its first appearance"
    for left, right in pairwise(made.links):
        if isinstance(left, Cannot):
            assert isinstance(right, First)
            assert right.mention == left.b


def test_no_question_is_asked_whose_answer_is_known() -> None:
    made = annotation(mentions=300, links=10_000, seed=1)
    links = Links()
    for number, link in enumerate(made.links):
        if isinstance(link, Must | Cannot):
            assert links.relation(link.a, link.b) is None
        links.assert_all(number, [link])


def test_entities_are_as_unequal_as_in_long_texts() -> None:
    sizes = [sorted(Counter(entities_of(1600, Random(seed))).values(), reverse=True) for seed in range(20)]
    largest = sum(each[0] / 1600 for each in sizes) / len(sizes)
    single = sum(each.count(1) / len(each) for each in sizes) / len(sizes)
    mean = sum(size * size for each in sizes for size in each) / 1600 / len(sizes)
    assert 0.12 < largest < 0.22
    assert 0.70 < single < 0.78
    assert 55 < mean < 110


def test_times_are_of_closures_that_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    times = bench.measure(links=120, sizes=SMALL, scratch_timed=2)
    assert times.links == times.mentions == 120
    assert 0 < times.ours_us < times.scratch_us
    assert times.algorithm1_us > 0
    assert times.vs_algorithm1 == pytest.approx(times.algorithm1_us / times.ours_us)
    assert times.vs_scratch == pytest.approx(times.scratch_us / times.ours_us)
    assert times.paper_links.links < 120
    assert tuple(times.flat) == SMALL
    monkeypatch.setattr(bench.Algorithm1, "cannot", lambda *_: None)
    with pytest.raises(RuntimeError, match="Algorithm1 and ours differ"):
        bench.algorithm1_us(bench.made_of(120, 0), replays=1)


def test_the_command_writes_json_and_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "SIZES", SMALL)
    told = CliRunner().invoke(app, ["links", "--links", "100", "--json"])
    assert told.exit_code == 0
    result = json.loads(told.stdout)
    assert {"ours_us", "algorithm1_us", "scratch_us", "vs_algorithm1", "vs_scratch"} <= result.keys()
    assert list(result["flat"]) == ["20", "40"]
    shown = CliRunner().invoke(app, ["links", "--links", "100"])
    assert "Algorithm 1" in shown.stdout
    assert "times ours" in shown.stdout


def test_the_curve_has_three_lines(tmp_path: Path) -> None:
    curves = measured(0, sizes=SMALL)
    assert {name: [links for links, _ in points] for name, points in curves.items()} == {
        name: list(SMALL) for name in ("from scratch", "Algorithm 1 of the paper", "corefine")
    }
    draw(curves, tmp_path / "new" / "closure.svg")
    drawn = ElementTree.parse(tmp_path / "new" / "closure.svg").getroot()
    words = {"".join(node.itertext()).strip() for node in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {*curves, "links", "microseconds for one more link"} <= words


@pytest.mark.parametrize("seed", range(3))
def test_a_span_moves_at_most_log_n_times(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """What keeps the time for one more link flat, however entities are put together."""
    moves: Counter[Node] = Counter()
    merge = Entities.merge

    def counted(self: Entities, a: Entity, b: Entity) -> Merge:
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
        links.must(random.choice(a), random.choice(b), answer=len(groups))
        groups.append(a + b)
    assert len(links.entities()) == 1
    assert max(moves.values()) <= log2(size)


@pytest.mark.bench
def test_bars() -> None:
    times = bench.measure()
    assert times.links == 1_600
    assert times.vs_algorithm1 >= 50
    assert times.vs_scratch >= 2_000
    assert times.flat[100_000] < 5 * times.flat[100], "what grows is the way to memory, not the work"

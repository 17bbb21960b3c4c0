"""The benchmark of links measures what it says, and on request that the bars are met."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer
from typer.testing import CliRunner

import links

SMALL = (20, 40)


def run_main(main: Callable[..., None], *arguments: str) -> str:
    app = typer.Typer()
    app.command()(main)
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_times_are_of_closures_that_agree() -> None:
    times = links.measure(links=120, sizes=SMALL, scratch_timed=2)
    assert times.links == times.mentions == 120
    assert 0 < times.ours_us < times.scratch_us
    assert times.algorithm1_us > 0
    assert times.vs_algorithm1 == pytest.approx(times.algorithm1_us / times.ours_us)
    assert times.vs_scratch == pytest.approx(times.scratch_us / times.ours_us)
    assert times.paper_links.links < 120
    assert tuple(times.flat) == SMALL


def test_the_command_writes_json_and_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "SIZES", SMALL)
    result = json.loads(run_main(links.main, "--links", "100", "--json"))
    assert {"ours_us", "algorithm1_us", "scratch_us", "vs_algorithm1", "vs_scratch"} <= result.keys()
    assert list(result["flat"]) == ["20", "40"]
    shown = run_main(links.main, "--links", "100")
    assert "Algorithm 1" in shown
    assert "times ours" in shown


def test_the_curve_has_three_lines(tmp_path: Path) -> None:
    curves = links.measure_curves(0, sizes=SMALL)
    assert {name: [links for links, _ in points] for name, points in curves.items()} == {
        name: list(SMALL) for name in ("from scratch", "Algorithm 1 of the paper", "corefine")
    }
    links.draw(curves, tmp_path / "new" / "closure.svg")
    drawn = ElementTree.parse(tmp_path / "new" / "closure.svg").getroot()
    words = {"".join(node.itertext()).strip() for node in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {*curves, "links", "microseconds for one more link"} <= words


@pytest.mark.bench
def test_bars() -> None:
    times = links.measure()
    assert times.links == 1_600
    assert times.failure is None

"""Figures and report, from records of tiny runs."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from corefine.annotation.cost import CostModel
from corefine.errors import MissingExtraError
from corefine.reproduction import drawing, figures, tables
from corefine.reproduction.claims import claims
from corefine.reproduction.closure_timing import closure_times
from corefine.reproduction.report import write_report
from corefine.reproduction.table import Table
from corefine.simulation.rows import ModelScores
from corefine.simulation.summary import RunRecord, first_models


@pytest.fixture(scope="module")
def report(records: list[RunRecord], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(records, tmp_path_factory.mktemp("report"))


@pytest.fixture
def svg_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page holds SVG; drawing PNG and PDF too takes three times as long."""
    monkeypatch.setattr(drawing, "FORMATS", ("svg",))


def test_the_page_needs_no_other_file(report: Path) -> None:
    page = report.read_text()
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    assert page.count("data:image/svg+xml;base64,") == 8
    assert page.startswith("<!doctype html>")


def test_every_figure_comes_in_three_formats(report: Path) -> None:
    for name in ("f1", "mention_f1", "pronoun_f1", "delta_f1", "labels", "rounds", "yes_share", "paper"):
        for kind, head in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
            assert (report.parent / f"{name}.{kind}").read_bytes().startswith(head)


@pytest.mark.usefixtures("svg_alone")
def test_the_same_rows_draw_the_same_bytes(records: list[RunRecord], report: Path, tmp_path: Path) -> None:
    again = write_report(records, tmp_path)
    assert again.read_bytes() == report.read_bytes()
    assert (tmp_path / "f1.svg").read_bytes() == (report.parent / "f1.svg").read_bytes()


def test_the_papers_numbers_stand_beside_ours(report: Path) -> None:
    page = report.read_text()
    for number in ("57.08", "56.49", "56.98", "54.27", "60.7", "58.9", "106.7", "6337.53"):
        assert number in page


@pytest.mark.usefixtures("svg_alone")
def test_a_second_corpus_has_figures_of_its_own_and_mixed_code_is_said(
    records: list[RunRecord], report: Path, tmp_path: Path
) -> None:
    stories = [record for record in records if record.group == "main" and record.seed == 0]
    fables = [
        replace(record, info=replace(record.info, corpus=replace(record.info.corpus, name="fables")))
        for record in stories
    ]
    fables[0] = replace(fables[0], info=replace(fables[0].info, code="other"))
    page = write_report([*records[:1], *stories, *fables], tmp_path).read_text()
    assert (tmp_path / "f1.svg").is_file()
    assert (tmp_path / "f1_fables.svg").is_file()
    assert "fables: selectors and baselines" in page
    assert "stories: selectors and baselines" in page
    assert "on fables were made by 2 versions of the code" in page
    assert "versions of the code" not in report.read_text()


def test_lines_can_be_told_apart_without_colour() -> None:
    looks = [(style.marker, style.dashes) for style in drawing.STYLES.values()]
    assert len(set(looks)) == len(looks)
    assert len({style.marker for style in drawing.STYLES.values()}) == len(looks)


def test_letters_are_large_enough() -> None:
    assert min(drawing.SETTINGS[name] for name in ("font.size", "legend.fontsize", "xtick.labelsize")) >= 11


def test_means_and_spreads_are_over_seeds(records: list[RunRecord]) -> None:
    table = tables.main_table("stories", records)
    row = next(row for row in table.rows if row[:2] == ("discrete", "90"))
    assert row[2] == "2"
    assert re.fullmatch(r"\d+\.\d ± \d+\.\d", row[-2])


def test_the_model_before_any_question_stands_beside_the_others(records: list[RunRecord]) -> None:
    found = first_models(records)
    assert sorted(record.seed for record in found) == [0, 1]
    assert {record.hours for record in found} == {0.0}
    row = tables.main_table("stories", records).rows[0]
    assert row[:3] == ("first model", "0", "2")
    assert row[-2:] == ("-", "-")
    full = replace(records[0], kind="full", group="selectors")
    ours = replace(records[0], kind="ours", group="ours")
    curve = figures.main_points([*records, full, ours])
    assert curve["ours"][0].kind == "first model"
    assert curve["full"][0].kind == "first model"  # nothing is learnt there that the model said itself
    assert curve["discrete"][0].kind == "none"


def test_other_questions_have_a_curve_only_if_they_have_several_budgets(records: list[RunRecord]) -> None:
    budgets = sorted({record.budget for record in records if record.kind == "discrete" and record.budget})
    others = [replace(record, kind="ours-joint", group="questions") for record in records if record.kind == "discrete"]
    one = [record for record in others if record.budget == budgets[0]]
    assert "ours-joint" not in figures.main_points([*records, *one])
    assert "ours-joint" in figures.main_points([*records, *others])


@pytest.mark.usefixtures("svg_alone")
def test_runs_of_committees_alone_can_be_drawn(records: list[RunRecord], tmp_path: Path) -> None:
    one = next(record for record in records if record.kind == "discrete" and record.budget == 90)
    settings = one.settings.with_changes(learner="model", selector="committee")
    alone = replace(one, kind="committee", info=replace(one.info, simulation=settings))
    assert "committee" in write_report([alone], tmp_path).read_text()


def test_claims_are_judged_by_the_rows(records: list[RunRecord]) -> None:
    judged = {row[0]: row[1:] for row in claims("stories", records).rows}
    assert judged["delta F1 on annotated documents more than twice that of pairwise"][0] == "holds"
    # the rules never learn, so no selector can beat pairwise
    assert judged["every discrete selector but random beats pairwise"][0] == "does not hold"
    assert "+0.00" in judged["every discrete selector but random beats pairwise"][1]


def scored(record: RunRecord, seed: int, test: float, dev: float) -> RunRecord:
    """The same run with another seed and other scores."""
    scores = {split: ModelScores(f1, 0, 0, 0, 0, 0) for split, f1 in (("dev", dev), ("test", test))}
    info = replace(record.info, simulation=record.settings.with_changes(seed=seed))
    return replace(record, info=info, rounds=(*record.rounds[:-1], replace(record.rounds[-1], scores=scores)))


def test_seeds_that_disagree_decide_nothing(records: list[RunRecord]) -> None:
    of = {record.kind: record for record in records if record.budget == 90 and record.seed == 0}
    runs = [
        *(scored(of["discrete"], seed, 50, 52) for seed in (0, 1, 2)),
        *(scored(of["unclustered"], seed, 49 - seed, 50) for seed in (0, 1)),
        *(scored(of["per-document"], seed, 49 + 2 * seed, 52) for seed in (0, 1)),
    ]
    judged = {row[0]: row[1:] for row in claims("stories", runs).rows}
    assert judged["clustered probabilities help"] == ("undecided", "+1.75 (-1.43 to +4.93, 2 seeds) at 90")
    assert judged["incremental closure helps"] == ("undecided", "+0.00 (-6.35 to +6.35, 2 seeds) at 90")


def test_one_seed_decides_only_what_is_large(records: list[RunRecord]) -> None:
    of = {record.kind: record for record in records if record.budget == 90 and record.seed == 0}
    runs = [
        scored(of["discrete"], 0, 50, 50),
        scored(of["unclustered"], 0, 46, 46),
        scored(of["per-document"], 0, 48, 47),
    ]
    judged = {row[0]: row[1] for row in claims("stories", runs).rows}
    assert judged == {"clustered probabilities help": "holds", "incremental closure helps": "undecided"}


def test_what_is_compared_is_compared_seed_by_seed(records: list[RunRecord]) -> None:
    def row(table: Table, kind: str) -> dict[str, str]:
        return dict(zip(table.head, next(row for row in table.rows if row[0] == kind), strict=True))

    def varied(record: RunRecord) -> RunRecord:
        change = {"discrete": 0.0, "answered": 2.0, "unclustered": -1.5}[record.kind]
        return scored(record, record.seed, 50 + 10 * record.seed + change, 40 + change)

    chosen = [r for r in records if r.budget == 90 and r.kind in ("discrete", "answered", "unclustered")]
    assert {r.kind: r.seed for r in chosen if r.kind != "discrete"} == {"answered": 0, "unclustered": 0}
    both = [varied(r) for r in chosen]  # seed 1 of discrete is ten points better, and has nobody beside it
    taught = tables.against_discrete("stories", both, "labels", "Taught")
    assert row(taught, "answered")["against discrete"] == "+2.00 (1 seed); +2.00 (1 seed)"
    assert row(taught, "discrete")["seeds"] == "1"
    removed = tables.ablation("stories", both)
    assert row(removed, "unclustered")["against discrete"] == "-1.50 (1 seed); -1.50 (1 seed)"
    assert row(removed, "discrete")["seeds"] == "1"


def test_the_arithmetic_of_full_labels_is_the_papers() -> None:
    discrete, pairwise = tables.full_labels().rows
    assert discrete[2] == discrete[3] == "6337.53"
    assert discrete[4] == "2.64 %"
    assert pairwise[2] == "240198"
    assert CostModel().discrete(0, 201) == pytest.approx(6337.53)


def test_the_closures_are_timed(tmp_path: Path) -> None:
    times = closure_times((20, 40))
    assert [size for size, _ in times["from scratch"]] == [20, 40]
    ours, scratch = times["ours"][-1][1], times["from scratch"][-1][1]
    assert 0 < ours < scratch
    drawing.save(figures.closure_times(times), tmp_path, "closure")
    assert (tmp_path / "closure.pdf").is_file()


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"corefine\[plot\]"):
        drawing.need_plot()

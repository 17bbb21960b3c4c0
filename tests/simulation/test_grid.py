"""A tiny version of the whole reproduction: the grid, its records, its report, and the relations that must hold."""

from __future__ import annotations

import errno
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corefine.corpora import Corpus
from corefine.errors import CorefineError, InputError
from corefine.reproduction.cells import grid
from corefine.simulation import grid as module
from corefine.simulation.grid import Cell, CellDone, CellFailed, load_for, run_grid
from corefine.simulation.summary import RunRecord, load_records, points
from helpers.small import contents, rules, short_stories, stories, tiny


def mean(records: list[RunRecord], kind: str, measure: str, budget: float = 90) -> float:
    found = [point for point in points(records) if (point.kind, point.budget) == (kind, budget)]
    return found[0].mean(measure)


def test_discrete_labels_beat_pairwise_ones_in_the_same_time(records: list[RunRecord]) -> None:
    for budget in (30, 90):
        hours = [mean(records, kind, "hours", budget) for kind in ("discrete", "pairwise")]
        assert hours[0] == pytest.approx(hours[1], rel=0.1)
        assert mean(records, "discrete", "delta_f1", budget) > 2 * mean(records, "pairwise", "delta_f1", budget)


def test_more_questions_make_better_labels(records: list[RunRecord]) -> None:
    for kind in ("discrete", "random"):
        assert mean(records, kind, "delta_f1", 90) > mean(records, kind, "delta_f1", 30) > 0
    assert mean(records, "none", "delta_f1", 0) == 0
    assert mean(records, "none", "hours", 0) == 0


def test_what_is_doubtful_is_worth_more_than_what_is_not(records: list[RunRecord]) -> None:
    assert mean(records, "discrete", "delta_f1", 30) > mean(records, "random", "delta_f1", 30)


def test_errors_cost_and_more_of_them_cost_more(records: list[RunRecord]) -> None:
    after = {
        record.kind: [asked.after_f1 for asked in record.asked]
        for record in records
        if record.seed == 0 and record.budget == 30
    }
    assert sum(after["error-20"]) < sum(after["error-5"]) <= sum(after["discrete"])


def test_the_rules_do_not_learn_so_every_model_scores_the_same(records: list[RunRecord]) -> None:
    for seed in (0, 1):
        assert len({record.score() for record in records if record.seed == seed}) == 1


def test_a_grid_goes_on_where_it_was(tmp_path: Path) -> None:
    cells = grid(rules(), budgets=(30,), seeds=1, groups=["main"])
    list(run_grid(cells[:1], tmp_path, stories()))
    before = (tmp_path / "rows" / f"{cells[0].name}.json").read_bytes()
    results = list(run_grid(cells, tmp_path, stories()))
    assert [result.ran for result in results if isinstance(result, CellDone)] == [False, True, True, True, True]
    assert (tmp_path / "rows" / f"{cells[0].name}.json").read_bytes() == before


def test_cells_of_another_grid_are_not_taken_for_this_one(tmp_path: Path) -> None:
    cells = grid(rules(), budgets=(30,), seeds=1, groups=["main"])
    list(run_grid(cells[:1], tmp_path, stories()))
    others = grid(rules(documents_per_round=2), budgets=(30,), seeds=1, groups=["main"])
    result = next(iter(run_grid(others, tmp_path, stories())))
    assert isinstance(result, CellFailed)
    assert "documents_per_round = 3, not 2" in result.error
    shorter = next(iter(run_grid(cells, tmp_path, short_stories(200))))
    assert isinstance(shorter, CellFailed)
    assert "the corpus has changed" in shorter.error


def test_errors_that_are_not_ours_leave_the_others_alone_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = grid(rules(), budgets=(30,), seeds=1, groups=["main"])
    run_cell = module.run_cell

    def fail(cell: Cell, out: Path, corpus: Corpus) -> None:
        if cell.kind == "discrete":
            raise OSError(errno.ENOSPC, "No space left on device")
        run_cell(cell, out, corpus)

    monkeypatch.setattr(module, "run_cell", fail)
    results = list(run_grid(cells, tmp_path, stories()))
    assert [isinstance(result, CellFailed) for result in results] == [True, False, False, False, False]


def test_a_killed_process_fails_only_the_cell_that_it_was_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = grid(rules(), budgets=(30,), seeds=1, groups=["main"])

    def pool(left: tuple[Cell, ...], out: Path, *_: object) -> Iterator[Any]:
        """Two processes or one; the pairwise cell takes what comes after it down with it."""
        for place, cell in enumerate(left):
            if cell.kind == "pairwise":
                yield from left[place:]
                return
            yield CellDone(cell, out / cell.name)

    monkeypatch.setattr(module, "_in_pool", pool)
    results = list(run_grid(cells, tmp_path, stories(), workers=2))
    assert [(result.cell.kind, isinstance(result, CellDone)) for result in results] == [
        ("discrete", True),
        ("pairwise", False),
        ("random", True),
        ("full", True),
        ("gold", True),
    ]


def test_workers_end_when_the_grid_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "corefine", "reproduce", "--corpus", "stories", "--learner", "rules"]
    with subprocess.Popen([*command, "--workers", "2", "--no-report", "--out", str(tmp_path)]) as grid:
        while len(workers := children(grid.pid)) < 3:  # two, and the one that tracks resources
            assert grid.poll() is None
            time.sleep(0.05)
        grid.kill()
    until = time.monotonic() + 20
    while any(map(is_running, workers)):
        assert time.monotonic() < until
        time.sleep(0.05)


def children(pid: int) -> list[int]:
    found = (file.read_text().split() for file in Path(f"/proc/{pid}/task").glob("*/children"))
    return [int(child) for each in found for child in each]


def is_running(pid: int) -> bool:
    """Whether there is such a process, and not only its exit code, which nobody has asked for yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_failing_cell_leaves_the_others_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = grid(rules(), budgets=(30,), seeds=1, groups=["main"])
    write = module.write_record

    def full(path: Path, record: RunRecord) -> None:
        if record.kind == "pairwise":
            raise InputError("the disk is full")
        write(path, record)

    monkeypatch.setattr(module, "write_record", full)
    results = {result.cell.kind: result for result in run_grid(cells, tmp_path, stories())}
    assert isinstance(results["pairwise"], CellFailed)
    assert "the disk is full" in results["pairwise"].error
    assert {record.kind for record in load_records([tmp_path])} == {"discrete", "random", "full", "gold"}
    monkeypatch.undo()
    again = list(run_grid(cells, tmp_path, stories()))
    assert all(isinstance(result, CellDone) for result in again)
    assert [result.cell.kind for result in again if isinstance(result, CellDone) and result.ran] == ["pairwise"]


def test_one_worker_or_two_give_the_same_bytes_with_a_model_that_learns(tmp_path: Path) -> None:
    cells = [
        cell
        for cell in grid(tiny(documents=3, documents_per_round=1), budgets=(60,), seeds=1, groups=["main"])
        if cell.kind in ("discrete", "pairwise")
    ]
    corpus = short_stories(60)
    for workers in (1, 2):
        results = list(run_grid(cells, tmp_path / str(workers), corpus, workers=workers))
        assert {result.cell.name for result in results if isinstance(result, CellDone)} == {c.name for c in cells}
    for cell in cells:
        one, two = (tmp_path / str(workers) / "cells" / cell.name for workers in (1, 2))
        assert contents(one) == contents(two)
        record = load_records([tmp_path / "1" / "rows" / f"{cell.name}.json"])[0]
        assert sum(record.questions.asked) > 0
        assert record.timing.parts["training"] > 0


def test_a_corpus_is_checked_before_hours_are_spent(tmp_path: Path) -> None:
    cells = grid(rules(corpus=str(tmp_path / "nowhere")), budgets=(30,), seeds=1)
    with pytest.raises(CorefineError, match="nowhere"):
        load_for(cells, None)
    mixed = [cells[0], replace(cells[0], config=rules())]
    with pytest.raises(InputError, match="one corpus"):
        load_for(mixed, None)

"""Many runs: the cells of a grid, in worker processes with one thread each.

    OUT/cells/NAME/       the run of each cell, which is resumed if it was interrupted
    OUT/first/            first models that cells have in common
    OUT/rows/NAME.json    the record of each finished cell

A cell is finished when its record is in rows/. It is then never run again, and the failure of another cell does not
affect it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread

from corefine.corpora import Corpus
from corefine.errors import CorefineError, InputError
from corefine.files import write_atomically
from corefine.simulation.config import SimulationConfig
from corefine.simulation.executors import LocalExecutor
from corefine.simulation.runs import check_recipe, check_same, describe, run, writing
from corefine.simulation.splits import load, plan
from corefine.simulation.summary import RunRecord, read_record, record_of

CELLS = "cells"
FIRST_MODELS = "first"
ROWS = "rows"


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of a grid.

    name     of its folder, unique in the grid
    kind     what the run is compared as: the same for all budgets and seeds
    group    the part of the experiments that it belongs to
    """

    name: str
    kind: str
    group: str
    config: SimulationConfig


@dataclass(frozen=True, slots=True)
class CellDone:
    """A cell is finished; `ran` is False if it already was."""

    cell: Cell
    record: Path
    ran: bool = True


@dataclass(frozen=True, slots=True)
class CellFailed:
    """A cell ended with an error. The others go on, and running the grid again tries it again."""

    cell: Cell
    error: str


CellResult = CellDone | CellFailed


def run_grid(cells: Sequence[Cell], out: Path, corpus: Corpus, *, workers: int = 1) -> Iterator[CellResult]:
    """Run the cells that are not finished, `workers` at a time; yields each cell when it is done."""
    for device in {cell.config.device for cell in cells if cell.config.trains}:
        LocalExecutor().own_device(device)
    left = []
    for cell in cells:
        if (found := finished(cell, out, corpus)) is not None:
            yield found
        else:
            left.append(cell)
    if workers == 1:
        for cell in left:
            yield _result(cell, out, corpus)
        return
    yield from _in_processes(left, out, corpus, workers)


def cells_at_a_time(cells: Sequence[Cell]) -> int:
    """How many cells run in parallel: one per core, or one if a GPU is used."""
    if not any(cell.config.trains for cell in cells):
        return 1
    from corefine.models.devices import choose_device, cores

    kinds = {choose_device(cell.config.device).type for cell in cells if cell.config.trains}
    return cores() if kinds == {"cpu"} else 1


def finished(cell: Cell, out: Path, corpus: Corpus) -> CellResult | None:
    """The result of a cell that has a record: a failure if the record is of another run. None without a record."""
    path = row_path(out, cell)
    if not path.is_file():
        return None
    try:
        check_same(f"the cell {cell.name} in {out}", read_record(path).info, describe(cell.config, corpus))
    except CorefineError as error:
        return CellFailed(cell, str(error))
    return CellDone(cell, path, ran=False)


def row_path(out: Path, cell: Cell) -> Path:
    return out / ROWS / f"{cell.name}.json"


def run_cell(cell: Cell, out: Path, corpus: Corpus) -> None:
    """Run a cell, or what is left of it, and write its record."""
    folder = out / CELLS / cell.name
    for _ in run(cell.config, folder, corpus, resume=True, shared=out / FIRST_MODELS):
        pass
    write_record(row_path(out, cell), record_of(folder, kind=cell.kind, group=cell.group))


def write_record(path: Path, record: RunRecord) -> None:
    content = json.dumps(record.to_json(), ensure_ascii=False, separators=(",", ":")) + "\n"
    with writing(path):
        write_atomically(path, content.encode())


def _result(cell: Cell, out: Path, corpus: Corpus) -> CellResult:
    try:
        run_cell(cell, out, corpus)
    except CorefineError as error:
        return CellFailed(cell, str(error))
    except (OSError, RuntimeError, MemoryError, ArithmeticError) as error:  # a full disk, torch, too little memory
        return CellFailed(cell, f"{type(error).__name__}: {error}")
    return CellDone(cell, row_path(out, cell))


def _in_processes(cells: Sequence[Cell], out: Path, corpus: Corpus, workers: int) -> Iterator[CellResult]:
    """Run cells in a pool of processes.

    A process that is killed breaks the whole pool, and nothing tells which cell it worked on. The cells that are left
    then run in new pools, one at a time.
    """
    left = dict.fromkeys(cells)
    for at_a_time in (workers, *[1] * len(cells)):
        broken: list[Cell] = []
        for result in _in_pool(tuple(left), out, corpus, at_a_time):
            if isinstance(result, Cell):
                broken.append(result)
            else:
                del left[result.cell]
                yield result
        if not broken:
            return
        if at_a_time == 1:
            del left[broken[0]]
            yield CellFailed(broken[0], "its process was killed, perhaps because memory ran out")


def _in_pool(cells: Sequence[Cell], out: Path, corpus: Corpus, workers: int) -> Iterator[CellResult | Cell]:
    """The results, then the cells that a broken pool left, in their order."""
    context = multiprocessing.get_context("spawn")  # torch must not be forked
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent) as pool:
        running: dict[Future[CellResult], Cell] = {pool.submit(_result, cell, out, corpus): cell for cell in cells}
        lost: list[Cell] = []
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    cell = running.pop(future)
                    try:
                        yield future.result()
                    except BrokenProcessPool:
                        lost.append(cell)
        finally:
            for future in running:
                future.cancel()
    yield from sorted(lost, key=cells.index)


def _end_with_parent() -> None:
    """End this process when the one that started it ends, even if that is killed. Its cells can be resumed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(other: BaseProcess) -> None:
    other.join()
    os._exit(1)


def load_for(cells: Sequence[Cell], mirror: Path | None, *, needs: int = 1) -> Corpus:
    """The corpus of all cells. Raises early if something that a cell needs is missing or wrong.

    needs    the number of training documents that the corpus must have
    """
    names = {cell.config.corpus for cell in cells}
    if len(names) != 1:
        raise InputError(f"a grid has one corpus, not {len(names)}")
    for recipe, vectors, changes in {(each.recipe, each.vectors, each.set) for each in (cell.config for cell in cells)}:
        check_recipe(replace(cells[0].config, recipe=recipe, vectors=vectors, set=changes))
    corpus = load(names.pop(), mirror=mirror)
    if len(corpus.train) < needs:
        raise InputError(
            f"{corpus.name} has {len(corpus.train)} training documents, and this grid needs at least {needs}: "
            "use a larger corpus"
        )
    for cell in cells:
        plan(corpus, cell.config)
    return corpus

"""Many runs: the cells of a grid in worker processes, one thread each, or as tasks of a Ray cluster.

    OUT/cells/NAME/    the run of each cell, which goes on where it was interrupted
    OUT/first/         first models that cells have in common
    OUT/rows/NAME.json the record of each finished cell

A cell counts once its record stands in rows/; it is then never run again, and no failure of another cell touches it.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from corefine.data import Corpus
from corefine.errors import CorefineError, InputError
from corefine.simulation import corpora
from corefine.simulation.cells import Cell
from corefine.simulation.runs import run
from corefine.simulation.summary import Record, record_of
from corefine.writing import write_atomically

CELLS = "cells"
FIRST = "first"
ROWS = "rows"


@dataclass(frozen=True, slots=True)
class CellDone:
    """A cell is finished; `ran` is False if it was before."""

    cell: Cell
    record: Path
    ran: bool = True


@dataclass(frozen=True, slots=True)
class CellFailed:
    """A cell ended with an error. The others go on; running the grid again tries it again."""

    cell: Cell
    error: str


Result = CellDone | CellFailed


def run_grid(cells: Sequence[Cell], out: Path, corpus: Corpus, *, workers: int = 1) -> Iterator[Result]:
    """Run what is not finished yet, `workers` cells at a time; yields each as it is done."""
    left = []
    for cell in cells:
        if row_path(out, cell).is_file():
            yield CellDone(cell, row_path(out, cell), ran=False)
        else:
            left.append(cell)
    if workers == 1:
        for cell in left:
            yield _result(cell, out, corpus)
        return
    yield from _in_processes(left, out, corpus, workers)


def row_path(out: Path, cell: Cell) -> Path:
    return out / ROWS / f"{cell.name}.json"


def run_cell(cell: Cell, out: Path, corpus: Corpus) -> Record:
    """Run one cell, or what is left of it, and write its record."""
    folder = out / CELLS / cell.name
    for _ in run(cell.config, folder, corpus, resume=True, shared=out / FIRST):
        pass
    record = record_of(folder, kind=cell.kind, group=cell.group)
    write_record(out, record)
    return record


def write_record(out: Path, record: Record) -> None:
    """Put a record in its place, whole or not at all."""
    path = out / ROWS / f"{record.name}.json"
    try:
        write_atomically(
            path, (json.dumps(record.to_json(), ensure_ascii=False, separators=(",", ":")) + "\n").encode()
        )
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error}); finished cells are kept: make room, run it again"
        ) from error


def _result(cell: Cell, out: Path, corpus: Corpus) -> Result:
    try:
        run_cell(cell, out, corpus)
    except CorefineError as error:
        return CellFailed(cell, str(error))
    return CellDone(cell, row_path(out, cell))


def _in_processes(cells: Sequence[Cell], out: Path, corpus: Corpus, workers: int) -> Iterator[Result]:
    context = multiprocessing.get_context("spawn")  # torch must not be forked
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(corpus,)) as pool:
        running: dict[Future[Result], Cell] = {pool.submit(_work, cell, out): cell for cell in cells}
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    cell = running.pop(future)
                    try:
                        yield future.result()
                    except BrokenProcessPool:
                        yield CellFailed(cell, "its worker process was killed; run the grid again to go on with it")
        finally:
            for future in running:
                future.cancel()


_CORPUS: Corpus | None = None


def _begin(corpus: Corpus) -> None:
    global _CORPUS
    _CORPUS = corpus


def _work(cell: Cell, out: Path) -> Result:
    if _CORPUS is None:
        raise RuntimeError("the worker was not given its corpus")
    return _result(cell, out, _CORPUS)


def load_for(cells: Sequence[Cell], mirror: Path | None) -> Corpus:
    """The corpus that all cells are about, checked before hours are spent: every seed has something to ask."""
    names = {cell.config.corpus for cell in cells}
    if len(names) != 1:
        raise InputError(f"a grid is about one corpus, not {len(names)}")
    corpus = corpora.load(names.pop(), mirror=mirror)
    for cell in cells:
        corpora.plan(corpus, cell.config)
    return corpus

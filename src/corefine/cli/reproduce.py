"""`corefine reproduce`: the grid of simulated runs, and the report on it."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corefine.cli.options import Mirror, Ray, with_settings
from corefine.simulation.config import SimulationConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corefine.corpora import Corpus
    from corefine.simulation.grid import Cell, CellResult


@with_settings(SimulationConfig, "corpus")
def reproduce(
    given: dict[str, Any],
    out: Annotated[Path, typer.Option(help="Folder for runs, rows and report. Run again to go on.")],
    budgets: Annotated[
        str, typer.Option("--budgets", "--budget", help="Questions for each 1,000 tokens, with commas between.")
    ] = "0,20,40,80,160",
    seeds: Annotated[int, typer.Option(help="Seeds of the main comparison.")] = 3,
    other_seeds: Annotated[int, typer.Option(help="Seeds of everything else: ablation, labels and so on.")] = 1,
    groups: Annotated[
        str, typer.Option(help="Of main, selectors, ablation, labels, extensions; with commas between.")
    ] = "main,selectors,ablation,labels,extensions",
    only: Annotated[str, typer.Option(help="Only cells whose name fits, as in '*-q40-s0'.")] = "*",
    workers: Annotated[int, typer.Option(help="Cells at a time; 0 for one a core.")] = 0,
    config: Annotated[Path | None, typer.Option(help="Settings that all cells share, as TOML.")] = None,
    mirror: Mirror = None,
    ray: Ray = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the cells.")] = False,
    report: Annotated[bool, typer.Option(help="Whether to draw the report at the end.")] = True,
) -> None:
    """Run the paper's experiments, selectors x budgets x seeds with ablation and extensions, and report them."""
    from corefine.errors import InputError
    from corefine.reproduction.cells import grid
    from corefine.simulation.grid import CellFailed, load_for

    settings = SimulationConfig.read_toml(config) if config is not None else {}
    for name, flag in (("seed", "--seeds"), ("questions", "--budgets"), ("seconds", "--budgets")):
        if name in settings:
            raise InputError(f"{config} sets {name!r}, which the grid varies: see {flag}")
    base = SimulationConfig.from_dict(settings | given)
    cells = grid(base, budgets=_numbers(budgets), seeds=seeds, other_seeds=other_seeds, groups=groups.split(","))
    cells = [cell for cell in cells if fnmatch(cell.name, only)]
    if not cells:
        raise typer.BadParameter(f"no cell's name fits {only!r}; see --dry-run", param_hint="--only")
    if dry_run:
        for cell in cells:
            typer.echo(cell.name)
        return
    if report:
        from corefine.reproduction.drawing import need_plot

        need_plot()
    documents = load_for(cells, mirror)
    failed = 0
    for result in _results(cells, out, documents, workers, ray):
        typer.echo(_line(result))
        failed += isinstance(result, CellFailed)
    if report and failed < len(cells):
        from corefine.reproduction.closure_timing import closure_times
        from corefine.reproduction.report import write_report
        from corefine.simulation.summary import load_records

        page = write_report(load_records([out / "rows"]), out / "report", closure=closure_times())
        typer.echo(f"report: {page}")
    if failed:
        typer.echo(f"{failed} of {len(cells)} cells failed; run the same command again to go on", err=True)
        raise typer.Exit(1)


def _results(
    cells: Sequence[Cell], out: Path, documents: Corpus, workers: int, ray: str | None
) -> Iterator[CellResult]:
    from corefine.simulation.grid import run_grid

    if ray is not None:
        from corefine.simulation.ray_cluster import connect, run_grid_on_ray

        connect(ray)
        yield from run_grid_on_ray(cells, out, documents)
        return
    yield from run_grid(cells, out, documents, workers=workers or _cores())


def _cores() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} are not numbers with commas between", param_hint="--budgets") from error


def _line(result: CellResult) -> str:
    from corefine.simulation.grid import CellFailed
    from corefine.simulation.summary import load_records

    if isinstance(result, CellFailed):
        return f"{result.cell.name}: FAILED: {result.error}"
    record = load_records([result.record])[0]
    before = "" if result.ran else " (done before)"
    dev, test = record.score(split="dev"), record.score(split="test")
    seconds = f"{record.timing.total:.0f} s"
    return f"{record.name}: F1 dev {dev:.2f} test {test:.2f}, {record.hours:.1f} h, {seconds}{before}"

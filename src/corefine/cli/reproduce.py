"""`corefine reproduce` and `corefine plot`: the grid of simulated runs, and the report on runs."""

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


OUT = Path("reproduction")
Out = Annotated[Path, typer.Option(help="Folder for runs, rows and report. Run again to continue.")]
PresetName = Annotated[
    str, typer.Option(help="paper (its grid), new-field (no gold), quick (for a laptop), or all (with extensions).")
]
Budgets = Annotated[
    str | None, typer.Option("--budgets", "--budget", help="Questions per 1,000 tokens, or per document.")
]


@with_settings(
    SimulationConfig, "corpus", "starter", "documents", "annotator", "labels", "learner", "recipe", "set", "vectors",
    "tagger", "metric", "device")  # fmt: skip
def reproduce(
    given: dict[str, Any],
    out: Out = OUT,
    preset: PresetName = "all",
    budgets: Budgets = None,
    seeds: Annotated[int | None, typer.Option(help="Seeds of the main comparison.")] = None,
    other_seeds: Annotated[int | None, typer.Option(help="Seeds of all other groups.")] = None,
    groups: Annotated[
        str | None, typer.Option(help="Of main, ours, selectors, questions, ablation, labels, extensions; with commas.")
    ] = None,
    selector: Annotated[
        list[str] | None,
        typer.Option(help="A further selector for the main comparison, as module:attribute; may be repeated."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Only cells whose name fits a pattern such as '*-q40-s0'; may be repeated.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Cells that run at the same time; 0 for one per core.")] = 0,
    config: Annotated[Path | None, typer.Option(help="A TOML file with settings of all cells.")] = None,
    mirror: Mirror = None,
    ray: Ray = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the cells.")] = False,
    report: Annotated[bool, typer.Option(help="Whether to draw the report at the end.")] = True,
) -> None:
    """Run the paper's experiments, selectors x budgets x seeds with ablation and extensions, and report them."""
    from corefine.reproduction.cells import PRESETS, grid
    from corefine.simulation.grid import CellFailed, load_for

    if preset not in PRESETS:
        raise typer.BadParameter(f"{preset!r} is not one of {', '.join(PRESETS)}", param_hint="--preset")
    base = SimulationConfig.from_dict({**PRESETS[preset].settings, **_shared_settings(config), **given})
    cells = grid(
        base,
        preset=preset,
        budgets=None if budgets is None else _numbers(budgets),
        seeds=seeds,
        other_seeds=other_seeds,
        groups=None if groups is None else groups.split(","),
        selectors=selector or (),
    )
    patterns = only or ["*"]
    cells = [cell for cell in cells if any(fnmatch(cell.name, pattern) for pattern in patterns)]
    if not cells:
        raise typer.BadParameter(f"no cell's name fits {' or '.join(patterns)}; see --dry-run", param_hint="--only")
    if dry_run:
        for cell in cells:
            typer.echo(cell.name)
        return
    if report:
        from corefine.reproduction.drawing import need_plot

        need_plot()
    documents = load_for(cells, mirror, needs=PRESETS[preset].needs)
    _check_vectors(preset, base)
    failed = 0
    for result in _results(cells, out, documents, workers, ray):
        typer.echo(_line(result))
        failed += isinstance(result, CellFailed)
    if report and failed < len(cells):
        typer.echo(f"report: {_write_report([out / 'rows'], out / 'report', closure_times=True)}")
    if failed:
        typer.echo(f"{failed} of {len(cells)} cells failed; run the same command again to continue", err=True)
        raise typer.Exit(1)


def _check_vectors(preset: str, base: SimulationConfig) -> None:
    """Raise if the paper's model would learn its own word vectors, which no option asked for."""
    from corefine.errors import InputError

    given = base.vectors is not None or any(change.startswith("model.encoder.path=") for change in base.set)
    if preset == base.recipe == "paper" and base.learner == "model" and not given:
        raise InputError("the preset paper needs word vectors: give GloVe's, or others, with --vectors FILE")


def plot(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, or rows of a reproduction.", metavar="RUNS...")],
    out: Annotated[Path, typer.Option(help="Folder for figures and report.")] = Path("report"),
    comment: Annotated[Path | None, typer.Option(help="A text file; its paragraphs begin the page.")] = None,
    closure_times: Annotated[
        bool, typer.Option(help="Whether to time the closures on this machine for their figure (a minute).")
    ] = True,
) -> None:
    """Draw figures (PNG, SVG, PDF), tables and one self-contained HTML page from the rows of runs."""
    from corefine.reproduction.drawing import need_plot

    need_plot()
    text = comment.read_text(encoding="utf-8") if comment is not None else ""
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()]
    typer.echo(_write_report(runs, out, closure_times=closure_times, comment=paragraphs))


def _write_report(runs: Sequence[Path], out: Path, *, closure_times: bool, comment: Sequence[str] = ()) -> Path:
    from corefine.reproduction import closure_timing
    from corefine.reproduction.report import write_report
    from corefine.simulation.summary import load_records

    times = closure_timing.closure_times() if closure_times else None
    return write_report(load_records(runs), out, closure=times, comment=comment)


def _shared_settings(config: Path | None) -> dict[str, Any]:
    from corefine.errors import InputError

    settings = SimulationConfig.read_toml(config) if config is not None else {}
    for name, flag in (("seed", "--seeds"), ("questions", "--budgets"), ("seconds", "--budgets")):
        if name in settings:
            raise InputError(f"{config} sets {name!r}, which the grid varies: see {flag}")
    return settings


def _results(
    cells: Sequence[Cell], out: Path, documents: Corpus, workers: int, ray: str | None
) -> Iterator[CellResult]:
    if ray is not None:
        from corefine.simulation.ray_cluster import connect, run_grid_on_ray

        connect(ray)
        return run_grid_on_ray(cells, out, documents)
    from corefine.simulation.grid import cells_at_a_time, run_grid

    return run_grid(cells, out, documents, workers=workers or cells_at_a_time(cells))


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

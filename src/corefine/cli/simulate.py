"""`corefine simulate`: one run of active learning, with gold labels as the annotator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corefine.cli.options import Mirror, Ray, with_settings
from corefine.simulation.config import SimulationConfig

if TYPE_CHECKING:
    from collections.abc import Iterable

    from corefine.simulation.executors import Executor
    from corefine.simulation.loop import RunEvent
    from corefine.simulation.rows import RoundRow


@with_settings(SimulationConfig)
def simulate(
    given: dict[str, Any],
    out: Annotated[Path | None, typer.Option(help="Folder of the run.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out.")] = False,
    config: Annotated[Path | None, typer.Option(help="A TOML file with settings; options override it.")] = None,
    print_config: Annotated[bool, typer.Option("--print-config", help="Print all settings as TOML and exit.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Explain the first ten questions, and exit.")] = False,
    ray: Ray = None,
    mirror: Mirror = None,
) -> None:
    """Simulate annotation of a corpus: ask, answer from gold, relabel, retrain, and count the hours."""
    settings = _settings(given, config, out if resume else None)
    if print_config:
        typer.echo(settings.to_toml(), nl=False)
        return
    from corefine.simulation.runs import check_recipe
    from corefine.simulation.splits import load

    check_recipe(settings)
    corpus = load(settings.corpus, mirror=mirror)
    if explain:
        from corefine.simulation.explain import explain_document

        for line in explain_document(settings, corpus):
            typer.echo(line)
        return
    if out is None:
        raise typer.BadParameter("give the folder of the run", param_hint="--out")
    from corefine.simulation.runs import run

    _show(run(settings, out, corpus, resume=resume, executor=_executor(ray)), out)


def _settings(given: dict[str, Any], config: Path | None, resumed: Path | None) -> SimulationConfig:
    """The settings of a resumed run, overridden by the TOML file, overridden by options."""
    from corefine.simulation.runs import read_info

    values = SimulationConfig.read_toml(config) if config is not None else {}
    if resumed is not None:
        values = read_info(resumed).simulation.to_dict() | values
    for one, other in (("questions", "seconds"), ("seconds", "questions")):
        if one in given and other not in given:
            values.pop(other, None)
    return SimulationConfig.from_dict(values | given)


def _executor(ray: str | None) -> Executor | None:
    if ray is None:
        return None
    from corefine.simulation.ray_cluster import RayExecutor, connect

    connect(ray)
    return RayExecutor()


def _show(events: Iterable[RunEvent], out: Path) -> None:
    """Print a line for each round, and at the end what took how long."""
    from corefine.simulation.loop import RoundDone
    from corefine.simulation.runs import read_timing

    for event in events:
        if isinstance(event, RoundDone):
            typer.echo(_line(event.row))
    timing = read_timing(out)
    parts = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in sorted(timing.parts.items()))
    typer.echo(f"{timing.total:.0f} s in all ({parts})")
    typer.echo(f"selection and closure: {100 * timing.choosing:.1f} % of the time")


def _line(row: RoundRow) -> str:
    scores = "  ".join(f"{split} {found.conll_f1:5.2f}" for split, found in row.scores.items())
    line = f"round {row.round:2}  {row.documents:4} documents  {row.hours:7.2f} h  F1 {scores}"
    for name in dict.fromkeys(name for found in row.scores.values() for name in found.own):
        line += f"  {name} " + "  ".join(f"{split} {found.own[name]:5.2f}" for split, found in row.scores.items())
    asked = row.asked
    if asked is None:
        return line + "  (trained on everything)"
    share = f"{100 * asked.yes / asked.initial:.0f} % yes" if asked.initial else "-"
    return f"{line}  {asked.questions:5} questions, {share}, labels {asked.before_f1:.1f} -> {asked.after_f1:.1f}"

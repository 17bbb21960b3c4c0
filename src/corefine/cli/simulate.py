"""`corefine simulate`: one run of active learning with gold labels playing the annotator."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from corefine.simulation.config import SimulationConfig
    from corefine.simulation.loop import RunEvent
    from corefine.simulation.rows import RoundRow
    from corefine.simulation.workers import Workers

corpus_, questions_, budget_, learning_, running_ = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("Corpus", "Questions", "Budget", "Learning", "Running")
)


def simulate(
    out: Annotated[Path | None, running_(help="Folder of the run.")] = None,
    resume: Annotated[bool, running_("--resume", help="Go on with the run in --out.")] = False,
    config: Annotated[Path | None, running_(help="Settings from a TOML file; flags go before it.")] = None,
    print_config: Annotated[bool, running_("--print-config", help="Print commented TOML and exit.")] = False,
    explain: Annotated[bool, running_("--explain", help="Explain the first ten questions.")] = False,
    ray: Annotated[str | None, running_(help="Work on Ray: on this machine, or the cluster at an address.")] = None,
    mirror: Annotated[Path | None, corpus_(help="Folder that has the corpora of the registry.")] = None,
    corpus: Annotated[str | None, corpus_(help="A corpus's name, a file, a folder, or 'stories'.")] = None,
    documents: Annotated[int | None, corpus_(help="Training documents to use, at most.")] = None,
    initial: Annotated[float | None, corpus_(help="Share that is fully labelled from the start.")] = None,
    documents_per_round: Annotated[int | None, corpus_(help="Documents annotated in each round.")] = None,
    rounds: Annotated[int | None, corpus_(help="Rounds, instead of documents a round.")] = None,
    protocol: Annotated[str | None, questions_(help="discrete, pairwise, discrete-only (follow-up), or full.")] = None,
    selector: Annotated[str | None, questions_(help="Which mention is asked about next.")] = None,
    unclustered: Annotated[bool, questions_("--unclustered", help="Antecedents, not entities, are outcomes.")] = False,
    closure: Annotated[str | None, questions_(help="incremental, per-document or off.")] = None,
    infer_first: Annotated[bool, questions_("--infer-first", help="A first appearance has no antecedent.")] = False,
    nearest: Annotated[bool, questions_("--nearest", help="The annotator marks the nearest antecedent.")] = False,
    error_rate: Annotated[float | None, questions_(help="Share of wrong answers.")] = None,
    questions: Annotated[float | None, budget_(help="Budget in questions.")] = None,
    seconds: Annotated[float | None, budget_(help="Budget in seconds of annotation.")] = None,
    per: Annotated[str | None, budget_(help="1000-tokens or document.")] = None,
    equal_time: Annotated[bool | None, budget_("--equal-time/--own-time", help="Pairwise: time as discrete.")] = None,
    read_at_most: Annotated[int | None, budget_(help="Documents read in each round, at most.")] = None,
    labels: Annotated[str | None, learning_(help="pseudo, answered, mix or certain.")] = None,
    rest: Annotated[float | None, learning_(help="mix: weight of what nobody answered.")] = None,
    learner: Annotated[str | None, learning_(help="model, or rules (nothing is trained).")] = None,
    recipe: Annotated[str | None, learning_(help="Model and training: a name or a TOML file.")] = None,
    round_epochs: Annotated[int | None, learning_(help="Epochs in each round, at most.")] = None,
    round_documents: Annotated[int | None, learning_(help="Documents a warm round trains on, at most.")] = None,
    committee: Annotated[int | None, learning_(help="Members of the committee.")] = None,
    start: Annotated[str | None, learning_(help="warm or scratch: what rounds begin with.")] = None,
    starter: Annotated[str | None, learning_(help="A model to begin with, or 'starter'.")] = None,
    seed: Annotated[int | None, running_(help="Of everything random.")] = None,
    threads: Annotated[int | None, running_(help="Threads of torch.")] = None,
) -> None:  # fmt: skip
    """Simulate annotation of a corpus: ask, answer from gold, relabel, retrain, and count the hours."""
    flags = {
        "corpus": corpus, "documents": documents, "initial": initial, "documents_per_round": documents_per_round,
        "rounds": rounds, "protocol": protocol, "selector": selector, "clustered": False if unclustered else None,
        "closure": closure, "questions": questions, "seconds": seconds, "per": per, "equal_time": equal_time,
        "read_at_most": read_at_most, "infer_first": infer_first or None, "nearest": nearest or None,
        "error_rate": error_rate, "labels": labels, "rest": rest, "learner": learner, "recipe": recipe,
        "round_epochs": round_epochs, "round_documents": round_documents, "committee": committee, "start": start,
        "starter": starter, "seed": seed, "threads": threads,
    }  # fmt: skip
    given = {name: value for name, value in flags.items() if value is not None}
    settings = _settings(given, config, out if resume else None)
    if print_config:
        from corefine.simulation.config import as_toml

        typer.echo(as_toml(settings), nl=False)
        return
    from corefine.simulation.splits import load

    documents_of = load(settings.corpus, mirror=mirror)
    if explain:
        from corefine.simulation.explain import explain_document

        for line in explain_document(settings, documents_of):
            typer.echo(line)
        return
    if out is None:
        raise typer.BadParameter("give the folder of the run", param_hint="--out")
    from corefine.simulation.runs import run

    _show(run(settings, out, documents_of, resume=resume, workers=_workers(ray)), out)


def _settings(given: dict[str, Any], config: Path | None, resumed: Path | None) -> SimulationConfig:
    """Flags over the TOML file over the defaults; for a run that is resumed, what it was started with."""
    from corefine.simulation.config import SimulationConfig, load_settings
    from corefine.simulation.runs import read_info

    values = load_settings(config) if config is not None else {}
    if resumed is not None:
        values = read_info(resumed).simulation.to_dict() | values
    for one, other in (("questions", "seconds"), ("seconds", "questions")):
        if one in given and other not in given:
            values.pop(other, None)
    return SimulationConfig.from_dict(values | given)


def _workers(ray: str | None) -> Workers | None:
    if ray is None:
        return None
    from corefine.simulation.ray_cluster import RayWorkers, connect

    connect(ray)
    return RayWorkers()


def _show(events: Iterable[RunEvent], out: Path) -> None:
    """A line a round on stdout, and at the end where the time went."""
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
    asked = row.asked
    if asked is None:
        return line + "  (trained anew on everything)"
    share = f"{100 * asked.yes / asked.initial:.0f} % yes" if asked.initial else "-"
    return f"{line}  {asked.questions:5} questions, {share}, labels {asked.before_f1:.1f} -> {asked.after_f1:.1f}"

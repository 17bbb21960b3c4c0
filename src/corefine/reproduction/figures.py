"""The figures of the report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corefine.reproduction import paper
from corefine.reproduction.cells import COMPARED, GOLD_KIND, LABELS, NO_QUESTIONS, OURS, QUESTIONS
from corefine.reproduction.closure_timing import ClosureTimes
from corefine.reproduction.drawing import SETTINGS, STYLES, draw_line, legend_below, need_plot, new_axes, save, style_of
from corefine.simulation.config import LEARNING
from corefine.simulation.summary import FIRST, TENTHS, RunRecord, SeedMeans, by_seed, first_models, points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure on disk: the name of its files, what it shows, and the corpus it is about, if any."""

    name: str
    subject: str
    corpus: str | None


def draw_all(records: Sequence[RunRecord], folder: Path, closure: ClosureTimes | None) -> list[Drawn]:
    """Draw every figure that the records have data for, corpus by corpus, in the order of the report."""
    need_plot()
    import matplotlib as mpl

    mpl.use("Agg")
    of_corpus: dict[str, list[RunRecord]] = {}
    for record in records:
        of_corpus.setdefault(record.corpus, []).append(record)
    drawn: list[Drawn] = []
    with mpl.rc_context(SETTINGS):
        for corpus in sorted(of_corpus, key=lambda name: (-len(of_corpus[name]), name)):
            # only the corpus with most runs has names without a suffix
            suffix = "_" + re.sub(r"[^a-z0-9]+", "_", corpus.lower()) if drawn else ""
            for subject, figure in _figures(of_corpus[corpus]):
                if figure is not None:
                    save(figure, folder, subject + suffix)
                    drawn.append(Drawn(subject + suffix, subject, corpus))
        if closure:
            save(closure_times(closure), folder, "closure")
            drawn.append(Drawn("closure", "closure", None))
    return drawn


def _figures(records: Sequence[RunRecord]) -> Iterator[tuple[str, Figure | None]]:
    yield "f1", curves(records, "conll_f1", "CoNLL F1")
    yield "mention_f1", curves(records, "mention_f1", "mention F1")
    yield "pronoun_f1", curves(records, "pronoun_f1", "F1, clusters with a pronoun")
    yield "delta_f1", curves(records, "delta_f1", "delta F1 on annotated documents", zero=True)
    yield "labels", label_policies(records)
    yield "rounds", over_rounds(records)
    yield "yes_share", yes_shares(records)
    yield "paper", beside_paper(records)


def main_points(records: Sequence[RunRecord]) -> dict[str, list[SeedMeans]]:
    """The points of each kind that has a curve, by time.

    Curves begin with budget 0. Those of fully labelled documents and of ours begin with the first model, as no model
    learns from its own labels there. Other questions with a single budget are in the tables only: they would hide the
    rest.
    """
    shown = [record for record in records if record.group in COMPARED]
    single = {kind for kind in QUESTIONS if len({record.budget for record in shown if record.kind == kind}) == 1}
    found = points(record for record in shown if record.kind not in single)
    first = points(first_models(records))
    zero = [point for point in found if point.kind == "none"] or first
    curves: dict[str, list[SeedMeans]] = {}
    for point in found:
        if point.kind not in (*NO_QUESTIONS, GOLD_KIND):
            curves.setdefault(point.kind, []).append(point)
    order = [kind for kind in STYLES if kind in curves] + [kind for kind in curves if kind not in STYLES]
    ours = {kind for kind, changes in (OURS | QUESTIONS).items() if changes.get("labels") == LEARNING["labels"]}
    from_first = {"full", *ours}
    return {
        kind: sorted([*(first if kind in from_first else zero), *curves[kind]], key=lambda point: point.mean("hours"))
        for kind in order
    }


def curves(records: Sequence[RunRecord], measure: str, label: str, *, zero: bool = False) -> Figure | None:
    """A measure against minutes a document, with total hours on the axis above.

    Minutes are hours over all documents of the runs, also where only a few of them were labelled fully.
    """
    of_kind = main_points(records)
    if not of_kind:
        return None
    documents = max(1, *(record.annotated for record in records))
    figure, axes = new_axes()
    for kind, found in of_kind.items():
        kept = [point for point in found if not (zero and point.kind in (*NO_QUESTIONS, FIRST))]
        draw_line(
            axes,
            kind,
            [point.mean("hours") * 60 / documents for point in kept],
            [point.mean(measure) for point in kept],
            [point.spread(measure) for point in kept],
        )
    axes.set_xlabel("annotation, minutes a document")
    axes.set_ylabel(label)
    if zero:
        axes.axhline(0.0, color="black", linewidth=0.8)
    else:
        _first_model(axes, records, measure)
    above = axes.secondary_xaxis("top", functions=(_times(documents / 60), _times(60 / documents)))
    above.set_xlabel("total hours")
    legend_below(axes)
    return figure


def _first_model(axes: Axes, records: Sequence[RunRecord], measure: str = "conll_f1") -> None:
    """Lines at the scores of the first model (unless all runs have a committee) and of the model with gold labels."""
    gold = points(record for record in records if record.kind == GOLD_KIND)
    ends = [(point, (0, (6, 4)), "first model, no annotation") for point in points(first_models(records))]
    ends += [(point, (0, (1, 3)), "gold labels of all documents") for point in gold]
    for point, dashes, label in ends:
        axes.axhline(point.mean(measure), color="black", linewidth=0.9, linestyle=dashes, label=label, zorder=1)


def label_policies(records: Sequence[RunRecord]) -> Figure | None:
    """F1 against total hours for each label policy, over the same seeds."""
    kinds = [kind for kind in ("discrete", *LABELS) if any(record.kind == kind for record in records)]
    seeds: dict[float, set[int]] = {}
    for budget in {record.budget for record in records if record.group == "labels"}:
        of_kinds = [set(by_seed(records, kind, budget)) for kind in kinds]
        seeds[budget] = set.intersection(*(each for each in of_kinds if each))
    if not seeds or any(record.settings.labels != "pseudo" for record in records if record.kind == "discrete"):
        return None
    shown = [record for record in records if record.seed in seeds.get(record.budget, ())]
    figure, axes = new_axes()
    for kind in kinds:
        found = sorted(points(r for r in shown if r.kind == kind), key=lambda point: point.mean("hours"))
        x, y = [point.mean("hours") for point in found], [point.mean("conll_f1") for point in found]
        label = "all labels alike, as the paper" if kind == "discrete" else None
        draw_line(axes, kind, x, y, [point.spread("conll_f1") for point in found], label)
    _first_model(axes, [record for record in records if record.seed in set().union(*seeds.values())])
    axes.set_xlabel("total hours")
    axes.set_ylabel("CoNLL F1")
    legend_below(axes, columns=1)
    return figure


def _times(factor: float) -> Callable[[Any], Any]:
    return lambda value: value * factor


def over_rounds(records: Sequence[RunRecord]) -> Figure | None:
    """F1 of the model of each round against the hours spent until then, in the main runs of seed 0."""
    shown = [
        record for record in records if record.group in ("main", "ours") and record.seed == 0 and record.kind in STYLES
    ]
    if not shown:
        return None
    budget = max(record.budget for record in shown)
    figure, axes = new_axes(f"round by round, {budget:g} {shown[0].unit}, seed 0")
    for record in shown:
        if record.budget == budget:
            values = [row.scores_on("test").conll_f1 for row in record.rounds]
            draw_line(axes, record.kind, [row.hours for row in record.rounds], values)
    axes.set_xlabel("total hours")
    axes.set_ylabel("CoNLL F1")
    axes.legend(frameon=False)
    return figure


def yes_shares(records: Sequence[RunRecord]) -> Figure | None:
    """The share of initial questions answered yes, over the course of a document's questions."""
    shown = [record for record in records if record.group in COMPARED and any(record.questions.initial)]
    if not shown:
        return None
    figure, axes = new_axes()
    for kind in dict.fromkeys(record.kind for record in shown):
        of_kind = [record for record in shown if record.kind == kind]
        initial = [sum(record.questions.initial[tenth] for record in of_kind) for tenth in range(TENTHS)]
        yes = [sum(record.questions.yes[tenth] for record in of_kind) for tenth in range(TENTHS)]
        share = [100 * y / n if n else float("nan") for y, n in zip(yes, initial, strict=True)]
        draw_line(axes, kind, [10 * tenth + 5 for tenth in range(TENTHS)], share)
    axes.set_xlabel("percent of a document's questions asked")
    axes.set_ylabel("answered yes, percent")
    axes.set_ylim(0, 100)
    axes.legend(frameon=False)
    return figure


def beside_paper(records: Sequence[RunRecord]) -> Figure | None:
    """Our curves and the paper's: F1 if budgets are per document, as in the paper; otherwise gains in F1.

    Gains are shown against minutes per 1,000 tokens, because other corpora have longer documents.
    """
    if all(record.settings.per == "document" for record in records):
        return _on_the_papers_axes(records)
    of_kind = {kind: found for kind, found in main_points(records).items() if kind in ("discrete", "pairwise")}
    if len(of_kind) < 2:
        return None
    figure, axes = new_axes()
    tokens = _tokens_per_document(records)
    for kind, found in of_kind.items():
        start = found[0].mean("conll_f1")
        minutes = [1000 * point.mean("minutes") / tokens for point in found]
        draw_line(axes, kind, minutes, [point.mean("conll_f1") - start for point in found])
        published = paper.DISCRETE if kind == "discrete" else paper.PAIRWISE
        times = [paper.minutes_per_1000_tokens(run) for run in published]
        _draw_published(axes, kind, times, [run.f1 - published[0].f1 for run in published])
    axes.set_xlabel("annotation, minutes per 1,000 tokens")
    axes.set_ylabel("gain in CoNLL F1")
    axes.legend(frameon=False)
    return figure


def _on_the_papers_axes(records: Sequence[RunRecord]) -> Figure | None:
    """Development F1 against minutes per document, with the paper's own lines."""
    of_kind = main_points(records)
    if not of_kind:
        return None
    figure, axes = new_axes()
    for kind, found in of_kind.items():
        values, spread = ([each(point) for point in found] for each in (_dev, _dev_spread))
        draw_line(axes, kind, [point.mean("minutes") for point in found], values, spread)
    for kind, published in (("discrete", paper.DISCRETE), ("pairwise", paper.PAIRWISE)):
        _draw_published(axes, kind, [run.minutes for run in published], [run.f1 for run in published])
    axes.set_xlabel("annotation, minutes a document")
    axes.set_ylabel("CoNLL F1, development documents")
    legend_below(axes)
    return figure


def _dev(point: SeedMeans) -> float:
    return point.mean("dev_f1")


def _dev_spread(point: SeedMeans) -> float:
    return point.spread("dev_f1")


def _draw_published(axes: Axes, kind: str, x: Sequence[float], y: Sequence[float]) -> None:
    style = style_of(kind)
    label = f"the paper's {kind}"
    axes.plot(x, y, marker=style.marker, markerfacecolor="white", linestyle=style.dashes, color="#999999", label=label)


def _tokens_per_document(records: Sequence[RunRecord]) -> float:
    asked = [asked for record in records for asked in record.asked]
    return sum(each.tokens for each in asked) / max(1, sum(each.documents for each in asked))


def closure_times(times: ClosureTimes) -> Figure:
    """Milliseconds to take one more link, by the number of links, beside the paper's at 1,600."""
    figure, axes = new_axes()
    styles = {
        "ours": ("o", "-", "#1b3a6b"),
        "Algorithm 1": ("s", "--", "#b3331d"),
        "from scratch": ("^", ":", "#4d4d4d"),
    }
    for name, found in times.items():
        marker, dashes, shade = styles[name]
        axes.plot(*zip(*found, strict=True), marker=marker, linestyle=dashes, color=shade, label=name)
    for name, milliseconds in paper.CLOSURE_MILLISECONDS.items():
        axes.plot([paper.CLOSURE_LINKS], [milliseconds], marker="*", color="black", linestyle="none", markersize=11)
        axes.annotate(f"the paper's, {name}", (paper.CLOSURE_LINKS, milliseconds), ha="right", va="bottom", fontsize=10)
    axes.set_yscale("log")
    axes.set_xlabel("links")
    axes.set_ylabel("milliseconds for one more link")
    axes.legend(frameon=False)
    return figure

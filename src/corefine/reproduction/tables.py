"""The tables of the report, ours and the paper's numbers side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from statistics import fmean

from corefine.annotation.cost import CostModel, most_pairwise_questions
from corefine.reproduction import paper
from corefine.reproduction.cells import ABLATION, EXTENSIONS, LABELS
from corefine.reproduction.claims import claims, labels_gain
from corefine.reproduction.table import Table
from corefine.simulation.summary import FIRST, CurvePoint, RunRecord, by_seed, first_models, points

Closure = dict[str, list[tuple[int, float]]]
"""Milliseconds to take one more link, by how many there are; of each way to keep the closure."""


def all_tables(records: Sequence[RunRecord], closure: Closure | None) -> list[Table]:
    """Every table the records have something for."""
    made = []
    for corpus in sorted({record.corpus for record in records}):
        own = [record for record in records if record.corpus == corpus]
        made += [table for table in _of_corpus(corpus, own) if table.rows]
    made.append(published())
    if closure:
        made.append(closure_table(closure))
    made.append(full_labels())
    return made


def _of_corpus(corpus: str, records: Sequence[RunRecord]) -> Iterator[Table]:
    yield claims(corpus, records)
    yield main_table(corpus, records)
    yield gaps(corpus, records)
    yield ablation(corpus, records)
    for group, title in (("labels", "What annotated documents teach"), ("extensions", "Extensions")):
        yield against_discrete(corpus, records, group, title)


def _with_spread(point: CurvePoint, measure: str, digits: int = 2) -> str:
    mean = f"{point.mean(measure):.{digits}f}"
    return f"{mean} ± {point.spread(measure):.{digits}f}" if point.seeds > 1 else mean


def main_table(corpus: str, records: Sequence[RunRecord]) -> Table:
    shown = [record for record in records if record.group in ("main", "selectors")]
    return Table(
        f"{corpus}: selectors and baselines",
        f"Scores of the last model, trained anew on everything; {records[0].unit}; time per annotated document. "
        "First model: before any question, trained on the documents labelled from the start, or the starter; no "
        "questions: trained on them and on its own labels for the others. A committee's scores are of the mean of its "
        "models.",
        (
            "",
            "questions",
            "seeds",
            "minutes",
            "hours",
            "F1 test",
            "F1 dev",
            "mention F1",
            "pronoun F1",
            "delta F1",
            "yes %",
        ),
        tuple(
            (
                "no questions" if point.kind == "none" else point.kind,
                f"{point.budget:g}",
                str(point.seeds),
                f"{point.mean('minutes'):.1f}",
                f"{point.mean('hours'):.1f}",
                *(_with_spread(point, measure) for measure in ("conll_f1", "dev_f1", "mention_f1", "pronoun_f1")),
                "-" if point.kind in ("none", FIRST) else _with_spread(point, "delta_f1", 1),
                f"{point.mean('yes_share'):.0f}" if point.mean("yes_share") else "-",
            )
            for point in [*points(first_models(records)), *points(shown)]
        ),
    )


def gaps(corpus: str, records: Sequence[RunRecord]) -> Table:
    """Discrete against each baseline at the same budget, seed by seed."""
    found = {(record.kind, record.budget, record.seed): record for record in records}
    rows = []
    for budget in sorted({record.budget for record in records if record.kind == "discrete"}):
        for kind in ("pairwise", "random", "full"):
            pairs = [
                (record, found[kind, budget, record.seed])
                for record in records
                if record.kind == "discrete" and record.budget == budget and (kind, budget, record.seed) in found
            ]
            if not pairs:
                continue
            test = [one.score() - other.score() for one, other in pairs]
            dev = [one.score(split="dev") - other.score(split="dev") for one, other in pairs]
            labels = labels_gain(records, kind, budget)
            rows.append(
                (
                    f"discrete - {kind}",
                    f"{budget:g}",
                    str(len(pairs)),
                    f"{fmean(test):+.2f}" + (f" ({min(test):+.2f} to {max(test):+.2f})" if len(test) > 1 else ""),
                    f"{fmean(dev):+.2f}",
                    f"{labels:.1f}" if labels < inf else "-",
                )
            )
    return Table(
        f"{corpus}: what discrete questions gain",
        "Differences in F1 at the same budget and seed (the mean, and the smallest and largest over seeds), and how "
        "many times as much the labels of annotated documents improve. Pairwise and full are given the same time.",
        ("", "questions", "seeds", "F1 test", "F1 dev", "delta F1, times"),
        tuple(rows),
    )


def ablation(corpus: str, records: Sequence[RunRecord]) -> Table:
    chosen = [record for record in records if record.group == "ablation"]
    if not chosen:
        return Table(f"{corpus}: ablation", "", ("",), ())
    budget, seeds = chosen[0].budget, {record.seed for record in chosen}
    same = [record for record in records if record.budget == budget and record.seed in seeds]
    compared = {point.kind: point for point in points(same)}
    usual = by_seed(same, "discrete", budget)
    return Table(
        f"{corpus}: ablation at {budget:g} {chosen[0].unit}",
        f"{AGAINST} The paper's column: CoNLL-2012 development set, about 315 hours.",
        ("", "seeds", "hours", "F1 test", "F1 dev", "against discrete", "delta F1", "paper's F1"),
        tuple(
            (
                kind,
                str(compared[kind].seeds),
                f"{compared[kind].mean('hours'):.1f}",
                *(_with_spread(compared[kind], measure) for measure in ("conll_f1", "dev_f1")),
                "-" if kind == "discrete" else _against(by_seed(same, kind, budget), usual),
                _with_spread(compared[kind], "delta_f1", 1),
                f"{paper.ABLATION[kind]:.2f}" if kind in paper.ABLATION else "-",
            )
            for kind in ("discrete", *ABLATION, "pairwise", "random")
            if kind in compared
        ),
    )


AGAINST = "“Against discrete”: the discrete run of the same budget and seed; test, then dev."


def against_discrete(corpus: str, records: Sequence[RunRecord], group: str, title: str) -> Table:
    """Cells of a group beside the discrete runs of the same budget and seeds: per hour, what do they bring?"""
    rows = []
    for budget in sorted({record.budget for record in records if record.group == group}):
        found = {record.kind for record in records if record.group == group and record.budget == budget}
        kinds = sorted(found, key=[*LABELS, *EXTENSIONS, *found].index)
        seeds = {record.seed for record in records if record.kind in kinds and record.budget == budget}
        same = [record for record in records if record.seed in seeds]
        usual = by_seed(same, "discrete", budget)
        for kind in (["discrete"] if usual else []) + kinds:
            runs = by_seed(same, kind, budget)
            point = points(runs.values())[0]
            gains = [(run.score() - run.first().score()) / run.hours for run in runs.values() if run.hours]
            rows.append(
                (
                    kind,
                    f"{budget:g}",
                    str(point.seeds),
                    f"{point.mean('hours'):.1f}",
                    *(_with_spread(point, measure) for measure in ("conll_f1", "dev_f1")),
                    "-" if kind == "discrete" else _against(runs, usual),
                    f"{fmean(gains):+.3f}" if gains else "-",
                    _with_spread(point, "delta_f1", 1),
                )
            )
    return Table(
        f"{corpus}: {title[0].lower()}{title[1:]}",
        f"{AGAINST} Per hour: gain in test F1 over the first model, for each hour of annotation.",
        ("", "questions", "seeds", "hours", "F1 test", "F1 dev", "against discrete", "F1 per hour", "delta F1"),
        tuple(rows),
    )


def _against(runs: dict[int, RunRecord], others: dict[int, RunRecord]) -> str:
    """Mean differences in test and development F1 over the seeds that both were run with."""
    both = sorted(runs.keys() & others.keys())
    if not both:
        return "-"
    return ", ".join(
        f"{fmean(runs[seed].score(split=split) - others[seed].score(split=split) for seed in both):+.2f}"
        for split in ("test", "dev")
    )


def published() -> Table:
    rows = [
        (
            name,
            str(run.questions),
            f"{1000 * run.questions / paper.TOKENS_PER_DOCUMENT:.0f}",
            f"{run.minutes:.1f}",
            f"{paper.minutes_per_1000_tokens(run):.0f}",
            f"{run.minutes * paper.ANNOTATED_DOCUMENTS / 60:.0f}",
            f"{run.f1:.1f}",
        )
        for name, runs in (("discrete", paper.DISCRETE), ("pairwise", paper.PAIRWISE))
        for run in runs
    ]
    return Table(
        "The paper's own runs",
        "CoNLL-2012, development F1; documents of about 465 tokens. Pairwise had more time than discrete.",
        ("", "a document", "per 1,000 tokens", "minutes a document", "minutes per 1,000", "hours", "F1"),
        tuple(rows),
    )


def full_labels() -> Table:
    """The arithmetic of labelling a document fully."""
    cost = CostModel()
    questions, seconds = paper.FULL_DISCRETE
    pairs, pair_seconds = paper.FULL_PAIRWISE
    ours, ours_pairs = cost.discrete(0, questions), cost.pairwise(most_pairwise_questions(questions, candidates=100))
    return Table(
        "Labelling one document fully",
        f"A document of {questions} top spans, all answered no, against every pair with 100 candidates a span.",
        ("", "questions", "seconds here", "seconds in the paper", "share"),
        (
            ("discrete", str(questions), f"{ours:.2f}", f"{seconds:.2f}", f"{100 * ours / ours_pairs:.2f} %"),
            (
                "pairwise",
                f"{most_pairwise_questions(questions, candidates=100):,}",
                f"{ours_pairs:.0f}",
                f"{pair_seconds:.0f} ({pairs:,} questions)",
                "100 %",
            ),
        ),
    )


def closure_table(times: Closure) -> Table:
    sizes = [size for size, _ in next(iter(times.values()))]
    return Table(
        "One more link",
        "Milliseconds to bring the closure up to date, on this machine; the paper's at 1,600 links.",
        ("", *(f"{size:,} links" for size in sizes), "paper"),
        tuple((name, *(f"{value:.4g}" for _, value in found), _published(name)) for name, found in times.items()),
    )


def _published(name: str) -> str:
    milliseconds = paper.CLOSURE_MILLISECONDS.get(name)
    return "-" if milliseconds is None else f"{milliseconds:g}"

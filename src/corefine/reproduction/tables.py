"""The tables of the report, with the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from statistics import fmean

from corefine.annotation.cost import CostModel, most_pairwise_questions
from corefine.reproduction import paper
from corefine.reproduction.cells import ABLATION, COMPARED, EXTENSIONS, GOLD_KIND, LABELS, NAMES, NO_QUESTIONS
from corefine.reproduction.claims import claims, labels_gain
from corefine.reproduction.closure_timing import ClosureTimes
from corefine.reproduction.departures import departures
from corefine.reproduction.learning_curves import comparison, hours_table, rounds_table
from corefine.reproduction.paired import differences
from corefine.reproduction.table import Table
from corefine.simulation.summary import FIRST, RunRecord, SeedMeans, by_seed, first_models, points

AGAINST = "“Against discrete”: the discrete runs of the same budget and seeds; test, then dev."


def all_tables(records: Sequence[RunRecord], closure: ClosureTimes | None) -> list[Table]:
    """Every table that the records have rows for."""
    tables = []
    for corpus in sorted({record.corpus for record in records}):
        own = [record for record in records if record.corpus == corpus]
        tables += [table for table in _of_corpus(corpus, own) if table.rows]
    tables.append(published())
    if closure:
        tables.append(closure_table(closure))
    tables.append(full_labels())
    return tables


def _of_corpus(corpus: str, records: Sequence[RunRecord]) -> Iterator[Table]:
    yield departures(corpus, records)
    yield claims(corpus, records)
    yield main_table(corpus, records)
    yield gaps(corpus, records)
    yield comparison(corpus, records)
    yield hours_table(corpus, records)
    yield rounds_table(corpus, records)
    yield ablation(corpus, records)
    for group, title in (("labels", "what annotated documents teach"), ("extensions", "extensions")):
        yield against_discrete(corpus, records, group, title)


def main_table(corpus: str, records: Sequence[RunRecord]) -> Table:
    shown = [record for record in records if record.group in COMPARED]
    f1 = ("F1 test", "F1 dev", "mention F1", "pronoun F1")
    return Table(
        f"{corpus}: selectors and baselines",
        f"Scores of the last model; {records[0].unit}; time per annotated "
        "document. First model: before any question, trained on the documents labelled from the start, or the "
        "starter. No questions: trained on them and on its own labels for the others; with ours, on them alone. Gold "
        "labels of all documents: what the same training makes of them, at 28.01 s for each top span. A committee's "
        "scores are of the mean of its models.",
        ("", "questions", "seeds", "minutes", "hours", *f1, "delta F1", "yes %"),
        tuple(
            (
                NAMES.get(point.kind, point.kind),
                "all" if point.kind == GOLD_KIND else f"{point.budget:g}",
                str(point.seeds),
                f"{point.mean('minutes'):.1f}",
                f"{point.mean('hours'):.1f}",
                *(_with_spread(point, measure) for measure in ("conll_f1", "dev_f1", "mention_f1", "pronoun_f1")),
                "-" if point.kind in (*NO_QUESTIONS, FIRST, GOLD_KIND) else _with_spread(point, "delta_f1", 1),
                f"{point.mean('yes_share'):.0f}" if point.mean("yes_share") else "-",
            )
            for point in [*points(first_models(records)), *points(shown)]
        ),
    )


def _with_spread(point: SeedMeans, measure: str, digits: int = 2) -> str:
    mean = f"{point.mean(measure):.{digits}f}"
    return f"{mean} ± {point.spread(measure):.{digits}f}" if point.seeds > 1 else mean


def gaps(corpus: str, records: Sequence[RunRecord]) -> Table:
    """Discrete against each baseline at the same budget, seed by seed."""
    rows = []
    for budget in sorted({record.budget for record in records if record.kind == "discrete"}):
        for kind in ("pairwise", "random", "full"):
            runs, others = by_seed(records, "discrete", budget), by_seed(records, kind, budget)
            test, dev = differences(runs, others), differences(runs, others, ("dev",))
            if test is None or dev is None:
                continue
            labels = labels_gain(records, kind, budget)
            rows.append(
                (
                    f"discrete - {kind}",
                    f"{budget:g}",
                    str(test),
                    str(dev),
                    *(f"{fmean(run.hours for run in each.values()):.1f}" for each in (runs, others)),
                    f"{labels:.1f}" if labels < inf else "-",
                )
            )
    return Table(
        f"{corpus}: what discrete questions gain",
        "Differences in F1 between runs of the same budget and seed: their mean and its interval of 95 percent; the "
        "hours of both; and how many times as much the labels of annotated documents improve.",
        ("", "questions", "F1 test", "F1 dev", "hours", "hours of the other", "delta F1, times"),
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


def against_discrete(corpus: str, records: Sequence[RunRecord], group: str, title: str) -> Table:
    """The runs of a group beside the discrete runs of the same budget and seeds."""
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
        f"{corpus}: {title}",
        f"{AGAINST} Per hour: gain in test F1 over the first model, for each hour of annotation.",
        ("", "questions", "seeds", "hours", "F1 test", "F1 dev", "against discrete", "F1 per hour", "delta F1"),
        tuple(rows),
    )


def _against(runs: Mapping[int, RunRecord], others: Mapping[int, RunRecord]) -> str:
    """Mean differences in test and development F1, with intervals."""
    found = [differences(runs, others, (split,)) for split in ("test", "dev")]
    return "; ".join(str(each) for each in found if each is not None) or "-"


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
    """What it costs to label a document fully."""
    cost = CostModel()
    questions, seconds = paper.FULL_DISCRETE
    pairs, pair_seconds = paper.FULL_PAIRWISE
    our_pairs = most_pairwise_questions(questions, candidates=100)
    ours, ours_pairwise = cost.discrete(0, questions), cost.pairwise(our_pairs)
    published_pairs = f"{pair_seconds:.0f} ({pairs:,} questions)"
    return Table(
        "Labelling one document fully",
        f"A document of {questions} top spans, all answered no, against every pair with 100 candidates a span.",
        ("", "questions", "seconds here", "seconds in the paper", "share"),
        (
            ("discrete", str(questions), f"{ours:.2f}", f"{seconds:.2f}", f"{100 * ours / ours_pairwise:.2f} %"),
            ("pairwise", f"{our_pairs:,}", f"{ours_pairwise:.0f}", published_pairs, "100 %"),
        ),
    )


def closure_table(times: ClosureTimes) -> Table:
    sizes = [size for size, _ in next(iter(times.values()))]
    published = {name: f"{milliseconds:g}" for name, milliseconds in paper.CLOSURE_MILLISECONDS.items()}
    return Table(
        "One more link",
        "Milliseconds to bring the closure up to date, on this machine; the paper's at 1,600 links.",
        ("", *(f"{size:,} links" for size in sizes), "paper"),
        tuple(
            (name, *(f"{value:.4g}" for _, value in found), published.get(name, "-")) for name, found in times.items()
        ),
    )

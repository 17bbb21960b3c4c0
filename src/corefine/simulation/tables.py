"""The tables of the report, ours and the paper's numbers side by side."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from statistics import fmean

from corefine.cost import CostModel, most_pairwise_questions
from corefine.simulation import paper
from corefine.simulation.summary import Point, Record, points

CLOSURE_SIZES = (100, 200, 400, 800, 1_600)
SCRATCH_TIMED = 2
"""Links that are timed from scratch at each size; each takes a second or more at 1,600."""


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    note: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        lines = [f"### {self.title}", "", self.note, ""] if self.note else [f"### {self.title}", ""]
        lines.append("| " + " | ".join(self.head) + " |")
        lines.append("|" + "|".join(["---"] + ["---:"] * (len(self.head) - 1)) + "|")
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self.head)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in self.rows)
        note = f'<p class="note">{html.escape(self.note)}</p>' if self.note else ""
        return (
            f"<h2>{html.escape(self.title)}</h2>{note}"
            f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        )


def all_tables(records: Sequence[Record], closure: dict[str, list[tuple[int, float]]] | None) -> list[Table]:
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


def _of_corpus(corpus: str, records: Sequence[Record]) -> Iterator[Table]:
    yield claims(corpus, records)
    yield main_table(corpus, records)
    yield gaps(corpus, records)
    yield ablation(corpus, records)
    for group, title in (("labels", "What annotated documents teach"), ("extensions", "Extensions")):
        yield against_discrete(corpus, records, group, title)


def _with_spread(point: Point, measure: str, digits: int = 2) -> str:
    mean = f"{point.mean(measure):.{digits}f}"
    return f"{mean} ± {point.spread(measure):.{digits}f}" if point.seeds > 1 else mean


def main_table(corpus: str, records: Sequence[Record]) -> Table:
    shown = [record for record in records if record.group in ("main", "selectors")]
    return Table(
        f"{corpus}: selectors and baselines",
        "Scores of the last model, trained from scratch; questions per 1,000 tokens; time per annotated document.",
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
                "-" if point.kind == "none" else _with_spread(point, "delta_f1", 1),
                f"{point.mean('yes_share'):.0f}" if point.mean("yes_share") else "-",
            )
            for point in points(shown)
        ),
    )


def gaps(corpus: str, records: Sequence[Record]) -> Table:
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
            labels = [one.delta_f1 / other.delta_f1 for one, other in pairs if other.delta_f1 > 0]
            rows.append(
                (
                    f"discrete - {kind}",
                    f"{budget:g}",
                    str(len(pairs)),
                    f"{sum(test) / len(test):+.2f} ({min(test):+.2f} to {max(test):+.2f})",
                    f"{sum(dev) / len(dev):+.2f}",
                    f"{sum(labels) / len(labels):.1f}" if labels else "-",
                )
            )
    return Table(
        f"{corpus}: what discrete questions gain",
        "Differences in F1 at the same budget and seed (the mean, and the smallest and largest over seeds), and how "
        "many times as much the labels of annotated documents improve. Pairwise and full are given the same time.",
        ("", "questions", "seeds", "F1 test", "F1 dev", "delta F1, times"),
        tuple(rows),
    )


def claims(corpus: str, records: Sequence[Record]) -> Table:
    """The paper's claims, and whether they hold in these runs. Scores are means of test and development F1."""
    means: dict[tuple[str, float], list[Record]] = {}
    for record in records:
        means.setdefault((record.kind, record.budget), []).append(record)

    def gain(kind: str, other: str, budget: float) -> float:
        """How much better one is, over the seeds that both were run with."""
        one, two = ({r.seed: (r.score() + r.score(split="dev")) / 2 for r in means[k, budget]} for k in (kind, other))
        both = one.keys() & two.keys()
        return fmean(one[seed] - two[seed] for seed in both) if both else nan

    budgets = sorted(budget for kind, budget in means if kind == "pairwise")
    chosen = [(kind, b) for b in budgets for kind in ("discrete", "committee", "lcc-mcu") if (kind, b) in means]
    rows = []
    gaps_to = {(kind, budget): gain(kind, "pairwise", budget) for kind, budget in chosen}
    if gap := {key: gained for key, gained in gaps_to.items() if not isnan(gained)}:
        worst, best = min(gap, key=lambda key: gap[key]), max(gap, key=lambda key: gap[key])
        rows.append((CLAIMS[0], _verdict(gap[worst] > 0), f"smallest: {worst[0]} at {worst[1]:g}, {gap[worst]:+.2f}"))
        rows.append((CLAIMS[1], _verdict(gap[best] >= 3), f"widest: {best[0]} at {best[1]:g}, {gap[best]:+.2f}"))
        ratios = {
            b: _ratio(*(fmean(r.delta_f1 for r in means[kind, b]) for kind in ("discrete", "pairwise")))
            for b in budgets
            if ("discrete", b) in means and b > 0
        }
        if ratios:
            shown = ", ".join(f"{_times(ratio)} at {b:g}" for b, ratio in ratios.items())
            rows.append((CLAIMS[2], _verdict(min(ratios.values()) > 2), shown))
    for kind, claim in (("unclustered", CLAIMS[3]), ("per-document", CLAIMS[4])):
        for budget in sorted(b for k, b in means if k == kind and ("discrete", b) in means):
            gained, seeds = gain("discrete", kind, budget), len(means[kind, budget])
            shown = f"{gained:+.2f} at {budget:g}, {seeds} seed{'s' if seeds > 1 else ''}"
            rows.append((claim, _verdict(gained > 0), shown))
    return Table(
        f"{corpus}: the paper's claims",
        "Mean of test and development F1, over seeds. One seed alone moves by about a point; read differences so.",
        ("claim", "here", "by how much"),
        tuple(rows),
    )


CLAIMS = (
    "every discrete selector but random beats pairwise",
    "about 4 F1 between discrete and pairwise where they are widest apart",
    "delta F1 on annotated documents more than twice that of pairwise",
    "clustered probabilities help",
    "incremental closure helps",
)


def _ratio(one: float, other: float) -> float:
    """How many times as much; infinity where the other is no gain at all."""
    return one / other if other > 0 else inf


def _times(ratio: float) -> str:
    return f"{ratio:.1f} times" if ratio < inf else "pairwise gains nothing"


def _verdict(holds: bool) -> str:
    return "holds" if holds else "does not hold"


def ablation(corpus: str, records: Sequence[Record]) -> Table:
    chosen = [record for record in records if record.group == "ablation"]
    if not chosen:
        return Table(f"{corpus}: ablation", "", ("",), ())
    budget = chosen[0].budget
    same = [record for record in records if record.budget == budget and record.seed == chosen[0].seed]
    kinds = ["discrete", *dict.fromkeys(record.kind for record in chosen), "pairwise", "random"]
    of_kind = {record.kind: record for record in same}
    return Table(
        f"{corpus}: ablation at {budget:g} questions per 1,000 tokens",
        "One seed. The paper's column: CoNLL-2012 development set, about 315 hours.",
        ("", "hours", "F1 test", "F1 dev", "delta F1", "paper's F1"),
        tuple(
            (
                kind,
                f"{of_kind[kind].hours:.1f}",
                f"{of_kind[kind].score():.2f}",
                f"{of_kind[kind].score(split='dev'):.2f}",
                f"{of_kind[kind].delta_f1:.1f}",
                f"{paper.ABLATION[kind]:.2f}" if kind in paper.ABLATION else "-",
            )
            for kind in kinds
            if kind in of_kind
        ),
    )


def against_discrete(corpus: str, records: Sequence[Record], group: str, title: str) -> Table:
    """Cells of a group beside the discrete run of the same budget and seed: per hour, what do they bring?"""
    found = {(record.kind, record.budget, record.seed): record for record in records}
    rows = []
    shown = sorted((record for record in records if record.group == group), key=lambda r: (r.budget, r.kind))
    for record in shown:
        usual = found.get(("discrete", record.budget, record.seed))
        none = found.get(("none", 0.0, record.seed))
        rows.append(
            (
                record.kind,
                f"{record.budget:g}",
                f"{record.hours:.1f}",
                f"{record.score():.2f}",
                f"{record.score(split='dev'):.2f}",
                f"{record.score() - usual.score():+.2f}" if usual else "-",
                f"{(record.score() - none.score()) / record.hours:+.3f}" if none and record.hours else "-",
                f"{record.delta_f1:.1f}",
            )
        )
    return Table(
        f"{corpus}: {title[0].lower()}{title[1:]}",
        "One seed. “Against discrete”: the discrete run with pseudo-labels at the same budget. Per hour: gain in test "
        "F1 over no questions, for each hour of annotation.",
        ("", "questions", "hours", "F1 test", "F1 dev", "against discrete", "F1 per hour", "delta F1"),
        tuple(rows),
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


def time_closures(sizes: Sequence[int] = CLOSURE_SIZES) -> dict[str, list[tuple[int, float]]]:
    """Milliseconds to take one more link at each size: ours, the paper's Algorithm 1, from scratch."""
    from corefine.bench.links import algorithm1_us, made_of, ours_us, scratch_us

    times: dict[str, list[tuple[int, float]]] = {"ours": [], "Algorithm 1": [], "from scratch": []}
    for size in sizes:
        made = made_of(size, 0)
        times["ours"].append((size, ours_us(made, replays=3) / 1000))
        times["Algorithm 1"].append((size, algorithm1_us(made, replays=1) / 1000))
        times["from scratch"].append((size, scratch_us(made, SCRATCH_TIMED) / 1000))
    return times


def closure_table(times: dict[str, list[tuple[int, float]]]) -> Table:
    sizes = [size for size, _ in next(iter(times.values()))]
    by_paper = {"ours": "-", "Algorithm 1": "2.93", "from scratch": "1630"}
    return Table(
        "One more link",
        "Milliseconds to bring the closure up to date, on this machine; the paper's at 1,600 links.",
        ("", *(f"{size:,} links" for size in sizes), "paper"),
        tuple((name, *(f"{value:.4g}" for _, value in found), by_paper[name]) for name, found in times.items()),
    )

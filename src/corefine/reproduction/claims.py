"""The paper's claims, judged by the runs there are."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from statistics import fmean

from corefine.reproduction.table import Table
from corefine.simulation.summary import RunRecord, by_seed

CLAIMS = (
    "every discrete selector but random beats pairwise",
    "about 4 F1 between discrete and pairwise where they are widest apart",
    "delta F1 on annotated documents more than twice that of pairwise",
    "clustered probabilities help",
    "incremental closure helps",
)

WIDE = (3.0, 5.0)
"""What counts as about 4."""

ONE_SEED = 1.0
"""By how much F1 moves from seed to seed: less than that, one seed decides nothing."""


def claims(corpus: str, records: Sequence[RunRecord]) -> Table:
    """The paper's claims, and whether they hold in these runs. Scores are means of test and development F1."""
    budgets = sorted({record.budget for record in records if record.kind == "pairwise"})
    rows = []
    gap = {
        (kind, budget): gains
        for budget in budgets
        for kind in ("discrete", "committee", "lcc-mcu")
        if (gains := _gains(records, kind, "pairwise", budget))
    }
    if gap:
        worst, best = (choose(gap, key=lambda key: fmean(gap[key])) for choose in (min, max))
        rows.append((CLAIMS[0], _help(gap[worst]), f"smallest: {worst[0]} at {worst[1]:g}, {_spanning(gap[worst])}"))
        widest = fmean(gap[best])
        verdict = "more than that" if widest > WIDE[1] else _verdict(widest >= WIDE[0])
        rows.append((CLAIMS[1], verdict, f"widest: {best[0]} at {best[1]:g}, {_spanning(gap[best])}"))
        ratios = {b: labels_gain(records, "pairwise", b) for b in budgets if ("discrete", b) in gap and b > 0}
        if ratios:
            shown = ", ".join(f"{_times(ratio)} at {b:g}" for b, ratio in ratios.items())
            rows.append((CLAIMS[2], _verdict(min(ratios.values()) > 2), shown))
    for kind, claim in (("unclustered", CLAIMS[3]), ("per-document", CLAIMS[4])):
        rows += [
            (claim, _help(gains), f"{_spanning(gains)} at {budget:g}")
            for budget in sorted({record.budget for record in records if record.kind == kind})
            if (gains := _gains(records, "discrete", kind, budget))
        ]
    return Table(
        f"{corpus}: the paper's claims",
        "Mean of test and development F1, over seeds. One seed alone moves by about a point; read differences so. "
        "Undecided: better with some seeds and worse with others, or less than that with a single one.",
        ("claim", "here", "by how much"),
        tuple(rows),
    )


def _gains(records: Sequence[RunRecord], kind: str, other: str, budget: float) -> list[float]:
    """How much better one is than the other, for each seed that both were run with."""
    one, two = by_seed(records, kind, budget), by_seed(records, other, budget)
    return [_mean_score(one[seed]) - _mean_score(two[seed]) for seed in sorted(one.keys() & two.keys())]


def _mean_score(record: RunRecord) -> float:
    return (record.score() + record.score(split="dev")) / 2


def labels_gain(records: Sequence[RunRecord], other: str, budget: float) -> float:
    """How many times as much discrete questions improve labels, over the seeds both were run with; infinity where the
    other does not improve them at all."""
    one, two = by_seed(records, "discrete", budget), by_seed(records, other, budget)
    both = one.keys() & two.keys()
    gain, others = (fmean(runs[seed].delta_f1 for seed in both) for runs in (one, two))
    return gain / others if others > 0 else inf


def _help(gains: Sequence[float]) -> str:
    """Whether something helps, if the seeds agree about it, or one alone says it loudly enough."""
    if min(gains) < 0 < max(gains) or (len(gains) == 1 and 0 < abs(gains[0]) < ONE_SEED):
        return "undecided"
    return _verdict(fmean(gains) > 0)


def _spanning(gains: Sequence[float]) -> str:
    if len(gains) == 1:
        return f"{gains[0]:+.2f} (1 seed)"
    return f"{fmean(gains):+.2f} ({min(gains):+.2f} to {max(gains):+.2f}, {len(gains)} seeds)"


def _times(ratio: float) -> str:
    return f"{ratio:.1f} times" if ratio < inf else "pairwise gains nothing"


def _verdict(holds: bool) -> str:
    return "holds" if holds else "does not hold"

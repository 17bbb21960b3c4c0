"""The paper's claims, judged by the runs there are."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from statistics import fmean

from corefine.simulation.summary import Record, by_seed
from corefine.simulation.table import Table

CLAIMS = (
    "every discrete selector but random beats pairwise",
    "about 4 F1 between discrete and pairwise where they are widest apart",
    "delta F1 on annotated documents more than twice that of pairwise",
    "clustered probabilities help",
    "incremental closure helps",
)


def claims(corpus: str, records: Sequence[Record]) -> Table:
    """The paper's claims, and whether they hold in these runs. Scores are means of test and development F1."""
    budgets = sorted({record.budget for record in records if record.kind == "pairwise"})
    rows = []
    gap = {
        (kind, budget): fmean(gains)
        for budget in budgets
        for kind in ("discrete", "committee", "lcc-mcu")
        if (gains := _gains(records, kind, "pairwise", budget))
    }
    if gap:
        worst, best = min(gap, key=lambda key: gap[key]), max(gap, key=lambda key: gap[key])
        rows.append((CLAIMS[0], _verdict(gap[worst] > 0), f"smallest: {worst[0]} at {worst[1]:g}, {gap[worst]:+.2f}"))
        rows.append((CLAIMS[1], _verdict(gap[best] >= 3), f"widest: {best[0]} at {best[1]:g}, {gap[best]:+.2f}"))
        ratios = {b: _labels_gain(records, b) for b in budgets if ("discrete", b) in gap and b > 0}
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
        "Undecided: better with some seeds, worse with others.",
        ("claim", "here", "by how much"),
        tuple(rows),
    )


def _gains(records: Sequence[Record], kind: str, other: str, budget: float) -> list[float]:
    """How much better one is than the other, for each seed that both were run with."""
    one, two = by_seed(records, kind, budget), by_seed(records, other, budget)
    return [_mean_score(one[seed]) - _mean_score(two[seed]) for seed in sorted(one.keys() & two.keys())]


def _mean_score(record: Record) -> float:
    return (record.score() + record.score(split="dev")) / 2


def _labels_gain(records: Sequence[Record], budget: float) -> float:
    """How many times as much discrete questions improve the labels; infinity where pairwise ones do not at all."""
    discrete, pairwise = (
        fmean(record.delta_f1 for record in by_seed(records, kind, budget).values())
        for kind in ("discrete", "pairwise")
    )
    return discrete / pairwise if pairwise > 0 else inf


def _help(gains: Sequence[float]) -> str:
    """Whether something helps, if the seeds agree about it."""
    if len(gains) > 1 and min(gains) < 0 < max(gains):
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

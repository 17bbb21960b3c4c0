"""The paper's claims, checked against the runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from statistics import fmean

from corefine.reproduction.paired import ONE_SEED, Paired, differences
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
"""The range that counts as about 4."""

SPLITS = ("test", "dev")


def claims(corpus: str, records: Sequence[RunRecord]) -> Table:
    """The paper's claims, and whether they hold in these runs."""
    budgets = sorted({record.budget for record in records if record.kind == "pairwise"})
    rows = []
    gaps = {
        (kind, budget): gains
        for budget in budgets
        for kind in ("discrete", "committee", "lcc-mcu")
        if (gains := _gains(records, kind, "pairwise", budget)) is not None
    }
    if gaps:
        worst, best = (choose(gaps, key=lambda key: gaps[key].mean) for choose in (min, max))
        rows.append((CLAIMS[0], gaps[worst].verdict, f"smallest: {worst[0]} at {worst[1]:g}, {gaps[worst]}"))
        widest = gaps[best].mean
        verdict = "more than that" if widest > WIDE[1] else _verdict(widest >= WIDE[0])
        rows.append((CLAIMS[1], verdict, f"widest: {best[0]} at {best[1]:g}, {gaps[best]}"))
        ratios = {b: labels_gain(records, "pairwise", b) for b in budgets if ("discrete", b) in gaps and b > 0}
        if ratios:
            shown = ", ".join(
                f"{ratio:.1f} times at {b:g}" if ratio < inf else f"pairwise gains nothing at {b:g}"
                for b, ratio in ratios.items()
            )
            rows.append((CLAIMS[2], _verdict(min(ratios.values()) > 2), shown))
    for kind, claim in (("unclustered", CLAIMS[3]), ("per-document", CLAIMS[4])):
        rows += [
            (claim, gains.verdict, f"{gains} at {budget:g}")
            for budget in sorted({record.budget for record in records if record.kind == kind})
            if (gains := _gains(records, "discrete", kind, budget)) is not None
        ]
    return Table(
        f"{corpus}: the paper's claims",
        "Mean of test and development F1. Differences are between runs of the same seed, with the interval of 95 "
        "percent of their mean. Undecided: the interval has 0 in it, or a difference below "
        f"{ONE_SEED:g} with a single seed.",
        ("claim", "here", "by how much"),
        tuple(rows),
    )


def labels_gain(records: Sequence[RunRecord], other: str, budget: float) -> float:
    """How many times as much discrete questions improve labels, over the seeds that both have; infinity if the other
    does not improve them."""
    one, two = by_seed(records, "discrete", budget), by_seed(records, other, budget)
    both = one.keys() & two.keys()
    gain, others = (fmean(runs[seed].delta_f1 for seed in both) for runs in (one, two))
    return gain / others if others > 0 else inf


def _gains(records: Sequence[RunRecord], kind: str, other: str, budget: float) -> Paired | None:
    return differences(by_seed(records, kind, budget), by_seed(records, other, budget), SPLITS)


def _verdict(holds: bool) -> str:
    return "holds" if holds else "does not hold"

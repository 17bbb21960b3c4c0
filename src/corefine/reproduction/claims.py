"""The paper's claims, checked against the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
"""How much F1 varies between seeds. A smaller difference with a single seed decides nothing."""


def claims(corpus: str, records: Sequence[RunRecord]) -> Table:
    """The paper's claims, and whether they hold in these runs."""
    budgets = sorted({record.budget for record in records if record.kind == "pairwise"})
    rows = []
    gaps = {
        (kind, budget): gains
        for budget in budgets
        for kind in ("discrete", "committee", "lcc-mcu")
        if (gains := _gains(records, kind, "pairwise", budget))
    }
    if gaps:
        worst, best = (choose(gaps, key=lambda key: fmean(gaps[key])) for choose in (min, max))
        rows.append((CLAIMS[0], _judged(gaps[worst]), f"smallest: {worst[0]} at {worst[1]:g}, {_range(gaps[worst])}"))
        widest = fmean(gaps[best])
        verdict = "more than that" if widest > WIDE[1] else _verdict(widest >= WIDE[0])
        rows.append((CLAIMS[1], verdict, f"widest: {best[0]} at {best[1]:g}, {_range(gaps[best])}"))
        ratios = {b: labels_gain(records, "pairwise", b) for b in budgets if ("discrete", b) in gaps and b > 0}
        if ratios:
            shown = ", ".join(
                f"{ratio:.1f} times at {b:g}" if ratio < inf else f"pairwise gains nothing at {b:g}"
                for b, ratio in ratios.items()
            )
            rows.append((CLAIMS[2], _verdict(min(ratios.values()) > 2), shown))
    for kind, claim in (("unclustered", CLAIMS[3]), ("per-document", CLAIMS[4])):
        rows += [
            (claim, _judged(gains), f"{_range(gains)} at {budget:g}")
            for budget in sorted({record.budget for record in records if record.kind == kind})
            if (gains := _gains(records, "discrete", kind, budget))
        ]
    return Table(
        f"{corpus}: the paper's claims",
        "Mean of test and development F1, over seeds. F1 varies by about a point between seeds. "
        "Undecided: better with some seeds and worse with others, or a smaller difference with a single seed.",
        ("claim", "here", "by how much"),
        tuple(rows),
    )


def differences(runs: Mapping[int, RunRecord], others: Mapping[int, RunRecord], split: str = "test") -> list[float]:
    """How much higher the F1 of runs is than that of others, for each seed that both have."""
    both = sorted(runs.keys() & others.keys())
    return [runs[seed].score(split=split) - others[seed].score(split=split) for seed in both]


def labels_gain(records: Sequence[RunRecord], other: str, budget: float) -> float:
    """How many times as much discrete questions improve labels, over the seeds that both have; infinity if the other
    does not improve them."""
    one, two = by_seed(records, "discrete", budget), by_seed(records, other, budget)
    both = one.keys() & two.keys()
    gain, others = (fmean(runs[seed].delta_f1 for seed in both) for runs in (one, two))
    return gain / others if others > 0 else inf


def _gains(records: Sequence[RunRecord], kind: str, other: str, budget: float) -> list[float]:
    """Differences in the mean of test and development F1."""
    runs, others = by_seed(records, kind, budget), by_seed(records, other, budget)
    test, dev = (differences(runs, others, split) for split in ("test", "dev"))
    return [(one + two) / 2 for one, two in zip(test, dev, strict=True)]


def _judged(gains: Sequence[float]) -> str:
    """Whether something helps. Seeds must agree about it; a single one must show a large difference."""
    if min(gains) < 0 < max(gains) or (len(gains) == 1 and 0 < abs(gains[0]) < ONE_SEED):
        return "undecided"
    return _verdict(fmean(gains) > 0)


def _verdict(holds: bool) -> str:
    return "holds" if holds else "does not hold"


def _range(gains: Sequence[float]) -> str:
    if len(gains) == 1:
        return f"{gains[0]:+.2f} (1 seed)"
    return f"{fmean(gains):+.2f} ({min(gains):+.2f} to {max(gains):+.2f}, {len(gains)} seeds)"

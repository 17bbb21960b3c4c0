"""Differences between runs with the same seed, with a 95 % interval.

Runs with the same seed see the same documents in the same order and begin with the same model, so their difference
varies less than their scores. The interval is Student's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from corefine.simulation.summary import RunRecord

STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
"""The half-width of a 95 % interval in standard errors, by degrees of freedom, from 1."""

NORMAL = 2.13
"""The half-width beyond the table, slightly too large."""

ONE_SEED = 3.5
"""Twice the largest standard deviation of paired F1 differences that we found (0.6 to 1.75). A single seed gives no
interval; smaller differences are then undecided."""


@dataclass(frozen=True, slots=True)
class Paired:
    """The differences between two sets of runs, one for each seed that both have."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the mean; None for a single seed."""
        if len(self.values) < 2:
            return None
        freedom = len(self.values) - 1
        width = STUDENT[freedom - 1] if freedom <= len(STUDENT) else NORMAL
        half = width * stdev(self.values) / sqrt(len(self.values))
        return self.mean - half, self.mean + half

    @property
    def verdict(self) -> str:
        """Whether the runs are better than the others: "holds", "does not hold" or "undecided"."""
        low, high = self.interval or (self.mean - ONE_SEED, self.mean + ONE_SEED)
        if any(self.values) and low <= 0 <= high:
            return "undecided"
        return "holds" if self.mean > 0 else "does not hold"

    def __str__(self) -> str:
        if self.interval is None:
            return f"{self.mean:+.2f} (1 seed)"
        low, high = self.interval
        return f"{self.mean:+.2f} ({low:+.2f} to {high:+.2f}, {len(self.values)} seeds)"


def differences(
    runs: Mapping[int, RunRecord], others: Mapping[int, RunRecord], splits: Sequence[str] = ("test",)
) -> Paired | None:
    """The F1 of runs minus that of others, averaged over the splits; None if they share no seed."""
    both = sorted(runs.keys() & others.keys())
    if not both:
        return None
    return Paired(
        tuple(
            fmean(runs[seed].score(split=split) - others[seed].score(split=split) for split in splits) for seed in both
        )
    )

"""Learning curves: F1 against hours, how soon a curve reaches an F1, and how much it gains on the way."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from corefine.reproduction.cells import COMPARED, GOLD_KIND, NO_QUESTIONS
from corefine.reproduction.table import Table
from corefine.simulation.summary import RunRecord, SeedMeans, first_models, points

REFERENCE = "discrete"
"""The kind of run whose F1 the others are to reach: the paper's method."""


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """F1 by hours of annotation: straight lines between points, of which the first is at 0 hours."""

    hours: tuple[float, ...]
    f1: tuple[float, ...]

    @classmethod
    def through(cls, found: Iterable[tuple[float, float]]) -> LearningCurve:
        """The curve through points of hours and F1, given in any order."""
        ordered = sorted(found)
        return cls(tuple(hours for hours, _ in ordered), tuple(f1 for _, f1 in ordered))

    def at(self, hours: float) -> float:
        """F1 after so many hours, between the first and the last point."""
        after = min(max(bisect_right(self.hours, hours), 1), len(self.hours) - 1)
        begin, end = self.hours[after - 1], self.hours[after]
        share = (hours - begin) / (end - begin) if end > begin else 1.0
        return self.f1[after - 1] + share * (self.f1[after] - self.f1[after - 1])

    def hours_to(self, f1: float) -> float | None:
        """The hours after which the curve first has this F1; None if it never does."""
        if self.f1[0] >= f1:
            return self.hours[0]
        for (begin, low), (end, high) in pairwise(zip(self.hours, self.f1, strict=True)):
            if high >= f1:
                return begin + (end - begin) * (f1 - low) / (high - low)
        return None

    def mean_gain(self, hours: float) -> float:
        """The area under the curve and above its beginning, divided by its hours: the mean gain on the way."""
        places = [*(place for place in self.hours if place < hours), hours]
        area = sum((end - begin) * (self.at(begin) + self.at(end)) / 2 for begin, end in pairwise(places))
        return area / hours - self.f1[0] if hours else 0.0


def learning_curves(records: Sequence[RunRecord]) -> dict[str, LearningCurve]:
    """The curve of each kind that has a budget, over the means of its seeds. All begin with the first model."""
    first = [_place(point) for point in points(first_models(records))]
    of_kind: dict[str, list[SeedMeans]] = {}
    for point in points(record for record in records if record.group in COMPARED):
        if point.kind not in (*NO_QUESTIONS, GOLD_KIND) and point.mean("hours") > 0:
            of_kind.setdefault(point.kind, []).append(point)
    return {kind: LearningCurve.through([*first, *map(_place, found)]) for kind, found in of_kind.items() if first}


def hours_table(corpus: str, records: Sequence[RunRecord]) -> Table:
    """How soon each kind of run reaches what discrete questions reach with each budget, and its gain on the way."""
    title = f"{corpus}: hours to an F1"
    found = learning_curves(records)
    reference = found.get(REFERENCE)
    if reference is None or len(found) < 2:
        return Table(title, "", ("",), ())
    goals = list(zip(reference.hours, reference.f1, strict=True))[1:]
    common = min(curve.hours[-1] for curve in found.values())
    return Table(
        title,
        "F1 is the mean of test and development documents, and of all seeds that a kind has. Curves are straight lines "
        f"between budgets and begin with the first model ({reference.f1[0]:.1f}). “To”: the hours after which a "
        "kind first has the F1 that discrete questions have with a budget, also as a share of their hours. Mean gain: "
        "the area between the curve and the first model's F1, divided by its hours. It and F1 per hour go up to "
        f"{common:.1f} hours, which all kinds have.",
        ("", *(f"to {f1:.1f} ({hours:.1f} h)" for hours, f1 in goals), "mean gain", "F1 per hour"),
        tuple(
            (
                kind,
                *(_reached(curve.hours_to(f1), hours) for hours, f1 in goals),
                f"{curve.mean_gain(common):+.2f}",
                f"{(curve.at(common) - curve.f1[0]) / common:+.3f}",
            )
            for kind, curve in found.items()
        ),
    )


def _place(point: SeedMeans) -> tuple[float, float]:
    """Hours and F1 of the runs with one budget."""
    return point.mean("hours"), (point.mean("conll_f1") + point.mean("dev_f1")) / 2


def _reached(hours: float | None, reference: float) -> str:
    return "never" if hours is None else f"{hours:.1f} ({100 * hours / reference:.0f} %)"

"""Learning curves: F1 against hours, how soon a curve reaches an F1, its gain on the way, and each round of it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from corefine.reproduction.cells import COMPARED, GOLD_KIND, NAMES, NO_QUESTIONS
from corefine.reproduction.paired import differences
from corefine.reproduction.table import Table
from corefine.simulation.summary import RunRecord, SeedMeans, by_seed, first_models, points

SPLITS = ("test", "dev")
"""Where F1 is the mean of both."""
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


def comparison(corpus: str, records: Sequence[RunRecord]) -> Table:
    """Each kind and budget beside discrete questions with the largest budget that most seeds have."""
    seeds = Counter(record.budget for record in records if record.kind == REFERENCE)
    largest = max(seeds, key=lambda budget: (seeds[budget], budget), default=0.0)
    reference = by_seed(records, REFERENCE, largest)
    rows = []
    for point in points(record for record in records if record.group in COMPARED):
        runs = {record.seed: record for record in point.records}
        found = differences(runs, reference, SPLITS)
        if found is None or point.records[0] in reference.values():
            continue
        both = runs.keys() & reference.keys()
        share = fmean(runs[seed].hours for seed in both) / fmean(reference[seed].hours for seed in both)
        rows.append(
            (
                NAMES.get(point.kind, point.kind),
                "all" if point.kind == GOLD_KIND else f"{point.budget:g}",
                f"{point.mean('hours'):.1f}",
                f"{100 * share:.0f} %",
                f"{_f1(point):.1f}",
                str(found),
            )
        )
    return Table(
        f"{corpus}: against {REFERENCE} questions at {largest:g}",
        "F1 is the mean of test and development documents. Share of hours and difference in F1 are between runs of the "
        "same seed, with the interval of 95 percent of the mean difference.",
        ("", "questions", "hours", "share of hours", "F1", f"difference to {REFERENCE} at {largest:g}"),
        tuple(rows),
    )


def rounds_table(corpus: str, records: Sequence[RunRecord]) -> Table:
    """The F1 of each round's model, so that rounds can be seen to learn."""
    found = [point for point in points(each for each in records if each.group in COMPARED) if point.kind != GOLD_KIND]
    curves = [(point, _round_by_round(point)) for point in found]
    most = max((len(curve) for _, curve in curves), default=0)
    return Table(
        f"{corpus}: round by round",
        "Mean of test and development F1 of each round's model, over seeds. Least step: the smallest gain of a round "
        "over the one before. Time: the share of the run that choosing questions and applying answers took.",
        ("", "questions", "seeds", *(f"round {number}" for number in range(most)), "least step", "time"),
        tuple(
            (
                NAMES.get(point.kind, point.kind),
                f"{point.budget:g}",
                str(point.seeds),
                *(f"{f1:.1f}" for f1 in curve),
                *["-"] * (most - len(curve)),
                f"{round(min(after - before for before, after in pairwise(curve)), 1) + 0.0:+.1f}",
                f"{100 * _share_of_time(point):.1f} %",
            )
            for point, curve in curves
            if len(curve) > 1
        ),
    )


def _round_by_round(point: SeedMeans) -> list[float]:
    """The mean F1 of each round that all seeds have."""
    rounds = zip(*(record.rounds for record in point.records), strict=False)
    return [fmean(row.scores_on(split).conll_f1 for row in each for split in SPLITS) for each in rounds]


def _share_of_time(point: SeedMeans) -> float:
    times = [record.timing for record in point.records]
    spent = sum(time.parts.get(part, 0.0) for time in times for part in ("selection", "closure"))
    return spent / (sum(time.total for time in times) or 1.0)


def _f1(point: SeedMeans) -> float:
    return (point.mean("conll_f1") + point.mean("dev_f1")) / 2


def _place(point: SeedMeans) -> tuple[float, float]:
    """Hours and F1 of the runs with one budget."""
    return point.mean("hours"), _f1(point)


def _reached(hours: float | None, reference: float) -> str:
    return "never" if hours is None else f"{hours:.1f} ({100 * hours / reference:.0f} %)"

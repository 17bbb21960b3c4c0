"""Compares two responses to one key by a paired bootstrap over documents."""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corefine.errors import UnmatchedError
from corefine.scores.corpus import Report
from corefine.scores.results import Counts

SAMPLES = 2000
MEASURES = ("mentions", "muc", "b3", "ceafm", "ceafe", "lea")
Floats = NDArray[np.float64]


class Difference(NamedTuple):
    """F1 of two responses, their difference (second minus first), its 95 % interval, and a two-sided p-value."""

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float


def compare(first: Report, second: Report, *, samples: int = SAMPLES, seed: int = 0) -> dict[str, Difference]:
    """Compare F1 scores of two reports on the same documents.

    Documents are resampled with replacement. `p` is twice the share of samples in which the difference is 0 or has
    another sign than on all documents.
    """
    if [each.key for each in first.documents] != [each.key for each in second.documents]:
        raise UnmatchedError("the two responses do not have the same documents: score them against the same key")
    count = len(first.documents)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=samples) if count else np.zeros((samples, 0))
    weights: Floats = np.vstack([np.ones((1, count)), drawn]).astype(np.float64)
    found = {}
    one, other = _f1(first, weights), _f1(second, weights)
    for name in one:
        change = other[name] - one[name]
        low, high = np.percentile(change[1:], [2.5, 97.5])
        against = np.mean(change[1:] <= 0) if change[0] >= 0 else np.mean(change[1:] >= 0)
        found[name] = Difference(
            float(one[name][0]),
            float(other[name][0]),
            float(change[0]),
            float(low),
            float(high),
            min(1.0, 2 * float(against)),
        )
    return found


def _f1(report: Report, weights: Floats) -> dict[str, Floats]:
    """F1 for each row of document weights."""
    names = [field.name for field in fields(Counts)]
    tallies = np.array([[getattr(each.counts, name) for name in names] for each in report.documents], dtype=float)
    tallies = tallies.reshape(len(report.documents), len(names) * 4)
    sums = (weights @ tallies).reshape(len(weights), len(names), 4)
    found = {}
    for name in MEASURES:
        recalled, key, precise, response = sums[:, names.index(name)].T
        recall = np.divide(recalled, key, out=np.zeros_like(key), where=key > 0)
        precision = np.divide(precise, response, out=np.zeros_like(key), where=response > 0)
        both = recall + precision
        found[name] = 100 * np.divide(2 * recall * precision, both, out=np.zeros_like(both), where=both > 0)
    found["conll_f1"] = (found["muc"] + found["b3"] + found["ceafe"]) / 3
    return found

"""Compares two responses to one key by a paired bootstrap over documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corefine.errors import UnmatchedError
from corefine.scores.corpus import Report
from corefine.scores.metrics import Tally
from corefine.scores.results import Blanc, Counts

SAMPLES = 2000
MEASURES = ("mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "lea", "mor")
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
    another sign than on all documents. The documents as they are count as one such sample, so that `p` is never 0.
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
        against = np.sum(change[1:] <= 0) if change[0] >= 0 else np.sum(change[1:] >= 0)
        found[name] = Difference(
            float(one[name][0]),
            float(other[name][0]),
            float(change[0]),
            float(low),
            float(high),
            min(1.0, 2 * (1 + float(against)) / (1 + samples)),
        )
    return found


def _f1(report: Report, weights: Floats) -> dict[str, Floats]:
    """F1 for each row of document weights."""
    names = [field.name for field in fields(Counts)]
    nothing = Tally(0, 0, 0, 0)
    tallies = np.array(
        [[getattr(each.counts, name) or nothing for name in names] for each in report.documents], dtype=float
    )
    tallies = tallies.reshape(len(report.documents), len(names) * 4)
    summed = (weights @ tallies).reshape(len(weights), len(names), 4)
    sums = {name: summed[:, number].T for number, name in enumerate(names)}
    has_mor = any(each.counts.mor is not None for each in report.documents)
    found = {}
    for name in MEASURES:
        if name == "blanc":
            found[name] = _blanc(sums, report.blanc)
        elif name != "mor" or has_mor:
            found[name] = _tally_f1(sums[name])
    found["conll_f1"] = (found["muc"] + found["b3"] + found["ceafe"]) / 3
    return found


def _tally_f1(tally: Floats) -> Floats:
    recalled, key, precise, response = tally
    recall = np.divide(recalled, key, out=np.zeros_like(key), where=key > 0)
    precision = np.divide(precise, response, out=np.zeros_like(key), where=response > 0)
    both = recall + precision
    f1: Floats = 100 * np.divide(2 * recall * precision, both, out=np.zeros_like(both), where=both > 0)
    return f1


def _blanc(sums: Mapping[str, Floats], definition: Blanc) -> Floats:
    """As `Counts.scored`: the mean over the kinds of links that occur."""
    total = occurring = np.zeros(sums["linked"].shape[1])
    for links in (sums["linked"], sums["apart"]):
        occurs = (links[1] > 0) | ((links[3] > 0) & (definition != "official"))
        total = total + np.where(occurs, _tally_f1(links), 0.0)
        occurring = occurring + occurs
    found, key, _, response = sums["mentions"]
    same = (found == key) & (key == response) & (key > 0) & (definition == "luo")
    return np.where(occurring > 0, total / np.maximum(occurring, 1), np.where(same, 100.0, 0.0))

"""Numerators and denominators, which add up over documents, and the percentages made of them at the end."""

from __future__ import annotations

from typing import NamedTuple


class Score(NamedTuple):
    """Recall, precision and F1 in percent."""

    recall: float
    precision: float
    f1: float

    def as_dict(self) -> dict[str, float]:
        return self._asdict()


NOTHING = Score(0.0, 0.0, 0.0)
PERFECT = Score(100.0, 100.0, 100.0)


class Tally(NamedTuple):
    """Recall is `recalled` of `key`, precision is `precise` of `response`."""

    recalled: float
    key: float
    precise: float
    response: float

    @property
    def empty(self) -> bool:
        """Whether neither side had anything to count."""
        return not self.key and not self.response

    @property
    def score(self) -> Score:
        """In percent. Nothing of nothing is 0, as in the official scorer."""
        recall = self.recalled / self.key if self.key else 0.0
        precision = self.precise / self.response if self.response else 0.0
        f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
        return Score(100 * recall, 100 * precision, 100 * f1)

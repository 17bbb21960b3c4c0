"""How fast a person answers."""

from __future__ import annotations

from collections import deque
from statistics import median

RECENT = 50
FEWEST = 5
"""If there are fewer answers, the expected time fills up the rest."""


class Pace:
    """The times of a person's last answers, in any document."""

    def __init__(self) -> None:
        self._recent: deque[float] = deque(maxlen=RECENT)

    def note(self, seconds: float) -> None:
        self._recent.append(seconds)

    def seconds_each(self, expected: float) -> float:
        """How long this person takes for a question: the median, which a single long pause does not change."""
        return median([*self._recent, *[expected] * (FEWEST - len(self._recent))])

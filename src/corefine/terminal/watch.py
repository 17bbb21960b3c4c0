"""How long an answer takes in a terminal."""

from __future__ import annotations

from time import monotonic

from corefine.project.store.log import Timing

IDLE = 60.0
"""Seconds; a longer pause counts as this."""


class Watch:
    """The seconds of the initial question and of the follow-up."""

    def __init__(self, *, follow_up: bool = False) -> None:
        self._spent: dict[bool, float] = {}
        self._follow_up = follow_up
        self._since = monotonic()

    def step(self, *, follow_up: bool) -> None:
        """Count what has passed for the step that ends; begin another."""
        now = monotonic()
        self._spent[self._follow_up] = self._spent.get(self._follow_up, 0.0) + min(now - self._since, IDLE)
        self._since, self._follow_up = now, follow_up

    def timing(self) -> Timing:
        self.step(follow_up=self._follow_up)
        return Timing(initial=self._spent.get(False), follow_up=self._spent.get(True))

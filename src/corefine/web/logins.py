"""Limits failed logins by address."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque

from corefine.web.api.problems import ApiError
from corefine.web.peers import network_of

FAILED_LOGINS, FAILED_SECONDS = 10, 60.0
"""How many logins of one address may fail, within how many seconds."""
MOST_ADDRESSES = 10_000


class FailedLogins:
    """Counts failed logins by address."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()

    def check(self, address: str) -> None:
        """Raise if too many logins from there failed just now."""
        with self._lock:
            failed = self._failed.get(network_of(address), deque())
            if len(failed) == FAILED_LOGINS and time.monotonic() - failed[0] < FAILED_SECONDS:
                raise ApiError(429, "too-many", "too many logins from your address failed: wait a minute")

    def note(self, address: str) -> None:
        with self._lock:
            key = network_of(address)
            self._failed.setdefault(key, deque(maxlen=FAILED_LOGINS)).append(time.monotonic())
            self._failed.move_to_end(key)
            if len(self._failed) > MOST_ADDRESSES:
                self._failed.popitem(last=False)

"""How many threads torch works with: decided here and nowhere else.

The count changes the order in which floating-point sums are taken, so a training run keeps it, and says it.
"""

from __future__ import annotations

import os

import torch


def cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def use_threads(count: int | None = None) -> int:
    """Use `count` threads; OMP_NUM_THREADS or all cores if None. Returns the count."""
    if count is None:
        asked = os.environ.get("OMP_NUM_THREADS", "")
        count = int(asked) if asked.isdigit() and int(asked) else cores()
    if torch.get_num_threads() != count:
        torch.set_num_threads(count)
    return count

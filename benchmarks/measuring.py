"""Seconds and megabytes, measured so that a busy machine is fair to both sides."""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def alternate(ways: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """Median seconds of each way, taken in turn, after one round that does not count."""
    seconds: list[list[float]] = [[] for _ in ways]
    for _ in range(1 + rounds):
        for way, spent in zip(ways, seconds, strict=True):
            began = time.perf_counter()
            way()
            spent.append(time.perf_counter() - began)
    return [statistics.median(spent[1:]) for spent in seconds]


def in_own_process(work: Callable[..., T], *arguments: Any) -> T:
    """The result of a function of a module, in a process that does nothing else."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def peak_megabytes() -> float:
    """The most memory this process has held. Linux hands `ru_maxrss` on from parent to child, so not that there."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) / 2**10
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit

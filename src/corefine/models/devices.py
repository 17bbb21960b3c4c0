"""What torch computes with: the device, the precision, and the number of threads."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache

import torch

from corefine.errors import InputError

DEVICES = ("auto", "cpu", "cuda", "mps")


def choose_device(name: str = "auto") -> torch.device:
    """The device with this name. Raises if this machine lacks it. "auto" is COREFINE_DEVICE, or the fastest device."""
    if name == "auto":
        name = os.environ.get("COREFINE_DEVICE") or name
    kind = name.partition(":")[0]
    if kind not in DEVICES:
        raise InputError(f"there is no device {name!r}: choose one of {', '.join(DEVICES)}")
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if kind == "auto":
        return torch.device(next(kind for kind in ("cuda", "mps", "cpu") if available[kind]))
    if not available[kind]:
        raise InputError(f"this machine, or this build of torch, has no {kind}: use --device auto or cpu")
    return torch.device(name)


def mixed_precision(device: torch.device, *, enabled: bool = True) -> AbstractContextManager[object]:
    """Matrix products in bfloat16 where the device is fast at it; elsewhere nothing changes.

    bfloat16 has the range of float32, so it needs no loss scaling.
    """
    kind = device.type
    if enabled and ((kind == "cuda" and torch.cuda.is_bf16_supported()) or (kind == "cpu" and bfloat16_is_fast())):
        return torch.autocast(kind, dtype=torch.bfloat16)
    return nullcontext()


@cache
def bfloat16_is_fast() -> bool:
    """Whether this processor multiplies bfloat16 matrices in hardware. Otherwise bfloat16 is far slower than float32.

    Known from the processor's instruction sets, or (as on ARM) by trying.
    """
    if hasattr(torch.cpu, "_is_avx512_bf16_supported") and torch.cpu._is_avx512_bf16_supported():
        return True
    times = []
    for kind in (torch.float32, torch.bfloat16):
        left, right = torch.ones(256, 384, dtype=kind), torch.ones(384, 384, dtype=kind)
        left @ right
        start = time.perf_counter()
        left @ right
        times.append(time.perf_counter() - start)
    return times[1] < times[0] / 1.3


def release_memory() -> None:
    """Give memory that is not used any more back to the system, if the C library can (glibc).

    Otherwise it stays with the process, in pieces that texts of other lengths do not fit into.
    """
    if trim := _malloc_trim():
        trim(0)


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    try:
        trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    except (OSError, TypeError):  # TypeError: Windows
        return None
    return trim


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def use_threads(count: int | None = None) -> int:
    """Use `count` threads; OMP_NUM_THREADS or all cores if None. Returns the count.

    Sums depend on it in their last digits, so a training run reports it.
    """
    if count is None:
        asked = os.environ.get("OMP_NUM_THREADS", "")
        count = int(asked) if asked.isdigit() and int(asked) else cores()
    if torch.get_num_threads() != count:
        torch.set_num_threads(count)
    return count

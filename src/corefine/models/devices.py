"""What torch computes with: the device, the precision, and the number of threads."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext

import torch

from corefine.errors import InputError

DEVICES = ("auto", "cpu", "cuda", "mps")


def choose_device(name: str = "auto") -> torch.device:
    """The device of that name, if this machine has it; "auto" takes COREFINE_DEVICE, or else the fastest."""
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
    """bfloat16 where sums stay safe, on a GPU that has it; elsewhere nothing changes.

    bfloat16 has the range of float32, so it needs no loss scaling.
    """
    if enabled and device.type == "cuda" and torch.cuda.is_bf16_supported():
        return torch.autocast("cuda", dtype=torch.bfloat16)
    return nullcontext()


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

"""Which device torch computes on, and in which precision."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch

from corefine.errors import InputError

DEVICES = ("auto", "cpu", "cuda", "mps")


def choose_device(name: str = "auto") -> torch.device:
    """The device of that name, if this machine has it; "auto" takes the best there is."""
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

    bfloat16 has the range of float32, so no loss scaling is needed, and so no further state to save.
    """
    if enabled and device.type == "cuda" and torch.cuda.is_bf16_supported():
        return torch.autocast("cuda", dtype=torch.bfloat16)
    return nullcontext()

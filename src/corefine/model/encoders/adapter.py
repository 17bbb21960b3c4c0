"""Low-rank changes to an encoder's weights, small enough to ship, merged into it when it is loaded.

A file holds, for each changed matrix NAME of the network, `NAME.down` [r, in] and `NAME.up` [out, r]; the matrix
becomes itself plus up @ down. Tensors under their own name (norms, biases) replace what the network has.

An adapter is given by the path of its file, or by name if it ships with corefine (see `adapters/`).
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from corefine.errors import WeightsError

SHIPPED = Path(__file__).with_name("adapters")


def find_adapter(name_or_path: str) -> Path:
    """The file of an adapter."""
    shipped = SHIPPED / f"{name_or_path}.safetensors"
    return shipped if shipped.is_file() else Path(name_or_path).expanduser()


def merge_adapter(network: nn.Module, path: Path) -> None:
    """Change the network in place."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        changes = load_file(path)
    except (OSError, SafetensorError) as error:
        known = ", ".join(sorted(file.stem for file in SHIPPED.glob("*.safetensors"))) or "none"
        raise WeightsError(f"cannot read the adapter {path}: {error} (adapters known by name: {known})") from error
    weights = dict(network.named_parameters())
    with torch.no_grad():
        for key, value in changes.items():
            name, _, part = key.rpartition(".")
            if part == "up":
                continue
            target = name if part == "down" else key
            if target not in weights:
                raise WeightsError(f"the adapter {path} changes {target!r}, which the encoder does not have")
            change = value.float()
            if part == "down":
                if f"{name}.up" not in changes:
                    raise WeightsError(f"the adapter {path} has {key!r} but no {name + '.up'!r}")
                change = changes[f"{name}.up"].float() @ change + weights[target]
            if change.shape != weights[target].shape or not bool(change.isfinite().all()):
                raise WeightsError(f"the adapter {path} does not fit {target!r} of the encoder")
            weights[target].copy_(change)


def extract_adapter(before: nn.Module, after: nn.Module, rank: int) -> dict[str, Tensor]:
    """What turns one network into the other: matrices as their best approximation of this rank, vectors as they are.

    Numbers are float16; what did not change is left out.
    """
    old = dict(before.named_parameters())
    changes: dict[str, Tensor] = {}
    for name, value in after.named_parameters():
        difference = value.detach().float() - old[name].detach().float()
        if not bool(difference.any()):
            continue
        if value.ndim == 2 and rank * sum(value.shape) < value.numel():
            left, sizes, right = torch.linalg.svd(difference, full_matrices=False)
            root = sizes[:rank].sqrt()
            changes[f"{name}.up"] = (left[:, :rank] * root).half().contiguous()
            changes[f"{name}.down"] = (root[:, None] * right[:rank]).half().contiguous()
        else:
            changes[name] = value.detach().half().contiguous()
    return changes

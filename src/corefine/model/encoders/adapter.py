"""Low-rank changes to an encoder's weights, small enough to ship, merged into it when it is loaded.

The file holds, for each changed matrix NAME of the network, `NAME.down` [r, in] and `NAME.up` [out, r]; the matrix
becomes itself plus up @ down. Tensors under their own name (norms, biases) replace what the network has.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from corefine.errors import WeightsError


def merge_adapter(network: nn.Module, path: Path) -> None:
    """Change the network in place."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        changes = load_file(path)
    except (OSError, SafetensorError) as error:
        raise WeightsError(f"cannot read the adapter {path}: {error}") from error
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
                change = weights[target] + changes[f"{name}.up"].float() @ change
            if change.shape != weights[target].shape or not bool(change.isfinite().all()):
                raise WeightsError(f"the adapter {path} does not fit {target!r} of the encoder")
            weights[target].copy_(change)

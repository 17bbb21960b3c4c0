"""Low-rank adapters of an encoder: each linear layer W becomes W + SCALE * B A, with A and B of a small rank.

Fine-tuning all weights of an encoder overfits a small corpus. Adapters have a hundredth of the weights, and a model
folder stores nothing else of the encoder. During training, `peft` computes them beside the layers. In a frozen encoder
they are added to the weights, which costs no time and does not need `peft`.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn

from corefine.errors import MissingExtraError

SCALE = 2.0


def linear_layers(network: nn.Module, blocks: Iterable[nn.Module]) -> dict[str, nn.Linear]:
    """The linear layers of these blocks, by their name in the network."""
    inside = {id(part) for block in blocks for part in block.modules() if isinstance(part, nn.Linear)}
    return {name: part for name, part in network.named_modules() if id(part) in inside and isinstance(part, nn.Linear)}


def attach(network: nn.Module, layers: dict[str, nn.Linear], rank: int, dropout: float) -> nn.ParameterDict:
    """Add trainable adapters to the layers and return their weights. At first they change nothing."""
    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError as error:
        raise MissingExtraError("peft", "tune") from error
    config = LoraConfig(r=rank, lora_alpha=SCALE * rank, lora_dropout=dropout, target_modules=list(layers))  # type: ignore[arg-type]
    inject_adapter_in_model(config, network)
    adapters = nn.ParameterDict()
    for name in layers:
        layer = network.get_submodule(name)
        adapters[_key(name, "A")] = layer.lora_A["default"].weight  # type: ignore[union-attr,index]
        adapters[_key(name, "B")] = layer.lora_B["default"].weight  # type: ignore[union-attr,index]
    return adapters


def blank(layers: dict[str, nn.Linear], rank: int) -> nn.ParameterDict:
    """Adapters that change nothing and are not trained, to load weights into."""
    adapters = nn.ParameterDict()
    for name, layer in layers.items():
        adapters[_key(name, "A")] = nn.Parameter(torch.zeros(rank, layer.in_features), requires_grad=False)
        adapters[_key(name, "B")] = nn.Parameter(torch.zeros(layer.out_features, rank), requires_grad=False)
    return adapters


class MergedAdapters:
    """Adds adapters to the weights of frozen layers, and again each time the adapters change."""

    def __init__(self, layers: dict[str, nn.Linear], adapters: nn.ParameterDict) -> None:
        self.adapters = adapters
        self._layers = layers
        self._added = {key: torch.zeros_like(value, device="cpu") for key, value in adapters.items()}

    @property
    def outdated(self) -> bool:
        """Whether the adapters have changed since they were added."""
        return any(not torch.equal(added, self.adapters[key].cpu()) for key, added in self._added.items())

    @torch.no_grad()
    def update(self) -> None:
        """Bring the layers up to date."""
        for name, layer in self._layers.items():
            keys = [_key(name, "A"), _key(name, "B")]
            a, b = (self.adapters[key].cpu() for key in keys)
            old_a, old_b = (self._added[key] for key in keys)
            layer.weight += SCALE * (b @ a - old_b @ old_a).to(layer.weight.device)
            self._added |= {keys[0]: a.clone(), keys[1]: b.clone()}


def _key(name: str, matrix: str) -> str:
    """The key of a matrix in a ParameterDict, which allows no dots."""
    return f"{name.replace('.', '/')}/{matrix}"

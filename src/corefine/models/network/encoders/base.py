"""What every encoder is to the rest of the model."""

from __future__ import annotations

from typing import Protocol, Self

import torch
from torch import Tensor, nn

from corefine.document import Document


class Encoder(Protocol):
    """Tokens in, states out.

    name      what it is called in messages and model cards
    width     H, numbers in a state
    layers    how many layers `encode` hands on: 1 for states [T, H], otherwise [layers, T, H]
    """

    name: str
    width: int
    layers: int

    def encode(self, document: Document) -> Tensor:
        """The states of a document's tokens: [T, H], or [layers, T, H] when layers are to be mixed.

        They carry gradients where the encoder is fine-tuned and in training mode.
        """

    def fingerprint(self) -> str:
        """A hash of the weights and of every setting that states depend on."""

    @property
    def module(self) -> nn.Module | None:
        """What training moves and checkpoints hold; None for a frozen encoder."""

    def parameter_groups(self, rate: float, decay: float) -> list[dict[str, object]]:
        """Groups for an optimiser: the last layer learns at `rate`, each one below at `decay` times that."""

    def to(self, device: torch.device | str) -> Self:
        """Move the weights to a device, in place."""

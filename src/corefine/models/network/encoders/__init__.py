"""Encoders turn tokens into states. All follow one protocol, `Encoder`."""

from __future__ import annotations

from typing import Protocol, Self

import torch
from torch import Tensor, nn

from corefine.document import Document
from corefine.models.network.config import EncoderConfig


class Encoder(Protocol):
    """Tokens in, states out.

    name      for messages
    width     H, the numbers in a state
    layers    how many layers `encode` returns: 1 for states [T, H], otherwise [layers, T, H]
    """

    name: str
    width: int
    layers: int

    def encode(self, document: Document) -> Tensor:
        """The states of a document's tokens; with gradients if the encoder is fine-tuned and in training mode."""

    def fingerprint(self) -> str:
        """A hash of the weights and of every setting that changes the states."""

    @property
    def module(self) -> nn.Module | None:
        """What training changes and checkpoints hold; None for a frozen encoder."""

    def parameter_groups(self, rate: float, decay: float) -> list[dict[str, object]]:
        """Groups for an optimiser: the last layer learns at `rate`, each one below at `decay` times that."""

    def to(self, device: torch.device | str) -> Self:
        """Move the weights to a device, in place."""


def make_encoder(config: EncoderConfig) -> Encoder:
    """The encoder of this configuration, with its weights loaded."""
    if config.kind == "bilstm":
        from corefine.models.network.encoders.bilstm import BiLSTMEncoder

        return BiLSTMEncoder(config)
    if config.kind == "minilm":
        from corefine.models.network.encoders.minilm import minilm

        return minilm(config)
    from corefine.models.network.encoders.transformer import TransformerEncoder

    return TransformerEncoder(config)

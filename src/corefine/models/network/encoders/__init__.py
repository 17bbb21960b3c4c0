"""Encoders turn tokens into states. All follow one protocol, `Encoder`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from corefine import plugins
from corefine.document import Document
from corefine.errors import InputError
from corefine.models.network.config import EncoderConfig

if TYPE_CHECKING:  # the server reads the list of known encoders and has no use for torch
    import torch
    from torch import Tensor, nn


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

    def blocks(self, document: Document) -> Iterator[Tensor]:
        """The same states for one block of tokens after another, at least one; an encoder may leave this out."""

    def fingerprint(self) -> str:
        """A hash of the weights and of every setting that changes the states."""

    def identity(self) -> str | None:
        """A hash of the parts of the encoder that a model folder does not store; None if it stores everything."""

    @property
    def frozen(self) -> bool:
        """Whether training leaves the encoder as it is, so that its states can be cached."""

    @property
    def module(self) -> nn.Module | None:
        """The part of the encoder that checkpoints store; None if its name is enough."""

    def weights_changed(self) -> None:
        """Called after the weights in `module` have changed."""

    def parameter_groups(self, rate: float, decay: float) -> list[dict[str, object]]:
        """Groups for an optimiser: the last layer learns at `rate`, each one below at `decay` times that."""

    def to(self, device: torch.device | str) -> Self:
        """Move the weights to a device, in place."""


class FrozenEncoder:
    """The base of encoders that are never trained. A subclass writes `encode` and `fingerprint`.

    Its states have one layer. Its weights stay on the CPU, unless the subclass moves them.
    """

    name = "encoder"
    width = 0
    layers = 1
    frozen = True
    module: nn.Module | None = None

    def encode(self, document: Document) -> Tensor:
        raise NotImplementedError

    def blocks(self, document: Document) -> Iterator[Tensor]:
        yield self.encode(document)

    def fingerprint(self) -> str:
        raise NotImplementedError

    def identity(self) -> str | None:
        return self.fingerprint()

    def weights_changed(self) -> None:
        return

    def parameter_groups(self, rate: float, decay: float) -> list[dict[str, object]]:
        return []

    def to(self, device: torch.device | str) -> Self:
        return self


def states_in_blocks(encoder: Encoder, document: Document, size: int) -> Iterator[Tensor]:
    """The encoder's states in blocks of `size` tokens, [size, H] or [layers, size, H]; the last may be smaller.

    A document without tokens has one empty block. Blocks do not depend on how the encoder cuts the document, so that
    results are the same with and without a cache.
    """
    given = encoder.blocks(document) if hasattr(encoder, "blocks") else iter([encoder.encode(document)])
    rest = next(given)
    for start in range(0, max(len(document), 1), size):
        wanted = min(size, len(document) - start)
        while rest.shape[-2] < wanted and (more := next(given, None)) is not None:
            rest = join_blocks([rest, more])
        last = start + wanted == len(document)
        if last:  # a cache writes its file when its encoder has no more blocks
            rest = join_blocks([rest, *given])
        if rest.shape[-2] < wanted or (last and rest.shape[-2] > wanted):
            have = f"{start + rest.shape[-2]} states for {len(document)} tokens"
            raise InputError(f"document {document.key}: the encoder {encoder.name} gives {have}")
        yield rest[..., :wanted, :]
        rest = rest[..., wanted:, :]


def join_blocks(blocks: Sequence[Tensor]) -> Tensor:
    """The states of consecutive blocks of tokens as one tensor."""
    import torch

    return torch.cat(list(blocks), dim=-2) if len(blocks) > 1 else blocks[0]


def make_encoder(config: EncoderConfig) -> Encoder:
    """The encoder of this configuration, with its weights loaded."""
    if config.path and plugins.known("encoders", config.path):
        plugged_in: Encoder = plugins.make("encoders", config.path, config=config)
        if plugins.names_code(config.path):
            plugins.trust(config.path)  # a model that is saved with it can be loaded again
        return plugged_in
    if config.kind == "bilstm":
        from corefine.models.network.encoders.bilstm import BiLSTMEncoder

        return BiLSTMEncoder(config)
    from corefine.models.network.encoders.known import check_weights, find_encoder, known_encoders
    from corefine.models.network.encoders.transformer import TransformerEncoder

    if config.kind == "minilm" and config.path:  # the folder must hold exactly these weights
        [known] = (each for each in known_encoders() if each.name == "minilm")
        check_weights(known, Path(config.path))
    return TransformerEncoder(config, *find_encoder(config.path or config.kind))

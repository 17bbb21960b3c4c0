"""Encoders: what turns tokens into states. All behind one protocol, `Encoder`."""

from __future__ import annotations

from corefine.models.network.config import EncoderConfig
from corefine.models.network.encoders.base import Encoder

__all__ = ["Encoder", "make_encoder"]


def make_encoder(config: EncoderConfig) -> Encoder:
    """The encoder this configuration describes, with its weights loaded."""
    if config.kind == "bilstm":
        from corefine.models.network.encoders.bilstm import BiLSTMEncoder

        return BiLSTMEncoder(config)
    if config.kind == "minilm":
        from corefine.models.network.encoders.minilm import minilm

        return minilm(config)
    from corefine.models.network.encoders.transformer import TransformerEncoder

    return TransformerEncoder(config)

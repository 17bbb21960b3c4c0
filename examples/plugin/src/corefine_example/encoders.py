"""An encoder: a word's state says how the word is spelt, whatever stands around it."""

from __future__ import annotations

from zlib import crc32

import torch
from torch import Tensor

from corefine.document import Document
from corefine.models.network.config import EncoderConfig
from corefine.models.network.encoders import FrozenEncoder


class Spelling(FrozenEncoder):
    name = "spelling"
    width = 64

    def __init__(self, config: EncoderConfig) -> None:
        self.config = config

    def encode(self, document: Document) -> Tensor:
        states = torch.zeros(len(document), self.width)
        for row, token in enumerate(document.tokens):
            for piece in (token.lower(), token[:3], token[-3:]):
                states[row, crc32(piece.encode()) % self.width] += 1.0
        return states

    def fingerprint(self) -> str:
        return f"{self.name} {self.width}"

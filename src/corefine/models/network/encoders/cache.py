"""A cache on disk for the states of a frozen encoder: encoding is most of the cost of a prediction.

A file is named by a hash of what its states depend on: the encoder's weights and settings, and the document's tokens.
It is a float16 `.npy` file, memory-mapped when read. Files are written atomically, so processes may share a folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from corefine.document import Document
from corefine.errors import ConfigError
from corefine.files import write_atomically
from corefine.models.network.encoders import Encoder

VERSION = "2"
"""Increased when the same encoder gives other states than before. (2: windows of equal length.)"""


class CachedEncoder:
    """A frozen encoder with a cache on disk; itself an `Encoder`."""

    def __init__(self, encoder: Encoder, folder: Path | str) -> None:
        if not encoder.frozen:
            raise ConfigError(f"the states of {encoder.name} change while it is fine-tuned; they cannot be cached")
        self.encoder = encoder
        self.name = encoder.name
        self.width = encoder.width
        self.layers = encoder.layers
        self.folder = Path(folder)

    def encode(self, document: Document) -> Tensor:
        path = self.path(document)
        states = self._read(path, len(document))
        if states is None:
            states = self.encoder.encode(document).to("cpu", torch.float16)
            self._write(path, states)
        return states.float()

    def path(self, document: Document) -> Path:
        """The file for the states of a document."""
        digest = hashlib.sha256((VERSION + self.fingerprint()).encode())
        for token in document.tokens:
            encoded = token.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(4, "big") + encoded)  # the length keeps different tokens apart
        name = digest.hexdigest()
        return self.folder / name[:2] / f"{name}.npy"

    def fingerprint(self) -> str:
        return self.encoder.fingerprint()

    def identity(self) -> str | None:
        return self.encoder.identity()

    @property
    def frozen(self) -> bool:
        return True

    @property
    def module(self) -> nn.Module | None:
        return self.encoder.module

    def weights_changed(self) -> None:
        self.encoder.weights_changed()

    def parameter_groups(self, rate: float, decay: float) -> list[dict[str, object]]:
        return self.encoder.parameter_groups(rate, decay)

    def to(self, device: torch.device | str) -> CachedEncoder:
        self.encoder.to(device)
        return self

    def _read(self, path: Path, length: int) -> Tensor | None:
        """The states in a file; None if there are none, or of another shape."""
        try:
            array = np.load(path, mmap_mode="c", allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        shape = (self.layers, length, self.width) if self.layers > 1 else (length, self.width)
        if array.shape != shape or array.dtype != np.float16:
            return None
        return torch.from_numpy(array)

    def _write(self, path: Path, states: Tensor) -> None:
        """Write the states; a full or read-only disk is not an error."""
        content = io.BytesIO()
        np.save(content, states.numpy())
        with contextlib.suppress(OSError):
            write_atomically(path, content.getvalue())

"""A cache on disk for the states of a frozen encoder: encoding is most of the cost of a prediction.

A file is named by a hash of what its states depend on: the encoder's weights and settings, and the document's tokens.
It is a float16 `.npy` file, written and read in blocks of tokens. Files appear whole, so processes may share a folder.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator, Iterator
from contextlib import suppress
from io import BufferedReader
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from corefine.document import Document
from corefine.errors import ConfigError
from corefine.files import AtomicFiles
from corefine.models.network.encoders import Encoder, join_blocks, states_in_blocks

VERSION = "2"
"""Increased when the same encoder gives other states than before. (2: windows of equal length.)"""

BLOCK = 4_096
"""Tokens whose states are read from a file, or written to it, at once."""

BYTES = 2
"""Of a number in a file."""


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
        return join_blocks(list(self._blocks(document, max(len(document), 1))))

    def blocks(self, document: Document) -> Generator[Tensor, None, None]:
        return self._blocks(document, BLOCK)

    def _blocks(self, document: Document, size: int) -> Generator[Tensor, None, None]:
        """The states of `size` tokens after another, from the file or, if there is none, from the encoder."""
        path = self.path(document)
        file = self._open(path, len(document))
        if file is not None:
            with file:
                yield from self._read(file, len(document), size)
            return
        writer = self._write(path, len(document))
        next(writer)
        try:
            for states in states_in_blocks(self.encoder, document, size):
                states = states.to("cpu", torch.float16)
                writer.send(states)
                yield states.float()
            writer.send(None)
        finally:
            writer.close()

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

    def _shape(self, length: int) -> tuple[int, ...]:
        return (self.layers, length, self.width) if self.layers > 1 else (length, self.width)

    def _open(self, path: Path, length: int) -> BufferedReader | None:
        """The file, at its first state; None if there is none, or with states of another shape."""
        try:
            file = path.open("rb")
        except OSError:
            return None
        expected = (self._shape(length), False, np.dtype(np.float16))
        with suppress(OSError, ValueError, EOFError):
            np.lib.format.read_magic(file)
            if np.lib.format.read_array_header_1_0(file) == expected:
                size = file.tell() + BYTES * self.layers * length * self.width
                if os.fstat(file.fileno()).st_size == size:
                    return file
        file.close()
        return None

    def _read(self, file: BufferedReader, length: int, size: int) -> Iterator[Tensor]:
        """The states in the file, for `size` tokens after another."""
        first = file.tell()
        for start in range(0, max(length, 1), size):
            block = np.empty(self._shape(min(size, length - start)), np.float16)
            for layer, states in enumerate(block if self.layers > 1 else [block]):
                file.seek(first + BYTES * self.width * (layer * length + start))
                if file.readinto(states) != states.nbytes:
                    raise OSError(f"{file.name} became shorter while it was read")
            yield torch.from_numpy(block).float()

    def _write(self, path: Path, length: int) -> Generator[None, Tensor | None, None]:
        """Takes the states of one block after another, then None, and writes the file.

        A full or read-only disk is not an error. If it is closed before the end, nothing is written.
        """
        start = 0
        with suppress(OSError), AtomicFiles() as files, files.open(path) as stream:
            header = {"descr": "<f2", "fortran_order": False, "shape": self._shape(length)}
            np.lib.format.write_array_header_1_0(stream, header)
            first = stream.tell()
            while (block := (yield)) is not None:
                for layer, states in enumerate(block if self.layers > 1 else [block]):
                    stream.seek(first + BYTES * self.width * (layer * length + start))
                    stream.write(states.contiguous().numpy().tobytes())
                start += block.shape[-2]
        while True:
            yield

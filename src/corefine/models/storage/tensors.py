"""Named tensors on disk, with facts about them: safetensors and JSON, no pickles.

NAME in a folder is `NAME.json` and the file it points to, `NAME-<sha256>.safetensors`. Saving writes new tensors
beside the old ones, replaces the JSON in one step, and then removes the old file. So the JSON on disk always points to
a whole file, and a save that fails changes nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as from_bytes
from safetensors.torch import save as to_bytes
from torch import Tensor

from corefine import __version__
from corefine.errors import ModelError
from corefine.files import write_atomically

FORMAT = 1
"""Increased when older versions of corefine cannot read what this one writes."""

_NAME_DIGITS = 16


@dataclass(frozen=True, slots=True)
class StoredTensors:
    """Tensors by name, and JSON values about them."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]


def save_tensors(folder: Path, name: str, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Save under a name, replacing what is there."""
    for key, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ModelError(f"{key} holds NaN or infinity, so nothing was saved; lower the learning rate")
    content = to_bytes({key: tensor.detach().cpu().contiguous() for key, tensor in tensors.items()})
    sha256 = hashlib.sha256(content).hexdigest()
    weights = folder / f"{name}-{sha256[:_NAME_DIGITS]}.safetensors"
    head = {"format": FORMAT, "corefine": __version__, "weights": weights.name, "sha256": sha256, **facts}
    before = set(_weights_of(folder, name))
    try:
        write_atomically(weights, content)
        write_atomically(folder / f"{name}.json", json.dumps(head, indent=1, ensure_ascii=False).encode())
    except OSError as error:
        if weights not in before:
            weights.unlink(missing_ok=True)
        raise ModelError(f"{name} cannot be saved to {folder} ({error}); the last save is unchanged") from error
    for old in before - {weights}:
        old.unlink(missing_ok=True)


def load_tensors(folder: Path, name: str) -> StoredTensors:
    """Load what was saved under a name. Checks the format, the SHA-256, and that there is no NaN or infinity."""
    facts = read_facts(folder, name)
    path = folder / str(facts.get("weights"))
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{folder / name}.json points to {path.name}, which cannot be read: {error}") from error
    if hashlib.sha256(content).hexdigest() != facts.get("sha256"):
        raise ModelError(f"{path} is truncated or was altered: {name}.json has another SHA-256; copy it again")
    try:
        tensors = from_bytes(content)
    except SafetensorError as error:
        raise ModelError(f"{path} is not a safetensors file: {error}") from error
    for key, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ModelError(f"{path}: {key} holds NaN or infinity; training went wrong, use an earlier model")
    return StoredTensors(tensors, facts)


def read_facts(folder: Path, name: str) -> dict[str, Any]:
    """Only the JSON values."""
    path = folder / f"{name}.json"
    try:
        facts = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise ModelError(f"{folder} holds no {name}: {path.name} is not there") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from error
    if not isinstance(facts, dict) or not isinstance(facts.get("format"), int):
        raise ModelError(f"{path} was not written by corefine: it has no format number")
    if facts["format"] > FORMAT:
        raise ModelError(
            f"{path} was made by corefine {facts.get('corefine')} (format {facts['format']}); this is "
            f"{__version__}, which reads up to format {FORMAT}: upgrade corefine"
        )
    return facts


def exists(folder: Path, name: str) -> bool:
    """Whether the folder has tensors of that name."""
    return (folder / f"{name}.json").is_file()


def _weights_of(folder: Path, name: str) -> Iterator[Path]:
    """The tensor files of that name, without those of longer names that start with it."""
    for path in folder.glob(f"{name}-*.safetensors"):
        middle = path.name.removeprefix(f"{name}-").removesuffix(".safetensors")
        if len(middle) == _NAME_DIGITS and all(letter in "0123456789abcdef" for letter in middle):
            yield path

"""What needs an optional part of corefine says so by name, before anything of it is imported."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from corefine.errors import MissingExtraError

if TYPE_CHECKING:
    from corefine.models.resolver import Resolver


def need_model() -> None:
    """Raise unless the extra "model" is installed."""
    for package in ("torch", "safetensors", "transformers"):
        if find_spec(package) is None:
            raise MissingExtraError(package, "model")


def load(path_or_name: str | Path = "starter", *, device: str = "auto", cache: Path | None = None) -> Resolver:
    """The model of a folder, or "starter", the one that ships with corefine.

    device    "auto", "cpu", "cuda" or "mps"
    cache     a folder to keep encoder states in, which makes predicting a document again much faster
    """
    need_model()
    from corefine.models import resolver

    return resolver.load(path_or_name, device=device, cache=cache)

"""Loads models. Importing this module does not import torch."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from corefine.errors import MissingExtraError, ModelError

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
    cache     a folder for encoder states, which makes predicting a document again much faster
    """
    need_model()
    from corefine.models import resolver
    from corefine.models.committee import is_committee, load_committee
    from corefine.models.devices import choose_device
    from corefine.models.storage.checkpoint import is_model, load_model

    starter = str(path_or_name) == "starter"
    folder = resolver.STARTER if starter else Path(path_or_name).expanduser()
    if not is_committee(folder) and not is_model(folder):
        if starter:
            raise ModelError("this installation lacks the starter model; train one with `make starter`")
        raise ModelError(f"{folder} holds no model: give a folder that `corefine train` wrote, or 'starter'")
    model = load_committee(folder, cache=cache) if is_committee(folder) else load_model(folder, cache=cache)
    return resolver.Resolver(model.to(choose_device(device)), str(path_or_name))

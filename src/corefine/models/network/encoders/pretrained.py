"""Pretrained networks and their tokenizers, as transformers loads them, and what differs between their families."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from torch import nn

from corefine.errors import ConfigError, MissingExtraError, WeightsError


def load(source: str, dropout: float) -> tuple[Any, Any]:
    """The tokenizer and the network, with this dropout inside it."""
    try:
        from safetensors import SafetensorError
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingExtraError("transformers", "model") from error
    _check_files(Path(source))
    try:
        tokenizer = AutoTokenizer.from_pretrained(source)
        network = load_network(source, dropout)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())
        raise WeightsError(f"cannot load the encoder {source!r}: {reason}") from error
    # without any file, transformers makes a tokenizer that knows only its special tokens
    if not tokenizer.is_fast or set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        raise WeightsError(
            f"the encoder {source!r} has no fast tokenizer, which corefine needs: add its tokenizer.json to the folder"
        )
    known = network.get_input_embeddings().num_embeddings
    needed = 1 + max(tokenizer.get_vocab().values())  # some numbers may be left out
    if needed > known:
        raise WeightsError(f"the tokenizer of {source!r} has {needed} sub-words, but the network knows {known}")
    return tokenizer, network


def _check_files(folder: Path) -> None:
    """Raise where transformers would name another cause."""
    if not (folder / "config.json").is_file():
        raise WeightsError(
            f"{folder} holds no encoder, as it has no config.json: give a folder with config.json, tokenizer.json and "
            "model.safetensors"
        )
    pieces = next(folder.glob("*.model"), None)
    if pieces and not (folder / "tokenizer.json").is_file() and find_spec("sentencepiece") is None:
        raise WeightsError(
            f"the tokenizer of {str(folder)!r} is a SentencePiece model ({pieces.name}), which needs a package to read "
            "it: pip install sentencepiece protobuf, or add the encoder's tokenizer.json"
        )


def load_network(source: str, dropout: float) -> Any:
    """The network with this dropout inside it, but not of attention weights.

    That would take half of a training step and rule out fast attention. (T5 has one setting for all dropout.)
    """
    from transformers import AutoConfig, AutoModel, AutoModelForTextEncoding
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]  # a bar of ours is enough, and none belongs into a log
    config = AutoConfig.from_pretrained(source)
    for name, value in config.to_dict().items():
        if "dropout" in name and isinstance(value, float):
            setattr(config, name, 0.0 if "attention" in name else dropout)
    kind = AutoModelForTextEncoding if config.is_encoder_decoder else AutoModel
    network, found = kind.from_pretrained(source, config=config, output_loading_info=True)
    parts = {id(part) for layer in _layers(network) for part in layer.modules()}
    inside = {name for name, part in network.named_modules() if id(part) in parts}
    if missing := sorted(key for key in found["missing_keys"] if key.rpartition(".")[0] in inside):
        raise WeightsError(f"the weights of {source!r} are incomplete: {missing[0]} is missing; get the encoder again")
    return network


def remove_capturing_hooks(network: nn.Module) -> None:
    """Remove what transformers adds to a network when it is first used: it cannot be pickled, and is added again."""
    for part in network.modules():
        for key, hook in list(part._forward_hooks.items()):
            if "<locals>" in getattr(hook, "__qualname__", ""):
                del part._forward_hooks[key]
        part.__dict__.pop("_output_capturing_hooks_installed", None)


def special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """What the tokenizer's template puts before and after a text."""
    plain = tokenizer("a", add_special_tokens=False)["input_ids"]
    whole = tokenizer("a")["input_ids"]
    extra = len(whole) - len(plain)
    at = next(at for at in range(extra + 1) if whole[at : at + len(plain)] == plain)
    return whole[:at], whole[at + len(plain) :]


def marks_spaces(tokenizer: Any) -> bool:
    """Whether a word is split differently within a text than at its beginning, as by byte-level tokenizers."""
    pre_tokenizer = json.loads(tokenizer.backend_tokenizer.to_str())["pre_tokenizer"] or {}
    steps = pre_tokenizer.get("pretokenizers", [pre_tokenizer])
    return any(step.get("type") == "ByteLevel" and not step.get("add_prefix_space") for step in steps)


def longest_window(network: Any) -> int | None:
    """The most sub-words that the network has positions for; None where it has no limit."""
    longest: int | None = getattr(network.config, "max_position_embeddings", None)
    if longest is None:
        return None
    tables = (getattr(part, "position_embeddings", None) for part in network.modules())
    padded = [
        table.padding_idx for table in tables if isinstance(table, nn.Embedding) and table.padding_idx is not None
    ]
    return longest - padded[0] - 1 if padded else longest  # positions may begin after that of the padding


def stack(network: Any) -> list[nn.Module]:
    """The layers, from the first to the last. Raises if they cannot be told apart, like those of ALBERT."""
    if layers := _layers(network):
        return layers
    raise ConfigError(f"the layers of {type(network).__name__} cannot be fine-tuned: use fine_tune = false")


def _layers(network: Any) -> list[nn.Module]:
    depth = int(network.config.num_hidden_layers)
    stacks = (part for part in network.modules() if isinstance(part, nn.ModuleList) and len(part) == depth)
    return list(next(stacks, []))


def embeddings(network: Any) -> nn.Module:
    """The part of the network below the layers: all of it where it is one module, else the table of sub-words."""
    table, first = network.get_input_embeddings(), stack(network)[0]
    for part in network.children():
        inside = set(part.modules())
        if table in inside and first not in inside:
            module: nn.Module = part
            return module
    word_table: nn.Module = table
    return word_table

"""Any Hugging Face encoder: overlapping windows of sub-words, pooled to words.

Nothing here is particular to one family of models. Special tokens come from the tokenizer's own template, layers are
found by their number, and the longest window is what the model's positions allow.

A document is longer than what the encoder can see at once, so it is read in windows that overlap; each sub-word is
taken from the window in which it stands farthest from an edge.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from corefine.document import Document
from corefine.errors import ConfigError
from corefine.models.devices import bfloat16_is_fast
from corefine.models.network.config import EncoderConfig
from corefine.models.network.dropout import replace_dropout
from corefine.models.network.encoders import join_blocks
from corefine.models.network.encoders.attention import use_products
from corefine.models.network.encoders.lora import MergedAdapters, attach, blank, linear_layers
from corefine.models.network.encoders.pretrained import (
    embeddings,
    load,
    load_network,
    longest_window,
    marks_spaces,
    remove_capturing_hooks,
    special_tokens,
    stack,
)

BATCH = 8
"""Windows in one forward pass."""

BATCH_ON_CPU = 2
"""The same without gradients on a CPU, where more are not faster and need more memory."""


class TransformerEncoder(nn.Module):
    """A pretrained transformer, frozen or fine-tuned."""

    def __init__(self, config: EncoderConfig, name: str, source: str | Path) -> None:
        super().__init__()
        self.config = config
        self.source = str(source)
        self.name = name
        self.precision = config.precision
        if config.precision == "auto":
            self.precision = "bfloat16" if bfloat16_is_fast() else "float32"
        self.tokenizer, self.network = load(self.source, config.inner_dropout if config.fine_tune else 0.0)
        self._use_products()
        self._before, self._after = special_tokens(self.tokenizer)
        self._space = " " if marks_spaces(self.tokenizer) else ""
        if config.masked and self.tokenizer.mask_token_id is None:
            raise ConfigError(f"masked = {config.masked}: {self.name} has no mask token")
        self.width = int(self.network.config.hidden_size)
        depth = int(self.network.config.num_hidden_layers)
        if any(not -depth - 1 <= layer <= depth for layer in config.layers):
            raise ConfigError(f"layers {config.layers}: {self.name} has layers 0 (embeddings) to {depth}")
        self.layers = max(1, len(config.layers))
        self.window = min(config.window, longest_window(self.network) or config.window)
        self._hash: str | None = None
        self._base = ""  # with adapters: the hash of the encoder's own weights
        self.adapters: nn.ParameterDict | None = None
        self._merged: MergedAdapters | None = None
        self._rounded = False  # whether weights are stored in bfloat16
        self._fixed: frozenset[str] = frozenset()  # names of the weights that are not part of a saved model
        self.requires_grad_(False)
        if config.lora_rank:
            self._add_adapters(config)
        else:
            for block in self._tuned():
                block.requires_grad_(True)
        if config.fine_tune:
            replace_dropout(self.network, self._learning_blocks())
        if self.module is not self.network:
            self._fixed = frozenset(
                name for name, weight in self.network.named_parameters() if not weight.requires_grad
            )
        self.train(config.fine_tune)

    def encode(self, document: Document) -> Tensor:
        with self._autocast():  # around all blocks: gradients of a weight are added up in its rounded copy
            return join_blocks(list(self.blocks(document)))

    def blocks(self, document: Document) -> Iterator[Tensor]:
        if not len(document):
            yield torch.zeros(*([self.layers] if self.layers > 1 else []), 0, self.width)
            return
        pieces, counts = self._pieces(document.tokens)
        if self._learning and self.config.masked:
            pieces = self._masked(pieces)
        ends = counts.cumsum(0)  # [T] where the sub-words of each token end
        done = 0  # tokens
        begun: list[Tensor] = []  # [S, H] of each layer: sub-words of a token that goes on in the next windows
        for layers, places in self._run(pieces):
            if begun:
                places = torch.cat([torch.arange(len(begun[0])), places + len(begun[0])])
                layers = [torch.cat(pair) for pair in zip(begun, layers, strict=True)]
            begin = int(ends[done - 1]) if done else 0
            upto = int(torch.searchsorted(ends, begin + len(places), right=True))
            size = int(counts[done:upto].sum())
            pooled = self._pool(layers, places[:size], counts[done:upto])  # [layers, B, H]
            begun = [layer[places[size:]] for layer in layers] if size < len(places) else []
            done = upto
            yield (pooled if self.layers > 1 else pooled[0]).float()

    def _use_products(self) -> None:
        self._products = self.precision == "bfloat16" and use_products(self.network)

    @property
    def _learning(self) -> bool:
        return bool(self.config.fine_tune and self.network.training)

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bfloat16")

    def fingerprint(self) -> str:
        precision = f"{self.precision} products" if self._products and self.device.type == "cpu" else self.precision
        return self._hash_with_settings(self._weights_hash() + self._base, precision)

    def identity(self) -> str | None:
        if self.adapters is not None:
            return self._hash_with_settings(self._base, self.config.precision)
        if self.config.fine_tune:
            return None
        return self._hash_with_settings(self._weights_hash(), self.config.precision)  # the same on every processor

    def _weights_hash(self) -> str:
        if self._hash is None or self.config.fine_tune:
            self._hash = _hash_weights(self.network if self.adapters is None else self.adapters)
        return self._hash

    def _hash_with_settings(self, weights: str, precision: str) -> str:
        settings = {
            "window": self.window,
            "precision": precision,
            "overlap": self.config.overlap,
            "pooling": self.config.pooling,
            "layers": self.config.layers,
            "weights": weights,
        }
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()

    @property
    def module(self) -> nn.Module | None:
        return self.adapters if self.adapters is not None else self.network if self.config.fine_tune else None

    @property
    def frozen(self) -> bool:
        return not self.config.fine_tune

    def weights_changed(self) -> None:
        if self._merged is None or not self._merged.outdated:
            return
        if self._rounded:  # the adapters are added to the encoder's own weights, and these are gone
            device = self.device
            self.network = load_network(self.source, 0.0).to(device).requires_grad_(False).train(self.training)
            self._use_products()
            self._merged = MergedAdapters(self._adapted_layers(), self._merged.adapters)
            self._rounded = False
        self._merged.update()
        self._hash = None

    def parameter_groups(self, rate: float, decay: float) -> list[dict[str, object]]:
        if self.adapters is not None:
            return [{"params": list(self.adapters.parameters()), "lr": rate}]
        tuned = self._tuned()
        return [
            {"params": list(block.parameters()), "lr": rate * decay ** (len(tuned) - 1 - depth)}
            for depth, block in enumerate(tuned)
        ]

    def _tuned(self) -> list[nn.Module]:
        """The parts that training moves, from the first to the last."""
        return self._learning_blocks() if self.config.fine_tune else []

    def _learning_blocks(self) -> list[nn.Module]:
        """The embeddings and layers that learn, from the first to the last; adapters are in layers alone."""
        blocks = [embeddings(self.network), *stack(self.network)]
        return blocks[-self.config.tuned_layers :]

    def _add_adapters(self, config: EncoderConfig) -> None:
        self._base = _hash_weights(self.network)
        layers = self._adapted_layers()
        if config.fine_tune:
            self.adapters = attach(self.network, layers, config.lora_rank, config.inner_dropout)
        else:
            self.adapters = blank(layers, config.lora_rank)
            self._merged = MergedAdapters(layers, self.adapters)

    def _adapted_layers(self) -> dict[str, nn.Linear]:
        return linear_layers(self.network, stack(self.network)[-self.config.tuned_layers :])

    def _round_weights(self) -> None:
        """Store the fixed weights of linear layers in bfloat16, so that they are not rounded in each product.

        Other fixed weights are copied: a single weight that still lies in the file keeps all of the file in memory.
        """
        self._weights_hash()  # it is of the weights as they were loaded
        with torch.inference_mode(False):  # in a prediction too, or training could not use them
            for name, weight in self.network.named_parameters():
                if name in self._fixed:
                    linear = isinstance(self.network.get_submodule(name.rpartition(".")[0]), nn.Linear)
                    weight.data = weight.data.bfloat16() if linear else weight.data.clone()
        self._rounded = True

    def _pieces(self, tokens: Sequence[str]) -> tuple[list[int], Tensor]:
        """Sub-words of all tokens, and how many each token has: at least one."""
        different = list(dict.fromkeys(tokens))
        # a lone surrogate is no text
        words = [self._space + token.encode("utf-8", "replace").decode() for token in different]
        batch = self.tokenizer(words, add_special_tokens=False, return_attention_mask=False)["input_ids"]
        unknown = [self.tokenizer.unk_token_id]
        spelled = {token: ids or unknown for token, ids in zip(different, batch, strict=True)}
        pieces = [piece for token in tokens for piece in spelled[token]]
        return pieces, torch.tensor([len(spelled[token]) for token in tokens])

    def _masked(self, pieces: list[int]) -> list[int]:
        """The sub-words with some of them hidden, chosen anew in each call."""
        hidden = (torch.rand(len(pieces)) < self.config.masked).tolist()
        mask = self.tokenizer.mask_token_id
        return [mask if hide else piece for piece, hide in zip(pieces, hidden, strict=True)]

    def _run(self, pieces: list[int]) -> Iterator[tuple[list[Tensor], Tensor]]:
        """The states of a few windows after another, [B x window, H] for each layer, and which to take: [S] places."""
        before, after = self._before, self._after
        starts, inner = _windows(len(pieces), self.window - len(before) - len(after), self.config.overlap)
        takes = _takes(starts, inner, len(pieces))
        batch = BATCH_ON_CPU if self.device.type == "cpu" and not self._learning else BATCH
        for begin in range(0, len(starts), batch):
            group = starts[begin : begin + batch]
            rows = [[*before, *pieces[start : start + inner], *after] for start in group]
            places = []
            for row, start in enumerate(group):
                shift = row * len(rows[0]) + len(before) - start
                left, right = takes[begin + row]
                places.append(torch.arange(left + shift, right + shift))
            yield self._forward(torch.tensor(rows, device=self.device)), torch.cat(places)

    def _forward(self, ids: Tensor) -> list[Tensor]:
        """[B, window] -> [B x window, H] for each layer."""
        if self.precision == "bfloat16" and not self._rounded:
            self._round_weights()
        with torch.set_grad_enabled(torch.is_grad_enabled() and self._learning), self._autocast():
            found = self.network(input_ids=ids, output_hidden_states=bool(self.config.layers))
        layers = [found.hidden_states[layer] for layer in self.config.layers] or [found.last_hidden_state]
        return [layer.flatten(0, 1) for layer in layers]

    def _pool(self, layers: list[Tensor], places: Tensor, counts: Tensor) -> Tensor:
        """Sub-words to words: [layers, T, H].

        places    [S] where the sub-words of the words are in each layer
        counts    [T] the sub-words of each word
        """
        firsts = counts.cumsum(0) - counts
        pooled = _at(layers, places[firsts])
        if self.config.pooling == "first":
            return pooled
        longer = (counts > 1).nonzero().squeeze(1)  # most words are one sub-word, and then there is nothing to add
        if len(longer):
            sums = pooled[:, longer.to(pooled.device)]
            for number in range(1, int(counts.max())):
                also = (counts[longer] > number).nonzero().squeeze(1)
                sums = sums.index_add(1, also.to(sums.device), _at(layers, places[firsts[longer[also]] + number]))
            means = sums / counts[longer].to(sums.device)[:, None]
            pooled = pooled.index_copy(1, longer.to(pooled.device), means)
        return pooled

    @property
    def device(self) -> torch.device:
        device: torch.device = next(self.network.parameters()).device
        return device

    def __getstate__(self) -> object:
        remove_capturing_hooks(self.network)
        state: object = super().__getstate__()  # type: ignore[no-untyped-call]  # torch's own
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self._use_products()  # this process may not know them


def _at(layers: list[Tensor], places: Tensor) -> Tensor:
    """[layers, S, H] the states at these places of each layer."""
    return torch.stack([layer.index_select(0, places.to(layer.device)) for layer in layers])


def _windows(size: int, longest: int, overlap: int) -> tuple[list[int], int]:
    """The starts of the windows over this many sub-words, and their length. Equal lengths need no padding."""
    overlap = overlap if overlap < longest else longest // 2  # for a model with few positions
    count = max(1, -(-(size - overlap) // (longest - overlap)))
    inner = -(-(size + (count - 1) * overlap) // count)
    return [number * (size - inner) // max(1, count - 1) for number in range(count)], inner


def _takes(starts: list[int], inner: int, size: int) -> list[tuple[int, int]]:
    """Which sub-words to take from each window: borders lie in the middle of overlaps."""
    borders = [0]
    borders += [(start + before + inner) // 2 for before, start in pairwise(starts)]
    borders.append(size)
    return list(pairwise(borders))


def _hash_weights(network: nn.Module) -> str:
    digest = hashlib.sha256()
    for name, value in sorted(network.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()

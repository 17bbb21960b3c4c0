"""The whole model: an encoder and a span ranker over its states."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn

from corefine.document import Document
from corefine.errors import ModelError
from corefine.models.devices import release_memory
from corefine.models.network.config import EncoderConfig, ModelConfig
from corefine.models.network.encoders import Encoder, join_blocks, make_encoder, states_in_blocks
from corefine.models.network.encoders.cache import CachedEncoder
from corefine.models.network.initial_weights import draw_as_allennlp
from corefine.models.network.inputs import Inputs, TokenFeatures, make_features, make_inputs
from corefine.models.network.ranker import Ranking, SpanRanker
from corefine.models.network.spans import MentionScores
from corefine.prediction import Prediction

TOKENS_IN_BLOCK = 1_024
"""Tokens whose states are in memory at once during a prediction. What is kept of them is a tenth as large."""

LONG_TEXT = 1_000
"""Tokens of a text after whose prediction memory is given back. For a short one it would take a part of the time."""


class Model:
    """Documents in, rankings out. `parts` is what training changes: a frozen encoder is not in it."""

    def __init__(self, config: ModelConfig, encoder: Encoder, ranker: SpanRanker) -> None:
        self.config = config
        self.encoder = encoder
        self.ranker = ranker
        self.parts = nn.ModuleDict({"ranker": ranker})
        if encoder.module is not None:
            self.parts["encoder"] = encoder.module
        self.device = torch.device("cpu")

    @classmethod
    def create(
        cls, config: ModelConfig, *, seed: int = 0, encoder: Encoder | None = None, cache: Path | None = None
    ) -> Self:
        """A model with new weights.

        encoder    a loaded encoder to use
        cache      a folder for the states of a frozen encoder
        """
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            encoder = encoder or make_encoder(config.encoder)
            if cache is not None and encoder.frozen and not isinstance(encoder, CachedEncoder):
                encoder = CachedEncoder(encoder, cache)
            ranker = SpanRanker(config, encoder.width, encoder.layers)
            if config.initial_weights == "allennlp":
                draw_as_allennlp(ranker, encoder.module)
        return cls(config, encoder, ranker)

    def encoder_for(self, settings: EncoderConfig, tensors: Mapping[str, Tensor] | None = None) -> Encoder | None:
        """The encoder, if a model with these settings and these encoder weights can share it; None otherwise."""
        if not self.frozen or self.config.encoder != settings:
            return None
        own = self.encoder.module.state_dict() if self.encoder.module is not None else {}
        theirs = {name: value for name, value in (tensors or {}).items() if name.startswith("encoder.")}
        same = len(own) == len(theirs) and all(
            torch.equal(theirs[f"encoder.{name}"].to(value.device, value.dtype), value) for name, value in own.items()
        )
        return self.encoder if same else None

    def thawed(self, settings: EncoderConfig) -> Model:
        """The same weights, with an encoder that is fine-tuned as these settings say."""
        own = self.config.encoder
        names = ["masked", "precision", "window", "overlap", "inner_dropout"]
        if not own.lora_rank:
            names += ["tuned_layers", "lora_rank"]
        encoder = replace(own, fine_tune=True, **{name: getattr(settings, name) for name in names})
        model = Model.create(replace(self.config, encoder=encoder))
        model.parts.load_state_dict(self.tensors(), strict=False)  # the adapters may be new
        model.encoder.weights_changed()
        return model

    def snapshot(self) -> Model:
        """The model as it is now, for prediction only. Training this one further does not change it."""
        encoder = self.encoder if self.frozen else copy.deepcopy(self.encoder)
        model = Model(self.config, encoder, copy.deepcopy(self.ranker)).to(self.device)
        model.parts.requires_grad_(False)
        model.train(False)
        return model

    @property
    def frozen(self) -> bool:
        """Whether training leaves the encoder as it is."""
        return self.encoder.frozen

    def inputs(self, document: Document) -> Inputs:
        """The ranker's input for a document, on the model's device."""
        states = self._rounded(self.encoder.encode(document))
        return make_inputs(document, states, self.config.head.genres).to(self.device)

    def inputs_of_part(self, document: Document, start: int, end: int) -> Inputs:
        """The same for the tokens from `start` up to `end`, as the encoder reads them in the whole document.

        The states of a long document are never in memory as a whole.
        """
        kept: list[Tensor] = []
        at = 0
        for states in states_in_blocks(self.encoder, document, TOKENS_IN_BLOCK):
            size = states.shape[-2]
            if at < end and start < at + size:
                kept.append(states[..., max(start - at, 0) : end - at, :].clone())  # the block itself is not kept
            at += size
        features = make_features(document, self.config.head.genres).cut(start, end)
        return features.with_states(self._rounded(join_blocks(kept))).to(self.device)

    def _rounded(self, states: Tensor) -> Tensor:
        """The encoder's states as the ranker reads them."""
        if self.frozen:
            states = states.half()  # as in a cache, so that results do not depend on having one
        if states.is_inference() and not torch.is_inference_mode_enabled():
            states = states.clone()  # training cannot use tensors of inference mode
        return states

    def features(self, document: Document) -> TokenFeatures:
        """What the ranker reads of a document's tokens besides their states, on the model's device."""
        return make_features(document, self.config.head.genres).to(self.device)

    def mentions(self, document: Document, features: TokenFeatures, *others: SpanRanker) -> list[MentionScores]:
        """The mention scores of all spans, by this model's ranker and by others that read the same states.

        The states are computed for one block of tokens after another, so that they never fill the memory.
        """
        rankers = (self.ranker, *others)
        kept: list[list[Tensor]] = [[] for _ in rankers]
        surfaces = torch.split(features.surfaces, TOKENS_IN_BLOCK)
        blocks = states_in_blocks(self.encoder, document, TOKENS_IN_BLOCK)
        for states, own in zip(blocks, surfaces, strict=True):
            states = self._rounded(states).to(self.device)
            for ranker, tokens in zip(rankers, kept, strict=True):
                tokens.append(ranker.reduce(states, own))
        return [ranker.score(ranker.join(tokens), features) for ranker, tokens in zip(rankers, kept, strict=True)]

    def rank(self, document: Document) -> Ranking:
        """The ranking of a document's top spans."""
        features = self.features(document)
        [mentions] = self.mentions(document, features)
        return self.ranker.pairs(features, mentions, self.ranker.prune(mentions))

    def predict(self, document: Document) -> Prediction:
        """The prediction for a document, without gradients or dropout."""
        self.train(False)
        with torch.inference_mode():
            prediction = self.rank(document).prediction()
        if len(document) >= LONG_TEXT:
            release_memory()
        return prediction

    def scores(self, document: Document) -> Tensor:
        """[N, 1 + K] the scores of a prediction before calibration; epsilon first, then the best candidates."""
        self.train(False)
        with torch.inference_mode():
            return self.rank(document).scores.cpu().double()

    def train(self, mode: bool = True) -> None:
        """Switch dropout on or off."""
        self.parts.train(mode)
        if isinstance(self.encoder, nn.Module):
            self.encoder.train(mode and not self.frozen)

    def to(self, device: torch.device | str) -> Self:
        """Move to a device, in place."""
        self.device = torch.device(device)
        self.encoder.to(self.device)
        self.parts.to(self.device)
        return self

    def tensors(self) -> dict[str, Tensor]:
        """The weights by name. One with two names, like T5's table of sub-words, is there once, as files require."""
        first = {name for name, _ in self.parts.named_parameters()}
        again = {name for name, _ in self.parts.named_parameters(remove_duplicate=False)} - first
        return {name: value for name, value in self.parts.state_dict().items() if name not in again}

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Load weights by name: exactly those of the model, in the same shapes."""
        own = self.tensors()
        if missing := own.keys() - tensors.keys():
            raise ModelError(f"the weights lack {_some(missing)}: the file is incomplete or of another model")
        if unknown := tensors.keys() - own.keys():
            raise ModelError(f"the weights have {_some(unknown)}, which this configuration does not know")
        for name, tensor in sorted(tensors.items()):
            if tensor.shape != own[name].shape:
                what = "the vocabulary does not match: " if "embed" in name or "words" in name else ""
                raise ModelError(
                    f"{what}{name} is {list(tensor.shape)} in the weights, but {list(own[name].shape)} here"
                )
        self.parts.load_state_dict(dict(tensors), strict=False)  # without the second names
        self.encoder.weights_changed()


def _some(names: set[str]) -> str:
    listed = sorted(names)
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    return ", ".join(listed[:3]) + more

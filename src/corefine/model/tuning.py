"""Tuning an encoder once, on several corpora, and keeping the change as a small adapter.

    python -m corefine.model.tuning --mirror FOLDER --out ADAPTER.safetensors

Corpora differ in what they annotate, so each has a head of its own and they share only the encoder: it learns what
coreference needs everywhere, and any head can then be trained on its frozen states, in minutes. The heads used here
are thrown away.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import nn

from corefine.document import Document
from corefine.model.config import Config, EncoderConfig, HeadConfig, ModelConfig
from corefine.model.encoders import make_encoder
from corefine.model.encoders.adapter import extract_adapter
from corefine.model.encoders.transformer import TransformerEncoder
from corefine.model.inputs import make_inputs
from corefine.model.loss import marginal_loss, mention_loss, targets_from_clusters
from corefine.model.ranker import SpanRanker
from corefine.writing import write_atomically

CORPORA = ("litbank", "ontogum")


@dataclass(frozen=True, slots=True)
class TuningConfig(Config):
    """How the shipped adapter was made."""

    epochs: int = 5  # over the documents of all corpora together
    seed: int = 1  # of heads, the order of documents, and dropout
    rate: float = 1e-3  # highest learning rate of the heads
    encoder_rate: float = 2e-4  # of the encoder's last layer
    layer_decay: float = 0.9  # each layer below learns this much slower
    weight_decay: float = 0.01
    warmup: float = 0.06  # share of all steps during which rates rise
    clip: float = 5.0  # largest norm of a gradient
    mention_loss: float = 0.3  # weight of the loss on "is it a mention"
    rank: int = 96  # of the changes that are kept

    encoder: EncoderConfig = field(
        default_factory=lambda: EncoderConfig(
            fine_tune=True, tuned_layers=3, precision="bfloat16", window=256, overlap=48
        )
    )
    head: HeadConfig = field(default_factory=HeadConfig)


@dataclass(frozen=True, slots=True)
class Tuned:
    """One document was learned from; `done` of `steps`."""

    done: int
    steps: int
    loss: float


def tune(
    encoder: TransformerEncoder, corpora: Mapping[str, Sequence[Document]], config: TuningConfig
) -> Iterator[Tuned]:
    """Move the encoder's weights, in place."""
    torch.manual_seed(config.seed)
    model = ModelConfig(config.encoder, config.head)
    heads = nn.ModuleDict({name: SpanRanker(model, encoder.width, encoder.layers) for name in corpora})
    documents = [(name, document) for name, listed in corpora.items() for document in listed]
    groups: list[dict[str, object]] = encoder.parameter_groups(config.encoder_rate, config.layer_decay)
    groups.append({"params": [value for value in heads.parameters() if value.ndim > 1], "lr": config.rate})
    plain = [value for value in heads.parameters() if value.ndim <= 1]
    groups.append({"params": plain, "lr": config.rate, "weight_decay": 0.0})
    adam = torch.optim.AdamW(groups, weight_decay=config.weight_decay)
    steps = config.epochs * len(documents)
    warm = max(1.0, config.warmup * steps)
    schedule = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: min(1, (step + 1) / warm) * (1 - step / steps))
    learning = [value for group in adam.param_groups for value in group["params"]]
    chance = random.Random(config.seed)
    done = 0
    for _ in range(config.epochs):
        chance.shuffle(documents)
        for name, document in documents:
            ranking = heads[name](make_inputs(document, encoder.encode(document)))
            loss = marginal_loss(ranking, targets_from_clusters(ranking, document.clusters))
            loss = loss + config.mention_loss * mention_loss(ranking.mentions, document.clusters)
            adam.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(learning, config.clip)
            adam.step()
            schedule.step()
            done += 1
            yield Tuned(done, steps, float(loss.detach()))


def main(arguments: list[str] | None = None) -> None:
    """Tune on the training documents of all corpora and write the adapter."""
    from safetensors.torch import save

    from corefine.data.corpus import load_corpus

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mirror", type=Path, help="where the corpora are; default: what `corefine data get` got")
    parser.add_argument("--out", type=Path, required=True, help="the adapter's file")
    options = parser.parse_args(arguments)
    config = TuningConfig()
    corpora = {name: load_corpus(name, mirror=options.mirror).train for name in CORPORA}
    encoder = make_encoder(config.encoder)
    if not isinstance(encoder, TransformerEncoder):
        raise TypeError("only a transformer takes an adapter")
    for event in tune(encoder, corpora, config):
        sys.stderr.write(f"\r{event.done}/{event.steps}  loss {event.loss:8.1f}")
    before = make_encoder(EncoderConfig())
    if isinstance(before, TransformerEncoder):
        write_atomically(options.out, save(extract_adapter(before.network, encoder.network, config.rank)))


if __name__ == "__main__":
    main()

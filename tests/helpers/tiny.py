"""A model small enough to train in a second, and documents it can learn."""

from __future__ import annotations

import random
from dataclasses import replace

from corefine.document import Document
from corefine.models.network.config import EncoderConfig, HeadConfig, ModelConfig
from corefine.models.network.model import Model
from corefine.models.training.recipe import TrainingConfig

CONFIG = ModelConfig(
    EncoderConfig(
        kind="bilstm", fine_tune=True, word_width=8, char_width=4, char_filters=4, hidden=8, vocabulary=50, dropout=0.1
    ),
    HeadConfig(
        max_span_width=3,
        spans_per_word=0.6,
        candidates=10,
        hidden=16,
        pair_width=8,
        feature_width=4,
        state_dropout=0.1,
        dropout=0.1,
    ),
)
TRAINING = TrainingConfig(
    epochs=3, patience=0, learning_rate=1e-2, encoder_learning_rate=1e-2, mention_loss=1.0, documents_per_step=2
)
EVERY_SPAN = replace(CONFIG, head=replace(CONFIG.head, spans_per_word=3.0, candidates=200))
"""The same, keeping all spans, so that a test can rely on a mention being among them."""

_PEOPLE = (("Anna", "she"), ("Tom", "he"), ("The dog", "it"))
_VERBS = ("slept", "sang", "left", "waited")


def document(seed: int, sentences: int = 6) -> Document:
    """A few sentences about a few people; names and pronouns corefer."""
    chance = random.Random(seed)
    lines: list[list[str]] = []
    clusters: dict[str, list[tuple[int, int]]] = {}
    position = 0
    for number in range(sentences):
        name, pronoun = _PEOPLE[chance.randrange(len(_PEOPLE))]
        words = (name if number % 2 == 0 else pronoun).split()
        clusters.setdefault(name, []).append((position, position + len(words) - 1))
        line = [*words, chance.choice(_VERBS), "."]
        lines.append(line)
        position += len(line)
    return Document.from_sentences(f"tiny-{seed}", lines, clusters.values())


def documents(count: int, *, first: int = 0) -> list[Document]:
    return [document(seed) for seed in range(first, first + count)]


def model(seed: int = 0, config: ModelConfig = CONFIG) -> Model:
    return Model.create(config, seed=seed)

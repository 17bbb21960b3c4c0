"""Every setting of training, and the TOML file that holds them together with the model's."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corefine.annotation.labels import LABEL_POLICIES, LabelPolicy, label_policy
from corefine.errors import ConfigError
from corefine.models.network.config import Config, ModelConfig

RECIPES = Path(__file__).with_name("recipes")


@dataclass(frozen=True, slots=True)
class TrainingConfig(Config):
    """How the weights are found."""

    seed: int = 1  # of the first weights, the order of documents, and dropout
    epochs: int = 20  # at most
    min_steps: int = 0  # as many epochs more as it takes to come to this many steps: few documents need more passes
    patience: int = 2  # epochs without a better development F1 before training stops; 0: never
    documents_per_step: int = 1  # whose gradients are added up for one update
    max_tokens: int = 0  # longer documents are trained on in pieces, at sentence boundaries; 0: whole
    learning_rate: float = 1e-3  # of the head, at its highest
    encoder_learning_rate: float = 3e-5  # of the encoder's last layer, if it is fine-tuned
    layer_decay: float = 0.9  # each layer below learns this much slower
    weight_decay: float = 0.01
    warmup: float = 0.05  # share of all steps during which the rate rises
    schedule: str = "linear"  # linear | cosine | constant: how the rate falls after it
    clip: float = 1.0  # largest norm of a gradient; 0: none
    ema: float = 0.0  # decay of a running mean of the weights, which is then the model; 0: none
    labels: str = "pseudo"  # pseudo | answered | mix | certain: what a partly annotated document teaches
    rest: float = 0.3  # labels = mix: weight of the rows that nobody answered
    mention_loss: float = 0.0  # weight of a loss on "is it a mention", over all spans
    save_every: int = 0  # steps between saves within an epoch; 0: only after each epoch
    mixed_precision: bool = True  # bfloat16 on a GPU that has it

    def __post_init__(self) -> None:
        for name in ("epochs", "documents_per_step"):
            self._require(getattr(self, name) >= 1, name, "at least 1")
        not_negative = (
            "patience",
            "max_tokens",
            "clip",
            "weight_decay",
            "rest",
            "mention_loss",
            "save_every",
            "min_steps",
        )
        for name in not_negative:
            self._require(getattr(self, name) >= 0, name, "at least 0")
        for name in ("learning_rate", "encoder_learning_rate"):
            self._require(getattr(self, name) > 0, name, "above 0")
        self._require(0 < self.layer_decay <= 1, "layer_decay", "above 0 and at most 1")
        self._require(0 <= self.warmup <= 1, "warmup", "from 0 to 1")
        self._require(0 <= self.ema < 1, "ema", "in [0, 1)")
        self._require(self.labels in LABEL_POLICIES, "labels", f"one of {', '.join(LABEL_POLICIES)}")
        self._require(self.schedule in ("linear", "cosine", "constant"), "schedule", "linear, cosine or constant")

    @property
    def label_policy(self) -> LabelPolicy:
        return label_policy(self.labels, self.rest)


@dataclass(frozen=True, slots=True)
class Recipe(Config):
    """A model and how to train it: what a TOML file of `corefine train --config` holds."""

    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)

    @classmethod
    def from_dict(cls, values: Any) -> Recipe:
        parts = dict(values)
        if "model" in parts:
            parts["model"] = ModelConfig.from_dict(parts["model"])
        if "training" in parts:
            parts["training"] = TrainingConfig.from_dict(parts["training"])
        return super(Recipe, cls).from_dict(parts)

    def to_dict(self) -> dict[str, Any]:
        return {"model": self.model.to_dict(), "training": self.training.to_dict()}


def recipe_names() -> tuple[str, ...]:
    """The recipes that ship with corefine."""
    return tuple(sorted(path.stem for path in RECIPES.glob("*.toml")))


def load_recipe(name_or_path: str | Path) -> Recipe:
    """A recipe that ships with corefine, or one from a TOML file."""
    shipped = RECIPES / f"{name_or_path}.toml"
    path = shipped if str(name_or_path) in recipe_names() else Path(name_or_path)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        known = ", ".join(recipe_names())
        raise ConfigError(f"{path} cannot be read ({error}); give a TOML file, or one of {known}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    try:
        return Recipe.from_dict(values)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error

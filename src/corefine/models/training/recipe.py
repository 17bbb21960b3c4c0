"""The settings of training, and recipes: TOML files with the settings of a model and its training."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from corefine import plugins
from corefine.config import (
    Config,
    Limit,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Share,
    ShareBelow1,
    setting,
)
from corefine.errors import ConfigError
from corefine.models.network.config import ModelConfig

if TYPE_CHECKING:
    from corefine.annotation.labels import LabelPolicy

LABEL_POLICIES = ("pseudo", "fitted", "answered", "mix", "certain", "linked", "kept")


def check_labels(name: str, config: str) -> None:
    """Raise unless a label policy has this name. `module:attribute` is not looked up."""
    if name not in LABEL_POLICIES and not plugins.known("label_policies", name):
        raise ConfigError(f"{config}: labels must be one of {', '.join(LABEL_POLICIES)}, not {name!r}")


RECIPES = Path(__file__).with_name("recipes")


@dataclass(frozen=True, slots=True)
class TrainingConfig(Config):
    """How a model is trained."""

    seed: int = setting(1, "Seed of the first weights, the order of documents, and dropout.")
    epochs: PositiveInt = setting(20, "Maximum number of epochs.")
    min_steps: NonNegativeInt = setting(0, "Minimum number of steps; epochs are added to reach it.")
    steps_per_answer: NonNegativeFloat = setting(
        0.0, "Minimum number of steps for each mention that answers settle, where labels are learnt from answers."
    )
    patience: NonNegativeInt = setting(2, "Stop after this many epochs without a better development F1; 0: never.")
    documents_per_step: PositiveInt = setting(1, "Documents, or pieces of them, whose mean gradient makes one update.")
    max_tokens: NonNegativeInt = setting(
        0, "Cut documents longer than this many tokens into pieces, at sentence boundaries; 0: never."
    )
    max_tokens_answered: NonNegativeInt = setting(
        10_000, "The same for documents with answers, whose links to first appearances are long; 0: never."
    )
    learning_rate: PositiveFloat = setting(1e-3, "Highest learning rate of the head.")
    encoder_learning_rate: PositiveFloat = setting(3e-5, "Highest learning rate of the encoder's last layer, if tuned.")
    layer_decay: Annotated[float, Limit("above 0 and at most 1", lambda value: 0 < value <= 1)] = setting(
        0.9, "Learning rate of each encoder layer relative to the layer above."
    )
    weight_decay: NonNegativeFloat = setting(0.01, "Weight decay of AdamW.")
    warmup: Share = setting(0.05, "Share of all steps during which the rate rises.")
    schedule: Literal["linear", "cosine", "constant", "plateau"] = setting(
        "linear", "The rate after the warm-up: linear, cosine, constant or plateau."
    )
    plateau_patience: NonNegativeInt = setting(
        2, "plateau: lower the rate after more than this many epochs without a better development F1."
    )
    plateau_factor: Share = setting(0.5, "plateau: the rate is multiplied by this.")
    clip: NonNegativeFloat = setting(1.0, "Largest norm of a gradient; 0: no limit.")
    ema: ShareBelow1 = setting(0.0, "Decay of the running mean of weights that becomes the model; 0: no mean.")
    labels: str = setting(
        "pseudo", "What annotated documents teach: pseudo, fitted, answered, mix, certain, linked or kept."
    )
    rest: NonNegativeFloat = setting(0.3, "labels = mix: weight of the rows that nobody answered.")
    loss: Literal["mean", "sum"] = setting("mean", "The loss of a document: the mean over its rows, or their sum.")
    mention_loss: NonNegativeFloat = setting(0.0, "Weight of a loss on whether each span is a mention.")
    boundary_loss: NonNegativeFloat = setting(
        0.0, "Weight of a loss on how far other spans at the same start or end outrank the mentions that answers link."
    )
    calibrate: bool = setting(
        True, "Choose temperature and threshold on development documents; without any, the threshold on training ones."
    )
    save_every: NonNegativeInt = setting(0, "Steps between saves within an epoch; 0: save after each epoch only.")
    mixed_precision: bool = setting(True, "Multiply matrices in bfloat16 on processors and GPUs that are fast at it.")

    def _check(self) -> None:
        check_labels(self.labels, "TrainingConfig")

    @property
    def label_policy(self) -> LabelPolicy:
        from corefine.annotation.labels import label_policy

        return label_policy(self.labels, self.rest)


@dataclass(frozen=True, slots=True)
class RoundTrainingConfig(Config):
    """Training within the rounds of a simulation. Settings left out are those of [training], the last training."""

    epochs: PositiveInt | None = setting(None, "Maximum number of epochs.")
    min_steps: NonNegativeInt | None = setting(None, "Minimum number of steps.")
    patience: NonNegativeInt | None = setting(None, "Stop after this many epochs without a better development F1.")
    learning_rate: PositiveFloat | None = setting(None, "Highest learning rate of the head.")

    def applied_to(self, training: TrainingConfig) -> TrainingConfig:
        """The settings of a training within a round."""
        return replace(training, **{name: value for name, value in self.to_dict().items() if value is not None})


@dataclass(frozen=True, slots=True)
class Recipe(Config):
    """A model and how to train it: the content of a TOML file for `corefine train --config`."""

    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    rounds: RoundTrainingConfig = field(default_factory=RoundTrainingConfig)

    def with_vectors(self, path: Path) -> Recipe:
        """The recipe with the word vectors of a file, and with their width."""
        from corefine.models.network.encoders.vectors import vectors_width

        if self.model.encoder.kind != "bilstm":
            raise ConfigError(
                f"word vectors are for the encoder bilstm, and this recipe has {self.model.encoder.kind}: "
                "use the recipe 'paper', or no vectors"
            )
        encoder = replace(self.model.encoder, path=str(path), word_width=vectors_width(path))
        return replace(self, model=replace(self.model, encoder=encoder))

    def adapted(self, changes: Sequence[str], vectors: Path | None) -> Recipe:
        """The recipe with changed settings and a file of word vectors, as --set and --vectors give them.

        A width that is set is kept, so that vectors of another width are refused.
        """
        changed = self.with_settings(changes)
        return changed if vectors is None else changed.with_vectors(vectors).with_settings(changes)

    def with_settings(self, changes: Sequence[str]) -> Recipe:
        """The recipe with some settings changed, each given as "training.epochs=5". Values are TOML, or else text."""
        values = self.to_dict()
        for change in changes:
            path, equals, text = change.partition("=")
            *sections, key = path.split(".")
            place: Any = values
            for section in sections:
                place = place.get(section, {}) if isinstance(place, dict) else {}
            if not equals or not isinstance(place, dict) or key not in place or isinstance(place[key], dict):
                raise ConfigError(f"--set {change}: there is no such setting; write it as training.epochs=5")
            try:
                place[key] = tomllib.loads(f"value = {text}")["value"]
            except tomllib.TOMLDecodeError:
                place[key] = text
        return Recipe.from_dict(values)


def recipe_names() -> tuple[str, ...]:
    """The recipes that ship with corefine."""
    return tuple(sorted(path.stem for path in RECIPES.glob("*.toml")))


def load_recipe(name_or_path: str | Path) -> Recipe:
    """A recipe that ships with corefine, or one from a TOML file."""
    if str(name_or_path) in recipe_names():
        return Recipe.from_toml(RECIPES / f"{name_or_path}.toml")
    if not Path(name_or_path).is_file():
        known = ", ".join(recipe_names())
        raise ConfigError(f"{name_or_path} cannot be read: it is not a file; give a TOML file, or one of {known}")
    return Recipe.from_toml(Path(name_or_path))

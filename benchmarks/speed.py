"""The default recipe against the one before it: encoding a text, and an epoch of training.

    python benchmarks/speed.py --json

The recipe before encoded in float32, with windows that share 256 sub-words, read the states with a BiLSTM, trained in
float32, and some of its parts were slower (`earlier.py`). The rest of the two is the same. Both sides run on one thread
and take turns. Training has its states in memory, as from its second epoch on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from command import Bar, Json, Rounds, missed, report, run
from corefine.annotation.labels import Labels
from corefine.models.devices import use_threads
from corefine.models.network.encoders import make_encoder
from corefine.models.network.model import Model
from corefine.models.training.events import EpochStart
from corefine.models.training.recipe import Recipe, load_recipe
from corefine.models.training.trainer import train
from earlier import earlier_parts
from measuring import alternate
from model import document

TOKENS = 8_000
"""Tokens of the text that is encoded, and of the documents of an epoch together."""

SPEEDUP = 2.5


@dataclass(frozen=True, slots=True)
class Speed:
    """Seconds of the default recipe and of the one before it. `precision` is that of the default on this processor."""

    encoding_speedup: float
    training_speedup: float
    encoding_seconds: float
    encoding_seconds_before: float
    training_seconds: float
    training_seconds_before: float
    precision: str
    tokens: int

    @property
    def failure(self) -> str | None:
        return missed(
            Bar("encoding, speed over that before", self.encoding_speedup, "at least", SPEEDUP),
            Bar("an epoch of training, speed over that before", self.training_speedup, "at least", SPEEDUP),
        )


def before(recipe: Recipe) -> Recipe:
    """The default recipe as it was."""
    encoder = replace(recipe.model.encoder, precision="float32", overlap=256)
    head = replace(recipe.model.head, context="lstm", context_width=150)
    return replace(
        recipe,
        model=replace(recipe.model, encoder=encoder, head=head),
        training=replace(recipe.training, mixed_precision=False),
    )


def measure(rounds: int = 3, tokens: int = TOKENS, recipe: Recipe | None = None) -> Speed:
    """Time both recipes on a text of so many tokens."""
    use_threads(1)
    now = recipe or load_recipe("default")
    recipes = (now, before(now))
    text = document(tokens)
    encoders = [make_encoder(each.model.encoder) for each in recipes]
    encoding = alternate([partial(encoder.encode, text) for encoder in encoders], rounds)
    with tempfile.TemporaryDirectory() as folder:
        epochs = [_epoch(each, tokens, Path(folder), earlier=each is not now) for each in recipes]
        training = alternate(epochs, rounds)
    return Speed(
        encoding_speedup=encoding[1] / encoding[0],
        training_speedup=training[1] / training[0],
        encoding_seconds=encoding[0],
        encoding_seconds_before=encoding[1],
        training_seconds=training[0],
        training_seconds_before=training[1],
        precision=str(getattr(encoders[0], "precision", "float32")),
        tokens=tokens,
    )


def _epoch(recipe: Recipe, tokens: int, cache: Path, *, earlier: bool) -> Callable[[], None]:
    """The next epoch over texts of 2,000 tokens, with all losses of the recipe, by the present code or the earlier."""
    config = replace(recipe.training, epochs=10**6, min_steps=0, calibrate=False)
    model = Model.create(recipe.model, cache=cache)
    labels = [Labels(document(min(2_000, tokens)))] * max(1, tokens // 2_000)
    events = train(model, labels, config)
    next(event for event in events if isinstance(event, EpochStart))

    def epoch() -> None:
        with earlier_parts(model) if earlier else nullcontext():
            next(event for event in events if isinstance(event, EpochStart))

    return epoch


def described(found: Speed) -> str:
    """The figures in words."""
    return "\n".join(
        [
            f"{found.tokens:,} tokens, one thread, {found.precision}",
            f"encoding: {found.encoding_seconds:.2f} s, before {found.encoding_seconds_before:.2f} s "
            f"({found.encoding_speedup:.2f}x faster)",
            f"training: {found.training_seconds:.2f} s an epoch, before {found.training_seconds_before:.2f} s "
            f"({found.training_speedup:.2f}x faster)",
        ]
    )


def main(as_json: Json = False, rounds: Rounds = 3) -> None:
    """Time encoding and training by the default recipe, against the recipe before it."""
    report(measure(rounds), described, as_json=as_json)


if __name__ == "__main__":
    run(main)

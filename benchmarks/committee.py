"""What a committee costs: three members against one model, predicting the same documents in one run.

    python benchmarks/committee.py --json

The default model with new weights: speed does not depend on what they are. The encoder's states are computed once
for all members; what remains for each is the head. The second pair of figures has the states cached on disk, so that
nothing but the heads is left: it cannot go much below the number of members.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from command import Bar, Json, Rounds, missed, report, run
from corefine.models.committee import Committee
from corefine.models.devices import use_threads
from corefine.models.network.config import ModelConfig
from corefine.models.network.encoders import make_encoder
from corefine.models.network.encoders.cache import CachedEncoder
from corefine.models.network.model import Model
from measuring import alternate
from model import document

MEMBERS = 3
TOKENS = 2_000


@dataclass(frozen=True, slots=True)
class CommitteeCost:
    """Seconds to predict a document of so many tokens, and the committee's over those of one model."""

    ratio: float
    cached_ratio: float
    one_seconds: float
    committee_seconds: float
    cached_one_seconds: float
    cached_committee_seconds: float
    members: int
    tokens: int
    threads: int

    @property
    def failure(self) -> str | None:
        return missed(Bar("a committee over one model", self.ratio, "below", 2.2))


def measure(*, rounds: int = 5, members: int = MEMBERS, tokens: int = TOKENS) -> CommitteeCost:
    """Time one model and a committee, without and with cached states, taking turns."""
    threads = use_threads()
    config = ModelConfig()
    encoder = make_encoder(config.encoder)
    models = [Model.create(config, seed=seed, encoder=encoder) for seed in range(members)]
    text = document(tokens)
    with tempfile.TemporaryDirectory() as folder:
        cached = [Model(config, CachedEncoder(encoder, Path(folder)), model.ranker) for model in models]
        shared = cached[0].encoder
        cached = [Model(config, shared, model.ranker) for model in models]
        ways: list[Callable[[], object]] = [
            lambda: models[0].predict(text),
            lambda: Committee(models).predict(text),
            lambda: cached[0].predict(text),
            lambda: Committee(cached).predict(text),
        ]
        one, together, cached_one, cached_together = alternate(ways, rounds)
    return CommitteeCost(
        ratio=together / one,
        cached_ratio=cached_together / cached_one,
        one_seconds=one,
        committee_seconds=together,
        cached_one_seconds=cached_one,
        cached_committee_seconds=cached_together,
        members=members,
        tokens=tokens,
        threads=threads,
    )


def described(cost: CommitteeCost) -> str:
    """The figures in words."""
    return (
        f"a committee of {cost.members} costs {cost.ratio:.2f} times one model "
        f"({cost.committee_seconds:.2f} s and {cost.one_seconds:.2f} s for {cost.tokens} tokens); "
        f"{cost.cached_ratio:.2f} times from cached states"
    )


def main(as_json: Json = False, rounds: Rounds = 5) -> None:
    """Time a committee of three against one model."""
    report(measure(rounds=rounds), described, as_json=as_json)


if __name__ == "__main__":
    run(main)

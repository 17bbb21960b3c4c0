"""What the ranker's form is worth: a training step and a prediction, against the plain way of doing the same.

    python benchmarks/model.py --json

All on one document of 2,000 tokens, in one run, alternating, so that a busy machine slows both sides alike.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch

from command import Bar, Json, Rounds, missed, report, run
from corefine.annotation.labels import Labels
from corefine.document import Document
from corefine.models.network.config import FULL, HeadConfig, ModelConfig
from corefine.models.network.encoders import make_encoder
from corefine.models.network.encoders.cache import CachedEncoder
from corefine.models.network.inputs import make_inputs
from corefine.models.network.model import Model
from corefine.models.network.ranker import SpanRanker
from corefine.models.training.loss import marginal_loss, targets_for
from corefine.models.training.recipe import load_recipe
from measuring import alternate, in_own_process, peak_megabytes
from naive import naive_ranking

TOKENS = 2_000
WIDTH = 384
PAPER = HeadConfig(
    pair_width=FULL, pair_depth=2, mention_depth=2, hidden=150, coarse_to_fine=False, string_match=False, surface=False
)
"""The paper's function: everything else is as in the paper by default."""

_SENTENCE = "The old woman told her son that he should leave the house before the stranger came back to it .".split()


@dataclass(frozen=True, slots=True)
class Figures:
    """Seconds and megabytes of each way, and the ratios that have a bar."""

    exact_step_speedup: float
    step_speedup: float
    step_memory_ratio: float
    cached_predict_speedup: float
    naive_step_seconds: float
    exact_step_seconds: float
    step_seconds: float
    naive_step_megabytes: float
    step_megabytes: float
    predict_seconds: float
    cached_predict_seconds: float
    tokens: int
    threads: int

    @property
    def failure(self) -> str | None:
        return missed(
            Bar("the paper's function, speed over the plain way", self.exact_step_speedup, "at least", 2.5),
            Bar("the default head, speed over the plain way", self.step_speedup, "at least", 8),
            Bar("the plain way's memory over ours", self.step_memory_ratio, "at least", 4),
            Bar("predict, speed with cached states", self.cached_predict_speedup, "at least", 8),
        )


def measure(rounds: int = 3) -> Figures:
    """All figures; about a minute."""
    steps = [_make_step(kind) for kind in ("naive", "exact", "default")]
    naive_time, exact_time, default_time = alternate(steps, rounds)
    megabytes = {kind: in_own_process(_step_megabytes, kind) for kind in ("naive", "default")}
    plain_time, cached_time = _predictions(rounds)
    return Figures(
        exact_step_speedup=naive_time / exact_time,
        step_speedup=naive_time / default_time,
        step_memory_ratio=megabytes["naive"] / megabytes["default"],
        cached_predict_speedup=plain_time / cached_time,
        naive_step_seconds=naive_time,
        exact_step_seconds=exact_time,
        step_seconds=default_time,
        naive_step_megabytes=megabytes["naive"],
        step_megabytes=megabytes["default"],
        predict_seconds=plain_time,
        cached_predict_seconds=cached_time,
        tokens=TOKENS,
        threads=torch.get_num_threads(),
    )


def described(figures: Figures) -> str:
    """The figures in words."""
    return "\n".join(
        [
            f"one document of {figures.tokens:,} tokens, {figures.threads} threads",
            f"training step, plain: {figures.naive_step_seconds:.2f} s, {figures.naive_step_megabytes:,.0f} MB",
            f"  the same function:  {figures.exact_step_seconds:.2f} s ({figures.exact_step_speedup:.1f}x faster)",
            f"  the default head:   {figures.step_seconds:.2f} s ({figures.step_speedup:.1f}x faster), "
            f"{figures.step_megabytes:,.0f} MB ({figures.step_memory_ratio:.1f}x less)",
            f"prediction:           {figures.predict_seconds:.2f} s",
            f"  with cached states: {figures.cached_predict_seconds:.2f} s "
            f"({figures.cached_predict_speedup:.1f}x faster)",
        ]
    )


def document(tokens: int = TOKENS) -> Document:
    """A text of one sentence again and again, with four entities."""
    sentences = [_SENTENCE] * (tokens // len(_SENTENCE))
    rest = tokens - len(sentences) * len(_SENTENCE)
    sentences += [_SENTENCE[:rest]] if rest else []
    starts = range(0, tokens - len(_SENTENCE), len(_SENTENCE))
    clusters = [[(start + first, start + last) for start in starts] for first, last in ((0, 2), (4, 5), (10, 11))]
    return Document.from_sentences("bench", sentences, clusters)


def _default() -> ModelConfig:
    return load_recipe("default").model


def _make_step(kind: str) -> Callable[[], None]:
    """A training step of one way: forward, loss and backward, with dropout as in training."""
    torch.manual_seed(0)
    doc = document()
    ranker = SpanRanker(ModelConfig(head=_default().head if kind == "default" else PAPER), WIDTH)
    inputs = make_inputs(doc, torch.randn(TOKENS, WIDTH))

    def step() -> None:
        ranking = naive_ranking(ranker, inputs) if kind == "naive" else ranker(inputs)
        ranker.zero_grad()
        marginal_loss(ranking, targets_for(ranking, Labels(doc))).backward()  # type: ignore[no-untyped-call]

    return step


def _step_megabytes(kind: str) -> float:
    step = _make_step(kind)
    before = peak_megabytes()
    step()
    return peak_megabytes() - before


def _predictions(rounds: int) -> tuple[float, float]:
    """Seconds of a prediction with the default model, without and with cached states."""
    config = _default()
    encoder = make_encoder(config.encoder)
    doc = document()
    with tempfile.TemporaryDirectory() as folder:
        plain = Model.create(config, encoder=encoder)
        cached = Model(config, CachedEncoder(encoder, folder), plain.ranker)
        plain_time, cached_time = alternate([partial(plain.predict, doc), partial(cached.predict, doc)], rounds)
    return plain_time, cached_time


def main(as_json: Json = False, rounds: Rounds = 3) -> None:
    """Time a training step and a prediction of the model, against the plain way of doing the same."""
    report(measure(rounds), described, as_json=as_json)


if __name__ == "__main__":
    run(main)

"""How fast scoring is: against the `scorch` package on LitBank, and as a document grows.

    python benchmarks/scores.py --json

Both sides get the same clusters, already in memory: LitBank's as the key, and a copy with the mistakes that systems
make as the response. Scorch computes MUC, B3, both CEAFs and BLANC; corefine those, and mention detection and LEA.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random
from statistics import median

from command import Bar, Corpora, Json, corpora_folder, missed, report, run
from corefine import Score, score
from corefine.document import Document, Span, normalise
from corefine.errors import InputError, MissingExtraError
from corefine.scores.ceaf import ceaf
from corefine.scores.metrics import b3, blanc_links, lea, mentions, muc
from corefine.scores.overlap import Overlap

SIZES = (500, 1_000, 2_000, 4_000, 160_000)
"""Mentions of the documents that show how time grows: n, 2n, 4n, 8n, and one longer than any novel.

The last does not fit a processor's near caches, which costs more than its length does; the others do.
"""


@dataclass(frozen=True, slots=True)
class Growth:
    """Milliseconds for one document of so many mentions: all scores but CEAF, and CEAF."""

    mentions: int
    linear_ms: float
    ceaf_ms: float


@dataclass(frozen=True, slots=True)
class ScoreTimes:
    """Milliseconds of processor time to score all of LitBank, medians of one run.

    speedup           scorch over ours
    largest_gap       between the F1 of the two, in percent points, over all documents and metrics: the same work
    linear_factor     how much longer 8n mentions take than n, without CEAF; 8 is linear, 64 quadratic
    """

    documents: int
    mentions: int
    ours_ms: float
    scorch_ms: float
    speedup: float
    largest_gap: float
    growth: tuple[Growth, ...]
    linear_factor: float

    @property
    def failure(self) -> str | None:
        return missed(
            Bar("speed over scorch's", self.speedup, "at least", 20),
            Bar("8n mentions over n", self.linear_factor, "below", 14),
        )


def measure(*, corpora: Path | None = None, rounds: int = 7, sizes: tuple[int, ...] = SIZES) -> ScoreTimes:
    """Time both, taking turns, so that a busy machine slows both. `sizes` are n, 2n, 4n, 8n and any more."""
    keys = litbank(corpora)
    responses = [mistaken(key, Random(number)) for number, key in enumerate(keys)]
    ours, scorch = _ours(keys, responses), _scorch(keys, responses)
    our_times, scorch_times = [], []
    for _ in range(rounds):
        our_times.append(_milliseconds(ours))
        scorch_times.append(_milliseconds(scorch))
    growth = tuple(_grown(size) for size in sizes)
    return ScoreTimes(
        documents=len(keys),
        mentions=sum(len(cluster) for key in keys for cluster in key.clusters),
        ours_ms=median(our_times),
        scorch_ms=median(scorch_times),
        speedup=median(scorch_times) / median(our_times),
        largest_gap=_largest_gap(keys, responses),
        growth=growth,
        linear_factor=growth[3].linear_ms / growth[0].linear_ms,
    )


def litbank(corpora: Path | None = None) -> list[Document]:
    """All of LitBank, from a folder of corpora."""
    folder = corpora_folder(corpora) or Path("corpora")
    path = folder / "litbank" / "litbank.jsonl.gz"
    if not path.is_file():
        raise InputError(f"{path} is not here; set COREFINE_CORPORA to the folder of corpora")
    from corefine.formats import read

    return list(read(path))


def mistaken(document: Document, random: Random) -> Document:
    """The document with mistakes: mentions missed, invented, cut short, put elsewhere; entities split in two."""
    clusters: list[set[Span]] = []
    for cluster in document.clusters:
        clusters.append(set())
        for span in cluster:
            if len(cluster) > 3 and random.random() < 0.02:
                clusters.append(set())
            clusters[-1].add(span)
    taken = set(document.mentions)
    for number, spans in enumerate([sorted(cluster) for cluster in clusters]):
        for span in spans:
            mistake = random.random()
            if mistake < 0.25:
                clusters[number].remove(span)
            if 0.10 <= mistake < 0.20:
                random.choice(clusters).add(span)
            elif 0.20 <= mistake < 0.25:
                shorter = Span(span.start, max(span.start, span.end - 1))
                clusters[number].add(shorter if shorter not in taken else span)
                taken.add(shorter)
    for _ in range(len(taken) // 10):
        start = random.randrange(len(document))
        invented = Span(start, min(start + random.randrange(4), len(document) - 1))
        if invented not in taken:
            taken.add(invented)
            random.choice(clusters).add(invented)
    return document.with_clusters(clusters)


def growing(size: int, seed: int = 0) -> Document:
    """A document of so many mentions: of the hero, of whoever was mentioned lately, or of somebody new.

    The hero's cluster grows with the document: a score that enumerates pairs of mentions would show.
    """
    random = Random(seed)
    entity = [0]
    for number in range(1, size):
        lately = entity[random.randrange(max(0, number - 50), number)]
        entity.append(random.choices([0, lately, number], weights=[2, 5, 3])[0])
    clusters: dict[int, list[Span]] = {}
    for number, label in enumerate(entity):
        clusters.setdefault(label, []).append(Span(3 * number, 3 * number + 1))
    return Document("growing", ("w",) * (3 * size), (0,), normalise(clusters.values()))


def _ours(keys: list[Document], responses: list[Document]) -> Callable[[], object]:
    return lambda: score(keys, responses)


def _scorch(keys: list[Document], responses: list[Document]) -> Callable[[], object]:
    pairs = [(_sets(key), _sets(response)) for key, response in zip(keys, responses, strict=True)]
    metrics = tuple(_references().values())
    return lambda: [[metric(key, response) for metric in metrics] for key, response in pairs]


def _references() -> dict[str, Callable[[list[set[Span]], list[set[Span]]], tuple[float, float, float]]]:
    """The functions of scorch, by our names for them."""
    try:
        scorch = import_module("scorch.scores")
    except ImportError as error:
        raise MissingExtraError("scorch", "dev") from error
    return {
        "muc": scorch.muc,
        "b3": scorch.b_cubed,
        "ceafm": scorch.ceaf_m,
        "ceafe": scorch.ceaf_e,
        "blanc": scorch.blanc,
    }


def _sets(document: Document) -> list[set[Span]]:
    return [set(cluster) for cluster in document.clusters]


def _largest_gap(keys: list[Document], responses: list[Document]) -> float:
    gaps: list[float] = []
    for key, response in zip(keys, responses, strict=True):
        scores = score(key, response)
        for name, reference in _references().items():
            ours: Score = getattr(scores, name)
            gaps.append(abs(ours.f1 - 100 * reference(_sets(key), _sets(response))[2]))
    return max(gaps)


def _grown(size: int) -> Growth:
    key = growing(size)
    response = mistaken(key, Random(size))

    def linear() -> None:
        overlap = Overlap.of(key.clusters, response.clusters)
        for metric in (mentions, muc, b3, lea, blanc_links):
            metric(overlap)

    overlap = Overlap.of(key.clusters, response.clusters)
    repeats = max(3, 100_000 // size)
    return Growth(
        size,
        min(_milliseconds(linear) for _ in range(repeats)),
        min(_milliseconds(lambda: ceaf(overlap)) for _ in range(repeats)),
    )


def _milliseconds(work: Callable[[], object]) -> float:
    """Of the processor's time, so that what else runs here matters less; nothing timed here waits or has threads."""
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start)


def described(times: ScoreTimes) -> str:
    """The result for people."""
    lines = [
        f"LitBank, {times.documents} documents, {times.mentions} mentions:",
        f"  corefine {times.ours_ms:.1f} ms, scorch {times.scorch_ms:.0f} ms: {times.speedup:.1f} times as fast",
        f"  largest difference in F1: {times.largest_gap:.1e}",
        "one document of n mentions (without CEAF; CEAF):",
        *(f"  {each.mentions:6} {each.linear_ms:8.1f} ms {each.ceaf_ms:8.1f} ms" for each in times.growth),
        f"  without CEAF, 8 times the mentions take {times.linear_factor:.1f} times as long",
    ]
    return "\n".join(lines)


def main(as_json: Json = False, corpora: Corpora = None) -> None:
    """Time the scores against scorch on LitBank, and how they grow with the document."""
    report(measure(corpora=corpora), described, as_json=as_json)


if __name__ == "__main__":
    run(main)

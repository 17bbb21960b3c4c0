"""Long documents: seconds and memory to predict one, as it grows to 200,000 tokens.

    python benchmarks/long.py --json

The model is the one that ships. Each size runs in a process of its own, encoder and decoding included, so its memory is
all there is.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from command import Bar, Json, missed, report, run
from measuring import in_own_process, peak_megabytes

SIZES = (12_500, 50_000, 200_000)


@dataclass(frozen=True, slots=True)
class Point:
    """One document: how long it took, by the clock and of the processor, and the most memory the process held."""

    tokens: int
    seconds: float
    cpu_seconds: float
    megabytes: float
    entities: int


@dataclass(frozen=True, slots=True)
class LongDocuments:
    """`growth` is what a token of the last size costs against one of the first, in processor time, which a busy machine
    does not change much: 1 is linear, 16 is quadratic."""

    largest_megabytes: float
    growth: float
    points: tuple[Point, ...]

    @property
    def failure(self) -> str | None:
        return missed(
            Bar("memory, MB", self.largest_megabytes, "below", 2048),
            Bar("a token of the longest over one of the shortest", self.growth, "below", 1.5),
        )


def measure(sizes: tuple[int, ...] = SIZES) -> LongDocuments:
    """Predict documents of these sizes with the model that ships."""
    points = tuple(in_own_process(_predict, size) for size in sizes)
    first, last = points[0], points[-1]
    return LongDocuments(
        largest_megabytes=max(point.megabytes for point in points),
        growth=(last.cpu_seconds / last.tokens) / (first.cpu_seconds / first.tokens),
        points=points,
    )


def _predict(tokens: int) -> Point:
    from corefine.models.devices import use_threads
    from corefine.models.load import load
    from model import document

    use_threads()
    resolver = load()
    resolver.predict(document(500))  # whatever is done once, is done
    text = document(tokens)
    began, cpu = time.perf_counter(), time.process_time()
    result = resolver.predict(text)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    return Point(tokens, seconds, cpu_seconds, peak_megabytes(), len(result.clusters))


def described(found: LongDocuments) -> str:
    """The figures in words."""
    lines = [
        f"{point.tokens:7,} tokens {point.seconds:8.1f} s ({point.cpu_seconds:.1f} s of processor) "
        f"{point.megabytes:7.0f} MB"
        for point in found.points
    ]
    return "\n".join([*lines, f"a token of the longest costs {found.growth:.2f} times one of the shortest"])


def main(as_json: Json = False) -> None:
    """Predict documents of up to 200,000 tokens: seconds and memory."""
    report(measure(), described, as_json=as_json)


if __name__ == "__main__":
    run(main)

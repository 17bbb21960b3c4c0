"""Microseconds to take one more link: ours, the paper's Algorithm 1, and the closure from scratch.

All three are given the same links, one at a time, of a random annotation (see `annotation`) of a document with as many
mentions as links, and the last 100 are timed, in time of the processor; of several replays the least disturbed counts.
First appearances are among the links: where the mention itself is the first, the two others have to exclude every
earlier mention as a pair of its own. The paper has no such links; `paper_links` times the same annotation without them.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random

from corefine.links import Assertion, Links
from corefine.links.reference import Algorithm1, FromScratch, PairClosure
from corefine.reproduction.random_annotation import Annotation, annotation

LAST = 100
"""How many links are timed, at the end of an annotation."""

CLOSURE_SIZES = (100, 200, 400, 800, 1_600)
"""Links at which the three are compared in a figure."""
SCRATCH_TIMED = 2
"""Links that are timed from scratch for it; each takes a second or more at 1,600."""


def closure_times(sizes: Iterable[int] = CLOSURE_SIZES) -> dict[str, list[tuple[int, float]]]:
    """Milliseconds to take one more link at each size: ours, the paper's Algorithm 1, from scratch."""
    times: dict[str, list[tuple[int, float]]] = {"ours": [], "Algorithm 1": [], "from scratch": []}
    for size in sizes:
        made = made_of(size, 0)
        times["ours"].append((size, ours_us(made, replays=3) / 1000))
        times["Algorithm 1"].append((size, algorithm1_us(made, replays=1) / 1000))
        times["from scratch"].append((size, scratch_us(made, SCRATCH_TIMED) / 1000))
    return times


def made_of(links: int, seed: int) -> Annotation:
    """An annotation of so many links, of a document of as many mentions."""
    return annotation(mentions=links, links=links, seed=seed)


def ours_us(made: Annotation, *, replays: int = 9) -> float:
    """Microseconds for one of the last links: ours."""

    def replay() -> float:
        links = Links()
        return _timed_last(made, lambda number, link: partial(links.add, number, link))

    return min(replay() for _ in range(replays))


def algorithm1_us(made: Annotation, *, replays: int = 5) -> float:
    """Likewise: the paper's Algorithm 1."""

    def replay() -> float:
        closure = Algorithm1(made.mentions)
        us = _timed_last(made, lambda _, link: partial(closure.take, link))
        _compare(closure, made)
        return us

    return min(replay() for _ in range(replays))


def scratch_us(made: Annotation, timed: int) -> float:
    """Likewise from scratch; only so many of the last links are timed, the others are closed over with the next."""
    closure = FromScratch(made.mentions)
    start = len(made.links) - min(LAST, len(made.links))
    step = max(1, (len(made.links) - start) // timed)
    chosen = set(range(len(made.links) - 1, start - 1, -step)[:timed])
    spent = 0.0
    with _no_garbage_collection():
        for number, link in enumerate(made.links):
            if number in chosen:
                spent += _timed([partial(closure.take, link)])
            else:
                closure.note(link)
    _compare(closure, made)
    return spent / len(chosen)


Call = Callable[[], object]


def _timed_last(made: Annotation, call_for: Callable[[int, Assertion], Call]) -> float:
    """Take all links; microseconds of the mean of the last, whose calls are made when the others have been taken."""
    numbered = list(enumerate(made.links))
    with _no_garbage_collection():
        for number, link in numbered[:-LAST]:
            call_for(number, link)()
        last = [call_for(number, link) for number, link in numbered[-LAST:]]
        return _timed(last) / len(last)


def _timed(calls: Iterable[Call]) -> float:
    """Microseconds of the processor's time for all calls, so that what else runs here matters less."""
    start = time.process_time_ns()
    for call in calls:
        call()
    return (time.process_time_ns() - start) / 1000


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """As `timeit` does: a collection would be charged to whichever link it falls on."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _compare(closure: PairClosure, made: Annotation, pairs: int = 2_000) -> None:
    """Raise if ours and the other did not come to the same."""
    links = Links()
    for number, link in enumerate(made.links):
        links.add(number, link)
    random = Random(0)
    for _ in range(pairs):
        a, b = random.choice(made.mentions), random.choice(made.mentions)
        if links.relation(a, b) is not closure.relation(a, b):
            raise RuntimeError(f"{type(closure).__name__} and ours differ on {a} and {b}")

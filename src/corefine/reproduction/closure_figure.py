"""The paper's figure of closure times, drawn anew: time for one more link against the number of links."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from corefine.reproduction.closure_timing import algorithm1_us, made_of, ours_us, scratch_us
from corefine.reproduction.drawing import SETTINGS, need_plot
from corefine.reproduction.random_annotation import Annotation

Curves = dict[str, list[tuple[int, float]]]
"""For each closure, links and microseconds for one more."""

OURS = "corefine"

SIZES = (100, 200, 400, 800, 1_600, 3_200, 10_000, 32_000, 100_000)
"""Links at which to measure; the two others stop where a point would take minutes or gigabytes."""

METHODS: dict[str, tuple[int, Callable[[Annotation], float]]] = {
    "from scratch": (1_600, lambda made: scratch_us(made, 3)),
    "Algorithm 1 of the paper": (3_200, lambda made: algorithm1_us(made, replays=1)),
    OURS: (100_000, lambda made: ours_us(made, replays=5)),
}
"""How far each is taken, and how it is timed."""

LOOKS = {
    "from scratch": ("^", ":", "#4d4d4d"),
    "Algorithm 1 of the paper": ("s", "--", "#b3331d"),
    OURS: ("o", "-", "#1b3a6b"),
}
"""Marker, dashes and colour: told apart without colour too."""


def measured(seed: int, sizes: Iterable[int] = SIZES) -> Curves:
    """Time each closure at each size it is taken to."""
    curves: Curves = {name: [] for name in METHODS}
    for size in sizes:
        made = made_of(size, seed)
        for name, (most, timed) in METHODS.items():
            if size <= most:
                curves[name].append((len(made.links), timed(made)))
    return curves


def draw(curves: Curves, path: Path) -> None:
    """Draw the curves to a file; its name says in which format."""
    need_plot()
    import matplotlib as mpl

    mpl.use("Agg")
    with mpl.rc_context(SETTINGS):
        from matplotlib import pyplot as plt

        figure, axes = plt.subplots(figsize=(7.2, 4.6))
        for name, points in curves.items():
            marker, dashes, shade = LOOKS[name]
            links, us = zip(*points, strict=True)
            axes.plot(links, us, marker=marker, linestyle=dashes, color=shade)
            axes.annotate(
                name,
                (links[-1], us[-1]),
                xytext=(0, 10) if name == OURS else (12, -5),
                textcoords="offset points",
                ha="right" if name == OURS else "left",
                color=shade,
            )
        axes.set(xscale="log", yscale="log", xlabel="links", ylabel="microseconds for one more link")
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=160, metadata=metadata)
        plt.close(figure)

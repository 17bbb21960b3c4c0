"""Microseconds to take one more link: ours, the paper's Algorithm 1, and the closure from scratch.

    python benchmarks/links.py --json
    python benchmarks/links.py --curve docs/figures/closure.svg

All three take the same links of a random annotation, one at a time. The document has as many mentions as links. The
last 100 links are timed; see `corefine.reproduction.closure_timing`. Some links are first appearances. Where the
mention itself is the first one, the two others must exclude every earlier mention as a pair of its own. The paper has
no such links: `paper_links` times the same annotation without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from command import Bar, Json, Seed, missed, report, run
from corefine.cli.output import tracked
from corefine.links import First
from corefine.reproduction.closure_timing import LAST, RandomLinks, algorithm1_us, ours_us, random_links, scratch_us
from corefine.reproduction.drawing import SETTINGS, need_plot

SIZES = (100, 1_000, 10_000, 100_000)
"""Links after which ours should cost the same."""

CURVE_SIZES = (100, 200, 400, 800, 1_600, 3_200, 10_000, 32_000, 100_000)
"""Links at which the curve has points; the two others stop where a point would take minutes or gigabytes."""

OURS = "corefine"

METHODS: dict[str, tuple[int, Callable[[RandomLinks], float]]] = {
    "from scratch": (1_600, lambda made: scratch_us(made, 3)),
    "Algorithm 1 of the paper": (3_200, lambda made: algorithm1_us(made, replays=1)),
    OURS: (100_000, lambda made: ours_us(made, replays=5)),
}
"""Most links of each method in the curve, and how it is timed."""

LOOKS = {
    "from scratch": ("^", ":", "#4d4d4d"),
    "Algorithm 1 of the paper": ("s", "--", "#b3331d"),
    OURS: ("o", "-", "#1b3a6b"),
}
"""Marker, dashes and colour: lines differ without colour too."""

Curves = dict[str, list[tuple[int, float]]]
"""For each method, links and microseconds for one more."""


@dataclass(frozen=True, slots=True)
class PaperLinks:
    """The same without the links that the paper does not have."""

    links: int
    ours_us: float
    algorithm1_us: float
    vs_algorithm1: float


@dataclass(frozen=True, slots=True)
class LinkTimes:
    """Microseconds for each of the last 100 links.

    vs_algorithm1    Algorithm 1 over ours
    vs_scratch       from scratch over ours
    scratch_timed    how many of the last links were timed from scratch, evenly spread, as each takes so long
    flat             ours at the end of annotations of so many links
    """

    links: int
    mentions: int
    seed: int
    ours_us: float
    algorithm1_us: float
    scratch_us: float
    vs_algorithm1: float
    vs_scratch: float
    scratch_timed: int
    flat: dict[int, float]
    paper_links: PaperLinks

    @property
    def failure(self) -> str | None:
        """The bars are for annotations of 1,600 links. What grows with the links is the way to memory, not the work."""
        if self.links < 1_600:
            return None
        return missed(
            Bar("Algorithm 1 over ours", self.vs_algorithm1, "at least", 50),
            Bar("from scratch over ours", self.vs_scratch, "at least", 2_000),
            Bar("most over fewest links", max(self.flat.values()) / min(self.flat.values()), "below", 5),
        )


def measure(*, links: int = 1_600, seed: int = 0, scratch_timed: int = 5, sizes: Iterable[int] = SIZES) -> LinkTimes:
    """Time all three on one annotation, make sure that they agree, and time ours on annotations of other sizes."""
    made = random_links(links, seed=seed)
    ours = ours_us(made)
    algorithm1 = algorithm1_us(made)
    scratch = scratch_us(made, scratch_timed)
    return LinkTimes(
        links=len(made.links),
        mentions=len(made.mentions),
        seed=seed,
        ours_us=ours,
        algorithm1_us=algorithm1,
        scratch_us=scratch,
        vs_algorithm1=algorithm1 / ours,
        vs_scratch=scratch / ours,
        scratch_timed=scratch_timed,
        flat={size: ours_us(random_links(size, seed=seed)) for size in sizes},
        paper_links=_paper_links(made),
    )


def _paper_links(made: RandomLinks) -> PaperLinks:
    links = tuple(link for link in made.links if not (isinstance(link, First) and link.first == link.mention))
    made = RandomLinks(made.mentions, links)
    ours, algorithm1 = ours_us(made), algorithm1_us(made)
    return PaperLinks(len(links), ours, algorithm1, algorithm1 / ours)


def described(times: LinkTimes) -> str:
    """The figures in words."""
    paper = times.paper_links
    return "\n".join(
        [
            f"one of the last {LAST} of {times.links:,} links, in a document of {times.mentions:,} mentions:",
            f"  ours          {times.ours_us:12,.1f} us",
            f"  Algorithm 1   {times.algorithm1_us:12,.1f} us   {times.vs_algorithm1:10,.0f} times ours",
            f"  from scratch  {times.scratch_us:12,.1f} us   {times.vs_scratch:10,.0f} times ours "
            f"({times.scratch_timed} of them timed)",
            f"without first appearances of the mention itself, which the paper does not link ({paper.links:,} links):",
            f"  ours          {paper.ours_us:12,.1f} us",
            f"  Algorithm 1   {paper.algorithm1_us:12,.1f} us   {paper.vs_algorithm1:10,.0f} times ours",
            "ours as links grow:",
            *(f"  {size:9,} links {us:7,.1f} us" for size, us in times.flat.items()),
        ]
    )


def measure_curves(seed: int, sizes: Iterable[int] = CURVE_SIZES) -> Curves:
    """Time each method at every size up to its most."""
    curves: Curves = {name: [] for name in METHODS}
    for size in sizes:
        made = random_links(size, seed=seed)
        for name, (most, timed) in METHODS.items():
            if size <= most:
                curves[name].append((len(made.links), timed(made)))
    return curves


def draw(curves: Curves, path: Path) -> None:
    """Draw the paper's figure of closure times anew; the file's name says in which format."""
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


def main(
    as_json: Json = False,
    curve: Annotated[
        Path | None, typer.Option(help="Also draw time against links to this file (.svg, .png or .pdf).")
    ] = None,
    links: Annotated[int, typer.Option(min=1, help="Links of the annotation that is replayed.")] = 1_600,
    seed: Seed = 0,
) -> None:
    """Time one more link: ours, the paper's Algorithm 1, and the closure from scratch."""
    if curve is not None:
        draw(measure_curves(seed, tracked(CURVE_SIZES, "drawing")), curve)
    report(measure(links=links, seed=seed, sizes=tracked(SIZES, "timing")), described, as_json=as_json)


if __name__ == "__main__":
    run(main)

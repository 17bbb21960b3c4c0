"""How figures look: fit for print, in black and white too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corefine.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")


@dataclass(frozen=True, slots=True)
class Style:
    """How a kind of run is drawn. Markers and dashes differ, so that no line needs its colour to be recognised."""

    label: str
    marker: str
    dashes: str | tuple[int, tuple[int, ...]]
    shade: str


STYLES = {
    "discrete": Style("discrete, entropy", "o", "-", "#1b3a6b"),
    "ours": Style("ours", "d", "-", "#c77700"),
    "app": Style("ours, with the app's questions", "H", (0, (4, 2)), "#00798c"),
    "fitted": Style("discrete, entropy, with our threshold", "p", (0, (3, 1, 1, 1)), "#5b86c4"),
    "pairwise": Style("pairwise, entropy", "s", "--", "#b3331d"),
    "random": Style("discrete, random", "^", ":", "#4d4d4d"),
    "committee": Style("discrete, committee", "D", "-.", "#2e7d32"),
    "lcc-mcu": Style("discrete, LCC/MCU", "v", (0, (5, 1, 1, 1, 1, 1)), "#7b4aa0"),
    "full": Style("fully labelled, random", "P", (0, (1, 3)), "#8c6d1f"),
    "follow-up": Style("follow-up alone", "X", "--", "#777777"),
    "answered": Style("what was answered, alone", "*", "-.", "#2e7d32"),
    "mix": Style("what was answered, the rest at less weight", "h", (0, (5, 1, 1, 1, 1, 1)), "#7b4aa0"),
    "certain": Style("all, weighted by certainty", "<", ":", "#4d4d4d"),
}
SPARE = ">1234"

SETTINGS: dict[Any, Any] = {
    "font.size": 13,
    "axes.titlesize": 13,
    "axes.labelsize": 13,
    "legend.fontsize": 11,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "lines.linewidth": 1.8,
    "lines.markersize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "svg.hashsalt": "corefine",  # the same figure gives the same file
    "svg.fonttype": "none",
    "savefig.bbox": "tight",
}


def need_plot() -> None:
    """Raise unless the extra "plot" is installed."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot")


def style_of(kind: str) -> Style:
    if kind in STYLES:
        return STYLES[kind]
    place = sum(map(ord, kind))
    return Style(kind, SPARE[place % len(SPARE)], "-", "#555555")


def save(figure: Figure, folder: Path, name: str) -> None:
    """Save a figure as PNG, SVG and PDF; the same figure gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in FORMATS:
        dates = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}[kind]
        figure.savefig(folder / f"{name}.{kind}", format=kind, dpi=160, metadata=dates)
    from matplotlib import pyplot as plt

    plt.close(figure)


def new_axes(title: str = "", *, size: tuple[float, float] = (7.2, 4.6)) -> tuple[Figure, Axes]:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=size)
    axes.set_title(title)
    return figure, axes


def draw_line(
    axes: Axes,
    kind: str,
    x: Sequence[float],
    y: Sequence[float],
    spread: Sequence[float] | None = None,
    label: str | None = None,
) -> None:
    style = style_of(kind)
    draw: Callable[..., object] = axes.plot
    if spread is not None and any(spread):
        draw = partial(axes.errorbar, yerr=spread, capsize=3)
    draw(x, y, label=label or style.label, marker=style.marker, linestyle=style.dashes, color=style.shade)


def legend_below(axes: Axes, *, columns: int = 2) -> None:
    """A legend under the axes, in the order of STYLES."""
    handles, labels = axes.get_legend_handles_labels()
    drawn = {label: handle for handle, label in zip(handles, labels, strict=True)}
    styled = [style.label for style in STYLES.values()]
    names = sorted(drawn, key=[*styled, *labels].index)
    axes.legend(
        [drawn[name] for name in names],
        names,
        frameon=False,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.15),
        ncols=columns,
    )

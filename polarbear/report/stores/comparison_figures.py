"""Figures of several stores, a panel for each algorithm, a colour for each store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.errors import ReportError
from polarbear.report.figures.base import Figure
from polarbear.report.figures.plotting import (
    Line,
    draw_estimate,
    name_lines,
    number_ticks,
    panel_grid,
)
from polarbear.report.figures.short_names import labels, plain
from polarbear.report.figures.style import Style
from polarbear.report.stores.differences import Compared
from polarbear.settings.options import unknown
from polarbear.wording import tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

SMALLEST = 0.1  # how far an axis of differences reaches at least


def _draw_duels(canvas: Canvas, data: pl.DataFrame, found: Compared, style: Style) -> None:
    names = [side.name for side in found.sides]
    for axes, own in _panels(canvas, data, found, style):
        axes.axhline(0.5, color=style.inks.faint, linewidth=0.6)
        for place, name in enumerate(names):
            _draw_store(axes, own, name, "mean", place, style)
        axes.set_ylim(0, 1)
        number_ticks(axes.yaxis, style)
    _finish(canvas, found, names, 0, "share of duels won", style)


def _draw_differences(canvas: Canvas, data: pl.DataFrame, found: Compared, style: Style) -> None:
    data = data.drop_nulls("at")
    shown = data.filter(pl.col("against").is_null())
    reach = max(SMALLEST, float(np.abs(shown.select("low", "high").to_numpy()).max()))
    others = [side.name for side in found.sides[1:]]
    for axes, own in _panels(canvas, data, found, style):
        axes.axhline(0, color=style.inks.ink, linewidth=0.7)
        for place, name in enumerate(others, start=1):
            _draw_store(axes, own, name, "difference", place, style)
        axes.set_ylim(-1.05 * reach, 1.05 * reach)
        number_ticks(axes.yaxis, style)
    first = found.sides[0].name
    _finish(canvas, found, others, 1, f"share of duels won, minus that in {first}", style)


def _panels(
    canvas: Canvas, data: pl.DataFrame, found: Compared, style: Style
) -> list[tuple[Axes, pl.DataFrame]]:
    """A panel an algorithm, all with the same axes, and what is to be drawn in it."""
    columns = min(len(found.algorithms), 2 if style.width < 5 else 4 if style.width > 9 else 3)
    height = 0.72 * style.width / columns + 2 * style.line
    panels = panel_grid(canvas, len(found.algorithms), columns, height, style, 0.35, share=True)
    short = style.names(labels(found.algorithms), found.algorithms, 0.8 / columns)
    made = []
    for axes, name in zip(panels, found.algorithms, strict=True):
        axes.set_title(short[name], fontsize=style.font_size, pad=3)
        axes.grid(axis="y")
        own = data.filter(pl.col("algorithm") == name, pl.col("against").is_null())
        made.append((axes, own))
    below = {place % columns: place for place in range(len(found.algorithms))}
    for place in below.values():  # the lowest panel of each column has the time axis
        panels[place].tick_params(labelbottom=True)
        panels[place].set_xlabel(plain(found.moments.label))
    return made


def _draw_store(
    axes: Axes, data: pl.DataFrame, name: str, middle: str, place: int, style: Style
) -> None:
    rows = data.filter(pl.col("store") == name).with_columns(t="at")
    shift = 0.06 * place * float(rows["t"][0])  # so that no bar covers another at a single time
    draw_estimate(axes, rows, style.look(place), middle, shift=shift)


def _finish(
    canvas: Canvas, found: Compared, names: list[str], start: int, label: str, style: Style
) -> None:
    """Time on all panels, words on the outside, and which colour is which store."""
    moments = found.moments
    is_log = moments.is_log if style.log_time is None else style.log_time
    for axes in canvas.axes:
        if is_log:
            axes.set_xscale("log")
        if len(moments.at) > 1:
            axes.set_xlim(float(moments.at[0]), float(moments.at[-1]))
            number_ticks(axes.xaxis, style)
        else:
            only = float(moments.at[0])
            axes.set_xlim(0.7 * only, 1.7 * only)
            axes.set_xticks([only], [tick(only)])
            axes.set_xticks([], minor=True)
    canvas.supylabel(plain(label), fontsize=style.font_size)
    short = style.names(labels(names), names, 0.4)
    lines = [Line(short[name], style.look(place)) for place, name in enumerate(names, start=start)]
    name_lines(canvas, lines, style, below=True)


def _lacks_duels(found: Compared) -> str | None:
    return "the stores share one algorithm only" if len(found.algorithms) == 1 else None


def _caption_duels(found: Compared) -> str:
    return (
        "A panel for each algorithm, a colour for each store: the share of its duels with the "
        f"other algorithms shown that it wins, {found.moments.words()}; posterior mean and central "
        "95 % interval."
    )


def _caption_differences(found: Compared) -> str:
    return (
        f"The same, minus what it is in {found.sides[0].name}: above zero, the algorithm wins more "
        "of its duels there. Mean and central 95 % interval, from the draws of both posteriors."
    )


FIGURES_OF_STORES = {
    figure.name: figure
    for figure in (
        Figure(
            "duels",
            "Share of duels won",
            _caption_duels,
            _lacks_duels,
            lambda found: found.levels,
            _draw_duels,
        ),
        Figure(
            "differences",
            "What differs",
            _caption_differences,
            _lacks_duels,
            lambda found: found.differences,
            _draw_differences,
        ),
    )
}


def chosen(found: Compared, only: Sequence[str] | None = None) -> list[Figure[Compared]]:
    """The requested figures, or all that have data."""
    for name in only or ():
        if name not in FIGURES_OF_STORES:
            raise ReportError(unknown("figure of several stores", name, FIGURES_OF_STORES))
        if reason := FIGURES_OF_STORES[name].missing(found):
            raise ReportError(f"there is no figure '{name}' for these stores: {reason}")
    return [
        figure
        for name, figure in FIGURES_OF_STORES.items()
        if (name in only if only else figure.missing(found) is None)
    ]

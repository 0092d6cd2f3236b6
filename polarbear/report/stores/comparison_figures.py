"""Figures of several stores, a panel for each algorithm, a colour for each store."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
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
from polarbear.report.stores.sides import Moments
from polarbear.settings.options import unknown
from polarbear.wording import tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

SMALLEST = 0.1  # how far an axis of differences reaches at least


def _draw_duels(canvas: Canvas, data: pl.DataFrame, found: Compared, style: Style) -> None:
    _draw(canvas, data, found, style, "mean", (0.0, 1.0), 0.5, "share of duels won")


def _draw_differences(canvas: Canvas, data: pl.DataFrame, found: Compared, style: Style) -> None:
    data = data.filter(pl.col("at").is_not_null(), pl.col("against").is_null())
    reach = 1.05 * max(SMALLEST, float(np.abs(data.select("low", "high").to_numpy()).max()))
    label = f"share of duels won, minus that in {found.sides[0].name}"
    _draw(canvas, data, found, style, "difference", (-reach, reach), 0.0, label)


def _draw(
    canvas: Canvas,
    data: pl.DataFrame,
    found: Compared,
    style: Style,
    middle: str,
    limits: tuple[float, float],
    level: float,
    label: str,
) -> None:
    """A panel for each algorithm, all with the same axes; a line at ``level``, a colour a store."""
    names, moments = found.algorithms, found.moments
    drawn = {s.name: i for i, s in enumerate(found.sides) if s.name in data["store"].unique()}
    columns = min(len(names), 2 if style.width < 5 else 4 if style.width > 9 else 3)
    height = 0.72 * style.width / columns + 2 * style.line
    panels = panel_grid(canvas, len(names), columns, height, style, 0.35, share=True)
    short = style.names(labels(names), names, 0.8 / columns)
    for place, (axes, name) in enumerate(zip(panels, names, strict=True)):
        axes.set_title(short[name], fontsize=style.font_size, pad=3)
        axes.grid(axis="y")
        axes.axhline(level, color=style.inks.faint, linewidth=0.6)
        own = data.filter(pl.col("algorithm") == name, pl.col("against").is_null())
        for store, number in drawn.items():
            rows = own.filter(pl.col("store") == store).with_columns(t="at")
            shift = 0.06 * number * float(rows["t"][0])  # no bar covers another at a single time
            draw_estimate(axes, rows, style.look(number), middle, shift=shift)
        axes.set_ylim(*limits)
        number_ticks(axes.yaxis, style)
        _time_axis(axes, moments, style)
        if place + columns >= len(names):  # the lowest panel of its column
            axes.tick_params(labelbottom=True)
            axes.set_xlabel(plain(moments.label))
    canvas.supylabel(plain(label), fontsize=style.font_size)
    stores = style.names(labels(list(drawn)), list(drawn), 0.4)
    lines = [Line(stores[store], style.look(number)) for store, number in drawn.items()]
    name_lines(canvas, lines, style, below=True)


def _time_axis(axes: Axes, moments: Moments, style: Style) -> None:
    is_log = moments.is_log if style.log_time is None else style.log_time
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


DUELS = Figure(
    "duels", "Share of duels won", _caption_duels, _lacks_duels, attrgetter("levels"), _draw_duels
)
DIFFERENCES = Figure(
    "differences",
    "What differs",
    _caption_differences,
    _lacks_duels,
    attrgetter("differences"),
    _draw_differences,
)
FIGURES_OF_STORES = {figure.name: figure for figure in (DUELS, DIFFERENCES)}


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

"""Figures of several stores, a panel for each algorithm, a colour for each store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.errors import ReportError
from polarbear.report.figures.base import Figure
from polarbear.report.figures.sheet import Line, Sheet, draw_estimate
from polarbear.report.figures.short_names import labels, on_one_line
from polarbear.report.figures.style import Style
from polarbear.report.stores.differences import Compared
from polarbear.settings.options import unknown

if TYPE_CHECKING:
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
    sheet = Sheet(canvas, style, labels(names), moments.at, moments.is_log, moments.label)
    panels = sheet.panels(len(names), columns, height, 0.35, share=True)
    short = sheet.names(names, 0.8 / columns)
    for axes, name in zip(panels, names, strict=True):
        axes.set_title(short[name], fontsize=style.font_size, pad=3)
        axes.grid(axis="y")
        axes.axhline(level, color=style.inks.faint, linewidth=0.6)
        own = data.filter(pl.col("algorithm") == name, pl.col("against").is_null())
        for store, number in drawn.items():
            rows = own.filter(pl.col("store") == store).with_columns(t="at")
            shift = sheet.shift(number, len(found.sides))
            draw_estimate(axes, rows, style.look(number), store, middle, shift=shift)
        axes.set_ylim(*limits)
        sheet.number_ticks(axes.yaxis)
    sheet.time_axes(panels, columns)
    canvas.supylabel(on_one_line(label), fontsize=style.font_size)
    stores = replace(sheet, labels=labels(list(drawn))).names(list(drawn), 0.4)
    lines = [Line(stores[store], style.look(number)) for store, number in drawn.items()]
    sheet.name_lines(lines, below=True)


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

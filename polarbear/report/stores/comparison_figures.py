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
from polarbear.report.stores.differences import StoreComparison
from polarbear.settings.options import unknown

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

SMALLEST_REACH = 0.1  # the axis of differences shows at least -0.1 to 0.1
NARROW = 5  # inches; such figures have two panels side by side
WIDE = 9  # inches; such figures have four


def _draw_duels(
    canvas: Canvas, data: pl.DataFrame, comparison: StoreComparison, style: Style
) -> None:
    _draw(canvas, data, comparison, style, "mean", (0.0, 1.0), 0.5, "share of duels won")


def _draw_differences(
    canvas: Canvas, data: pl.DataFrame, comparison: StoreComparison, style: Style
) -> None:
    data = data.filter(pl.col("at").is_not_null(), pl.col("against").is_null())
    largest = float(np.abs(data.select("low", "high").to_numpy()).max())
    reach = 1.05 * max(SMALLEST_REACH, largest)
    label = f"share of duels won, minus that in {comparison.sides[0].name}"
    _draw(canvas, data, comparison, style, "difference", (-reach, reach), 0.0, label)


def _panel_columns(style: Style, n_panels: int) -> int:
    if style.width < NARROW:
        most = 2
    elif style.width > WIDE:
        most = 4
    else:
        most = 3
    return min(n_panels, most)


def _draw(
    canvas: Canvas,
    data: pl.DataFrame,
    comparison: StoreComparison,
    style: Style,
    middle: str,
    limits: tuple[float, float],
    level: float,
    label: str,
) -> None:
    """Draw a panel for each algorithm, with a line at ``level`` and a colour for each store."""
    names = comparison.algorithms
    moments = comparison.moments
    sides = comparison.sides
    stores_with_data = set(data["store"].unique())
    drawn = {side.name: i for i, side in enumerate(sides) if side.name in stores_with_data}
    columns = _panel_columns(style, len(names))
    height = 0.72 * style.width / columns + 2 * style.line
    sheet = Sheet(canvas, style, labels(names), moments.at, moments.is_log, moments.label)
    panels = sheet.panels(len(names), columns, height, 0.35, share=True)
    short = sheet.names(names, 0.8 / columns)
    for axes, name in zip(panels, names, strict=True):
        axes.set_title(short[name], fontsize=style.font_size, pad=3)
        axes.grid(axis="y")
        axes.axhline(level, color=style.inks.faint, linewidth=0.6)
        of_algorithm = data.filter(pl.col("algorithm") == name, pl.col("against").is_null())
        for store, number in drawn.items():
            rows = of_algorithm.filter(pl.col("store") == store).with_columns(t="at")
            shift = sheet.shift(number, len(sides))
            draw_estimate(axes, rows, style.look(number), store, middle, shift=shift)
        axes.set_ylim(*limits)
        sheet.number_ticks(axes.yaxis)
    sheet.time_axes(panels, columns)
    canvas.supylabel(on_one_line(label), fontsize=style.font_size)
    stores = replace(sheet, labels=labels(list(drawn))).names(list(drawn), 0.4)
    lines = [Line(stores[store], style.look(number)) for store, number in drawn.items()]
    sheet.name_lines(lines, below=True)


def _lacks_duels(comparison: StoreComparison) -> str | None:
    return "the stores share one algorithm only" if len(comparison.algorithms) == 1 else None


def _caption_duels(comparison: StoreComparison) -> str:
    return (
        "A panel for each algorithm, a colour for each store: the share of its duels with the "
        f"other algorithms shown that it wins, {comparison.moments.words()}; posterior mean and "
        "central 95 % interval."
    )


def _caption_differences(comparison: StoreComparison) -> str:
    return (
        f"The same, minus what it is in {comparison.sides[0].name}: above zero, the algorithm wins "
        "more of its duels there. Mean and central 95 % interval, from the draws of both "
        "posteriors."
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


def chosen(
    comparison: StoreComparison, only: Sequence[str] | None = None
) -> list[Figure[StoreComparison]]:
    """The requested figures, or all that have data."""
    if not only:
        return [
            figure for figure in FIGURES_OF_STORES.values() if figure.missing(comparison) is None
        ]
    for name in only:
        if name not in FIGURES_OF_STORES:
            raise ReportError(unknown("figure of several stores", name, FIGURES_OF_STORES))
        reason = FIGURES_OF_STORES[name].missing(comparison)
        if reason:
            raise ReportError(f"there is no figure '{name}' for these stores: {reason}")
    return [figure for name, figure in FIGURES_OF_STORES.items() if name in only]

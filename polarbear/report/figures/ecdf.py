"""ECDF and AOCC: the targets that runs have reached, by each time and averaged over time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.classical.view import View
from polarbear.errors import ReportError
from polarbear.report.context import ReportContext
from polarbear.report.figures.base import Figure
from polarbear.report.figures.sheet import MAX_BANDS, Sheet, draw_estimate, names_in
from polarbear.report.figures.style import Keywords, Style
from polarbear.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


def lacks_values(context: ReportContext) -> str | None:
    """Why the store has no classical view."""
    try:
        _ = context.classical
    except ReportError as error:
        return str(error)
    return None


def on_what(view: View) -> str:
    """The number of instances and the scale, in sentences."""
    instances = counted(len(view.common.instances), "instance")
    words = view.scale.words
    return f"On {instances} that all of them ran to the end. {words[0].upper()}{words[1:]}."


def sheet_of(canvas: Canvas, context: ReportContext, style: Style) -> Sheet:
    """A sheet with the times of the classical view."""
    view = context.classical
    return replace(Sheet.of(canvas, context, style), times=view.grid, axis=view.axis)


def data(context: ReportContext) -> pl.DataFrame:
    """Mean share of targets reached, with its 95 % bootstrap interval; null for one instance."""
    view, found = context.classical, context.classical.ecdf
    size = len(view.times)
    return pl.DataFrame(
        {
            "algorithm": [name for name in view.algorithms for _ in range(size)],
            "t": np.tile(view.times, len(view.algorithms)),
            "share": found.mean.ravel(),
            "low": found.low.ravel(),
            "high": found.high.ravel(),
            "instances": len(view.common.instances),
        }
    ).with_columns(pl.col("low", "high").fill_nan(None))


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    sheet = sheet_of(canvas, context, style)
    axes, short = sheet.panel(max(2.3, 0.5 * style.width)), sheet.names(names_in(data))
    alpha = 0.1 if len(short) <= MAX_BANDS else 0.0
    lines = [
        draw_estimate(axes, rows, look, short[name], "share", alpha=alpha)
        for name, rows, look in sheet.by_algorithm(data, pl.col("share").max())
    ]
    highest = float(data.select(pl.max_horizontal("share", "high").max()).item())
    axes.set_ylim(0, min(1.0, max(1.05 * highest, 0.05)))
    sheet.number_ticks(axes.yaxis)
    axes.set_ylabel("share of targets reached")
    axes.grid(axis="y")
    sheet.time_axis(axes)
    sheet.name_lines(lines)


def caption(context: ReportContext) -> str:
    return (
        "Empirical cumulative distribution: the share of (run, target) pairs that each algorithm "
        f"has reached by each time, with a 95 % bootstrap interval over instances (drawn for up to "
        f"{MAX_BANDS} algorithms). {on_what(context.classical)}"
    )


ECDF = Figure("ecdf", "ECDF over time", caption, lacks_values, data, draw)


TITLES = {"linear": "over time", "log": "over log time"}
SPREAD = 0.26  # of points around their row, in rows


def aocc_data(context: ReportContext) -> pl.DataFrame:
    """The area of every run, over linear and log time, with its algorithm's mean and median.

    ``low`` and ``high`` are the 95 % bootstrap interval of the mean; null for one instance.
    """
    view = context.classical
    frames = [
        pl.DataFrame(
            {
                "time": time,
                "algorithm": view.algorithms[a],
                "instance": view.common.instances,
                "aocc": found.areas[:, a],
                "mean": found.mean[a],
                "low": found.low[a],
                "high": found.high[a],
                "median": found.median[a],
                "first": found.first[a],
            }
        )
        for time, found in (("linear", view.aocc), ("log", view.aocc_log))
        for a in found.order()
    ]
    return pl.concat(frames).with_columns(pl.col("low", "high").fill_nan(None))


def draw_aocc(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    times = data["time"].unique(maintain_order=True).to_list()
    columns = 1 if style.is_narrow else 2
    height = max(2.0 * style.line, 0.24) * (data["algorithm"].n_unique() + 0.3) + 0.42
    sheet = Sheet.of(canvas, context, style)
    panels = sheet.panels(len(times), columns, height)
    for axes, time in zip(panels, times, strict=True):
        _panel(axes, data.filter(pl.col("time") == time), sheet)
        axes.set_title(TITLES[time])
    for axes in panels[-columns:]:
        axes.set_xlabel("AOCC of a run")


def _panel(axes: Axes, data: pl.DataFrame, sheet: Sheet) -> None:
    """A row an algorithm, the best mean on top: runs as points, the mean and its interval."""
    ink = sheet.style.inks.ink
    for place, (_, rows, look) in enumerate(sheet.by_algorithm(data)):
        areas, first = rows["aocc"].to_numpy(), rows.row(0, named=True)
        # Offsets fill the row evenly for any count, by the golden ratio.
        offsets = 2 * ((0.5 + np.arange(len(areas)) * (5**0.5 - 1) / 2) % 1.0) - 1
        points: Keywords = {"linestyle": "", "marker": "o", "markersize": 2.4}
        points |= {"markeredgewidth": 0, "alpha": min(0.6, max(0.15, 20 / len(areas)))}
        axes.plot(areas, place + SPREAD * offsets, color=look.colour, **points)
        if first["low"] is not None:
            ends = [first["low"], first["high"]]
            axes.plot(ends, [place, place], color=ink, linewidth=1.0)
        axes.plot([first["mean"]], [place], marker="|", markersize=9, color=ink)
        sheet.write_beside(axes, place, f"{first['mean']:.2f}", look.text)
    sheet.write_head(axes, "mean")
    axes.set_xlim(-0.02, 1.02)
    sheet.number_rows(axes, names_in(data), 0.16)


def aocc_caption(context: ReportContext) -> str:
    return (
        "Area over the convergence curve: the share of targets reached, averaged over the span of "
        "the grid: over time every moment counts the same, over log time every factor of ten. "
        "Points are single instances, the tick and the line their mean with its 95 % "
        f"bootstrap interval. {on_what(context.classical)}"
    )


AOCC = Figure("aocc", "AOCC of every run", aocc_caption, lacks_values, aocc_data, draw_aocc)

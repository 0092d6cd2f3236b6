"""ECDF and AOCC: the targets that runs have reached, by each time and averaged over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.classical.view import View
from polarbear.errors import ReportError
from polarbear.report.context import ReportContext
from polarbear.report.figures.axes import (
    End,
    draw_estimate,
    each_algorithm,
    label_ends,
    name_rows,
    note_below,
    number_ticks,
    panel_grid,
    time_axis,
    write_beside,
    write_head,
)
from polarbear.report.figures.base import Figure
from polarbear.report.figures.style import Keywords, Style
from polarbear.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MAX_BANDS = 8  # more bands than that hide each other


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


def data(context: ReportContext) -> pl.DataFrame:
    """Mean share of targets reached, with its 95 % bootstrap interval; null for one instance."""
    view, found = context.classical, context.classical.ecdf
    size = len(found.times)
    return pl.DataFrame(
        {
            "algorithm": [name for name in view.algorithms for _ in range(size)],
            "t": np.tile(found.times, len(view.algorithms)),
            "share": found.mean.ravel(),
            "low": found.low.ravel(),
            "high": found.high.ravel(),
            "instances": len(view.common.instances),
        }
    ).with_columns(pl.col("low", "high").fill_nan(None))


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    canvas.set_size_inches(style.width, max(2.3, 0.5 * style.width))
    axes = canvas.subplots()
    names = data["algorithm"].unique(maintain_order=True).to_list()
    short = style.names(context.labels, names)
    alpha = 0.1 if len(names) <= MAX_BANDS else 0.0
    ends = []
    for name, rows, look in each_algorithm(data, context, style):
        draw_estimate(axes, rows, look, "share", alpha)
        ends.append(End(float(rows["share"][-1]), short[name], look))
    highest = float(data.select(pl.max_horizontal("share", "high").max()).item())
    axes.set_ylim(0, min(1.0, max(1.05 * highest, 0.05)))
    number_ticks(axes, "y", False, axes.get_ylim(), style)
    axes.set_ylabel("share of targets reached")
    axes.grid(axis="y")
    time_axis(axes, context, style)
    instances = counted(int(data["instances"][0]), "instance")
    bare = "; intervals of many algorithms are in the data only" if len(names) > MAX_BANDS else ""
    note_below(canvas, f"{instances} that all ran to the end{bare}", style)
    label_ends(canvas, axes, ends, style)


def caption(context: ReportContext) -> str:
    return (
        "Empirical cumulative distribution: the share of (run, target) pairs that each algorithm "
        "has reached by each time, with a 95 % bootstrap interval over instances. "
        f"{on_what(context.classical)}"
    )


ECDF = Figure("ecdf", "ECDF over time", caption, lacks_values, data, draw)


TITLES = {"linear": "over time", "log": "over log time"}
SPREAD = 0.26  # of points around their row, in rows


def aocc_data(context: ReportContext) -> pl.DataFrame:
    """The area of every run, over linear and log time, with its algorithm's mean and median.

    ``low`` and ``high`` are the 95 % bootstrap interval of the mean; null for one instance.
    """
    view = context.classical
    frames = []
    for time, found in (("linear", view.aocc), ("log", view.aocc_log)):
        for a in found.order():
            summary = {
                name: float(getattr(found, name)[a])
                for name in ("mean", "low", "high", "median", "first")
            }
            runs = {"instance": view.common.instances, "aocc": found.areas[:, a]}
            labels = {"time": time, "algorithm": view.algorithms[a]}
            frames.append(
                pl.DataFrame(runs).select(
                    *(pl.lit(value).alias(name) for name, value in labels.items()),
                    *runs,
                    *(pl.lit(value).alias(name) for name, value in summary.items()),
                )
            )
    return pl.concat(frames).with_columns(pl.col("low", "high").fill_nan(None))


def draw_aocc(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    times = data["time"].unique(maintain_order=True).to_list()
    columns = 1 if style.width < 5 else 2
    height = max(2.0 * style.line, 0.24) * (data["algorithm"].n_unique() + 0.3) + 0.42
    panels = panel_grid(canvas, len(times), columns, height, style)
    for axes, time in zip(panels, times, strict=True):
        _panel(axes, data.filter(pl.col("time") == time), context, style)
        axes.set_title(TITLES[time], fontsize=style.font_size, pad=3)
    for axes in panels[-columns:]:
        axes.set_xlabel("AOCC of a run")


def _panel(axes: Axes, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    """A row an algorithm, the best mean on top: runs as points, the mean and its interval."""
    names = data["algorithm"].unique(maintain_order=True).to_list()
    for place, (_, rows, look) in enumerate(each_algorithm(data, context, style)):
        areas, first = rows["aocc"].to_numpy(), rows.row(0, named=True)
        points: Keywords = {"linestyle": "", "marker": "o", "markersize": 2.4}
        points |= {"markeredgewidth": 0, "alpha": min(0.6, max(0.15, 20 / len(areas)))}
        axes.plot(areas, place + SPREAD * _aside(len(areas)), color=look.colour, **points)
        if first["low"] is not None:
            ends = [first["low"], first["high"]]
            axes.plot(ends, [place, place], color=style.inks.ink, linewidth=1.0)
        axes.plot([first["mean"]], [place], marker="|", markersize=9, color=style.inks.ink)
        write_beside(axes, place, f"{first['mean']:.2f}", look.text, style)
    write_head(axes, "mean", style)
    name_rows(axes, names, context, style, 0.16)
    axes.set_xlim(-0.02, 1.02)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    number_ticks(axes, "x", False, (0.0, 1.0), style)


def _aside(count: int) -> np.ndarray:
    """Offsets in [-1, 1] that fill the row evenly for any count, by the golden ratio."""
    return np.asarray(2.0 * ((0.5 + np.arange(count) * (5**0.5 - 1) / 2) % 1.0) - 1.0)


def aocc_caption(context: ReportContext) -> str:
    return (
        "Area over the convergence curve: the share of targets reached, averaged over the span of "
        "the grid: over time every moment counts the same, over log time every factor of ten. "
        "Points are single instances, the tick and the line their mean with its 95 % "
        f"bootstrap interval. {on_what(context.classical)}"
    )


AOCC = Figure("aocc", "AOCC of every run", aocc_caption, lacks_values, aocc_data, draw_aocc)

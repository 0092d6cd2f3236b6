"""AOCC: how much of the targets runs have reached, averaged over time, instance by instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.report.context import ReportContext
from polarbear.report.drawing.axes import number_ticks
from polarbear.report.drawing.style import Style
from polarbear.report.figures.base import Figure
from polarbear.report.figures.classical import lacks_values, on_what

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

TITLES = {"linear": "over time", "log": "over log time"}
SPREAD = 0.26  # how far points lie from their row, in rows


def data(context: ReportContext) -> pl.DataFrame:
    """The area of every run, over linear and over log time, beside its algorithm's mean and so on.

    ``low`` and ``high`` are the 95 % bootstrap interval of the mean; null for one instance.
    """
    view = context.classical
    frames = []
    for time, found in (("linear", view.aocc), ("log", view.aocc_log)):
        for a in found.order():
            frames.append(
                pl.DataFrame({"instance": view.common.instances, "aocc": found.areas[:, a]}).select(
                    pl.lit(time).alias("time"),
                    pl.lit(view.algorithms[a]).alias("algorithm"),
                    "instance",
                    "aocc",
                    pl.lit(float(found.mean[a])).alias("mean"),
                    pl.lit(float(found.low[a])).alias("low"),
                    pl.lit(float(found.high[a])).alias("high"),
                    pl.lit(float(found.median[a])).alias("median"),
                    pl.lit(float(found.first[a])).alias("first"),
                )
            )
    return pl.concat(frames).with_columns(pl.col("low", "high").fill_nan(None))


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    times = data["time"].unique(maintain_order=True).to_list()
    names = data["algorithm"].n_unique()
    columns = 1 if style.width < 5 else 2
    rows = -(-len(times) // columns)
    row = max(2.0 * style.line, 0.24)
    canvas.set_size_inches(style.width, rows * (row * (names + 0.3) + 0.42) + 0.3)
    panels = list(canvas.subplots(rows, columns, squeeze=False).ravel())
    for axes, time in zip(panels, times, strict=True):
        _panel(axes, data.filter(pl.col("time") == time), context, style)
        axes.set_title(TITLES[time], fontsize=style.font_size, pad=3)
    for axes in panels[-columns:]:
        axes.set_xlabel("AOCC of a run")


def _panel(axes: Axes, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    """A row an algorithm, the best mean on top: runs as points, the mean and its interval."""
    names = data["algorithm"].unique(maintain_order=True).to_list()
    short = style.names(context.labels, names, 0.16)
    for place, name in enumerate(names):
        rows = data.filter(pl.col("algorithm") == name)
        look = style.look(context.colour_index(name))
        areas = rows["aocc"].to_numpy()
        axes.plot(
            areas, place + SPREAD * _aside(len(areas)), linestyle="", marker="o", markersize=2.4,
            markeredgewidth=0, color=look.colour, alpha=min(0.6, max(0.15, 20 / len(areas))),
        )  # fmt: skip
        first = rows.row(0, named=True)
        if first["low"] is not None:
            axes.plot(
                [first["low"], first["high"]], [place, place], color=style.inks.ink, linewidth=1.0
            )
        axes.plot([first["mean"]], [place], marker="|", markersize=9, color=style.inks.ink)
        axes.text(
            1.02, place, f"{first['mean']:.2f}", transform=axes.get_yaxis_transform(),
            va="center", fontsize=style.small, color=look.text,
        )  # fmt: skip
    axes.text(
        1.02, 1.0, "mean", transform=axes.transAxes, fontsize=style.small, va="bottom",
        color=style.inks.faint,
    )  # fmt: skip
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.set_yticks(range(len(names)), [short[name] for name in names])
    axes.tick_params(axis="y", length=0)
    for label, name in zip(axes.get_yticklabels(), names, strict=True):
        label.set_color(style.look(context.colour_index(name)).text)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    number_ticks(axes, "x", False, (0.0, 1.0), style)


def _aside(count: int) -> np.ndarray:
    """Offsets in [-1, 1] that fill the row evenly, whatever the count: the golden ratio's."""
    return np.asarray(2.0 * ((0.5 + np.arange(count) * (5**0.5 - 1) / 2) % 1.0) - 1.0)


def caption(context: ReportContext) -> str:
    return (
        "Area over the convergence curve: the share of targets reached, averaged over the span of "
        "the grid: over time every moment counts the same, over log time every factor of ten. "
        "Points are single instances, the tick and the line their mean with its 95 % "
        f"bootstrap interval. {on_what(context.classical)}"
    )


AOCC = Figure("aocc", "AOCC of every run", caption, lacks_values, data, draw)

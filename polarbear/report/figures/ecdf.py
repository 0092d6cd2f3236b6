"""ECDF and AOCC: the targets that runs have reached, by each time and averaged over time."""

from __future__ import annotations

import numpy as np
import polars as pl

from polarbear.classical.view import View
from polarbear.errors import ReportError
from polarbear.report.context import ReportContext
from polarbear.report.figures.base import Figure, by_algorithm, names_in
from polarbear.report.figures.chart import (
    MAX_BANDS,
    Axis,
    Chart,
    Line,
    Panel,
    Points,
    Row,
    Series,
    Title,
    isolated,
    row_axis,
    time_axis,
)
from polarbear.report.figures.short_names import shortened
from polarbear.wording import counted, timed


def lacks_values(context: ReportContext) -> str | None:
    """Why the store has no classical view."""
    try:
        _ = context.classical
    except ReportError as error:
        return str(error)
    return None


def basis_words(view: View) -> str:
    """The number of instances and the scale, in sentences."""
    instances = counted(len(view.common.instances), "instance")
    words = view.scale.words
    return f"On {instances} that all of them ran to the end. {words[0].upper()}{words[1:]}."


def data(context: ReportContext) -> pl.DataFrame:
    """Mean share of targets reached, with its 95 % bootstrap interval; null for one instance."""
    view = context.classical
    n_times = len(view.times)
    return pl.DataFrame(
        {
            "algorithm": [name for name in view.algorithms for _ in range(n_times)],
            "t": np.tile(view.times, len(view.algorithms)),
            "share": view.ecdf.mean.ravel(),
            "low": view.ecdf.low.ravel(),
            "high": view.ecdf.high.ravel(),
            "instances": len(view.common.instances),
        }
    ).with_columns(pl.col("low", "high").fill_nan(None))


def chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A line with its band for each algorithm."""
    view = context.classical
    lines = [
        _share_line(name, rows, is_muted, context)
        for name, rows, is_muted in by_algorithm(data, pl.col("share").max())
    ]
    highest = float(data.select(pl.max_horizontal("share", "high").max()).item())
    panel = Panel(
        x=time_axis(view.grid, context.log_times, view.axis),
        y=Axis("share of targets reached", low=0, high=min(1.0, max(1.05 * highest, 0.05))),
        series=tuple(lines),
    )
    return Chart((panel,), context.labels, legend="beside")


def _share_line(name: str, rows: pl.DataFrame, is_muted: bool, context: ReportContext) -> Line:
    """The share of targets that one algorithm has reached, over time."""
    n_algorithms = len(context.classical.algorithms)
    has_interval = rows["low"].is_not_null().all()
    label = isolated(context.labels[name])
    hover = []
    for t, share, low, high in rows.select("t", "share", "low", "high").iter_rows():
        interval = f" ({low:.3f} to {high:.3f})" if has_interval else ""
        time = timed(t, context.classical.axis)
        hover.append(f"{label}\n{time}\nshare of targets {share:.3f}{interval}")
    return Line(
        x=rows["t"].to_list(),
        y=rows["share"].to_list(),
        low=rows["low"].to_list() if has_interval else (),
        high=rows["high"].to_list() if has_interval else (),
        algorithm=name,
        band_opacity=0.1 if n_algorithms <= MAX_BANDS else 0.0,
        is_named=True,
        is_muted=is_muted,
        hover=hover,
    )


def caption(context: ReportContext) -> str:
    return (
        "Empirical cumulative distribution: the share of (run, target) pairs that each algorithm "
        f"has reached by each time, with a 95 % bootstrap interval over instances (drawn for up to "
        f"{MAX_BANDS} algorithms). {basis_words(context.classical)}"
    )


ECDF = Figure("ecdf", "ECDF over time", caption, lacks_values, data, chart)


TITLES = {"linear": "over time", "log": "over log time"}
SPREAD = 0.26  # points are spread around their row by this many rows
MAX_LETTERS = 40  # a tooltip cuts longer names of instances
GOLDEN_RATIO = (5**0.5 - 1) / 2


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
                "aocc": aocc.areas[:, a],
                "mean": aocc.mean[a],
                "low": aocc.low[a],
                "high": aocc.high[a],
                "median": aocc.median[a],
                "first": aocc.first[a],
            }
        )
        for time, aocc in (("linear", view.aocc), ("log", view.aocc_log))
        for a in aocc.order()
    ]
    return pl.concat(frames).with_columns(pl.col("low", "high").fill_nan(None))


def aocc_chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A panel for each scale of time, and in it a row for each algorithm, the best on top."""
    panels = []
    for time in data["time"].unique(maintain_order=True):
        areas = data.filter(pl.col("time") == time)
        names = names_in(areas)
        rows = []
        series: list[Series] = []
        for row_number, name in enumerate(names):
            own_areas = areas.filter(pl.col("algorithm") == name)
            rows.append(Row((name,), number=f"{own_areas['mean'][0]:.2f}"))
            series += _areas_in_row(row_number, name, own_areas, context.labels[name])
        panel = Panel(
            x=Axis("AOCC of a run", low=-0.02, high=1.02),
            y=row_axis(rows),
            series=tuple(series),
            titles=(Title(TITLES[time]),),
            lines=2 * (len(names) + 0.3),
            head="mean",
        )
        panels.append(panel)
    return Chart(tuple(panels), context.labels, columns=2)


def _areas_in_row(row_number: int, name: str, areas: pl.DataFrame, label: str) -> list[Series]:
    """The areas of all runs of one algorithm as points, their mean, and its interval."""
    values = areas["aocc"].to_numpy()
    # Multiples of the golden ratio fill the height of the row evenly for any number of points.
    heights = 2 * ((0.5 + np.arange(len(values)) * GOLDEN_RATIO) % 1.0) - 1
    points = Points(
        x=values,
        y=row_number + SPREAD * heights,
        algorithm=name,
        size=2.4,
        opacity=min(0.6, max(0.15, 20 / len(values))),
        hover=[
            f"{isolated(label)} on {isolated(shortened(instance, MAX_LETTERS))}\n{area:.3f}"
            for instance, area in areas.select("instance", "aocc").iter_rows()
        ],
    )
    mean, low, high = areas.select("mean", "low", "high").row(0)
    series: list[Series] = [points]
    if low is not None:
        series.append(Line(x=(low, high), y=(row_number, row_number), width=1.0))
    hover = (f"{isolated(label)}: mean {mean:.3f}",)
    series.append(Points(x=(mean,), y=(row_number,), marker="bar", size=9, hover=hover))
    return series


def aocc_caption(context: ReportContext) -> str:
    return (
        "Area over the convergence curve: the share of targets reached, averaged over the span of "
        "the grid: over time every moment counts the same, over log time every factor of ten. "
        "Points are single instances, the tick and the line their mean with its 95 % "
        f"bootstrap interval. {basis_words(context.classical)}"
    )


AOCC = Figure("aocc", "AOCC of every run", aocc_caption, lacks_values, aocc_data, aocc_chart)

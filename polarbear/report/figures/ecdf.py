"""ECDF: the share of targets that runs have reached by each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.report.context import ReportContext
from polarbear.report.drawing.axes import End, label_ends, note_below, number_ticks, time_axis
from polarbear.report.drawing.style import Style
from polarbear.report.figures.base import Figure
from polarbear.report.figures.classical import lacks_values, on_what
from polarbear.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

BANDS = 8  # more bands than that hide each other


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
    ends = []
    for name in names:
        rows = data.filter(pl.col("algorithm") == name)
        look = style.look(context.colour_index(name))
        t, share = rows["t"].to_numpy(), rows["share"].to_numpy()
        low, high = (rows[end].fill_null(rows["share"]).to_numpy() for end in ("low", "high"))
        if len(t) == 1:
            axes.errorbar(
                t, share, [share - low, high - share], color=look.colour, fmt=look.marker,
                elinewidth=1.0, capsize=2,
            )  # fmt: skip
        else:
            if len(names) <= BANDS:
                axes.fill_between(t, low, high, color=look.colour, alpha=0.1, linewidth=0)
            axes.plot(t, share, color=look.colour, linestyle=look.dash)
        ends.append(End(float(share[-1]), short[name], look))
    highest = float(data.select(pl.max_horizontal("share", "high").max()).item())
    axes.set_ylim(0, min(1.0, max(1.05 * highest, 0.05)))
    number_ticks(axes, "y", False, axes.get_ylim(), style)
    axes.set_ylabel("share of targets reached")
    axes.grid(axis="y")
    time_axis(axes, context, style)
    instances = counted(int(data["instances"][0]), "instance")
    bare = "; intervals of many algorithms are in the data only" if len(names) > BANDS else ""
    note_below(canvas, f"{instances} that all ran to the end{bare}", style)
    label_ends(canvas, axes, ends, style)


def caption(context: ReportContext) -> str:
    return (
        "Empirical cumulative distribution: the share of (run, target) pairs that each algorithm "
        "has reached by each time, with a 95 % bootstrap interval over instances. "
        f"{on_what(context.classical)}"
    )


ECDF = Figure("ecdf", "ECDF over time", caption, lacks_values, data, draw)

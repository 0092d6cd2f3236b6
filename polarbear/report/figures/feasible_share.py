"""The share of runs that have found a feasible value, over time."""

from __future__ import annotations

import numpy as np
import polars as pl

from polarbear.report.context import ReportContext
from polarbear.report.figures.base import Figure, by_algorithm, grid_axis
from polarbear.report.figures.chart import Axis, Chart, Line, Panel, isolated
from polarbear.wording import counted, percent, timed


def lacks_violations(context: ReportContext) -> str | None:
    """Why there is nothing to draw."""
    if context.store.has_violations:
        return None
    return "no value in this store violates a constraint"


def data(context: ReportContext) -> pl.DataFrame:
    """The share of instances on which each algorithm is feasible at each time.

    An instance counts if the algorithm was run on it at least until then.
    """
    grid = context.store.on_grid(context.times, context.algorithms)
    is_feasible = np.isfinite(grid.feasible_values())
    rows = [
        {
            "algorithm": name,
            "t": t,
            "feasible": int(is_feasible[:, a, k].sum()),
            "instances": int(grid.present[:, a, k].sum()),
        }
        for a, name in enumerate(grid.algorithms)
        for k, t in enumerate(context.times.tolist())
    ]
    counts = pl.DataFrame(rows).filter(pl.col("instances") > 0)
    return counts.with_columns(share=pl.col("feasible") / pl.col("instances"))


def chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A line for each algorithm."""
    lines = []
    for name, rows, is_muted in by_algorithm(data, pl.col("share").mean()):
        label = isolated(context.labels[name])
        hover = [
            f"{label}\n{timed(t, context.axis)}\nfeasible on {percent(share)} of "
            f"{counted(instances, 'instance')}"
            for t, share, instances in rows.select("t", "share", "instances").iter_rows()
        ]
        line = Line(
            x=rows["t"].to_list(),
            y=rows["share"].to_list(),
            algorithm=name,
            is_named=True,
            is_muted=is_muted,
            hover=hover,
        )
        lines.append(line)
    panel = Panel(
        x=grid_axis(context),
        y=Axis("share of runs that are feasible", low=0, high=1.02),
        series=tuple(lines),
    )
    return Chart((panel,), context.labels, legend="beside")


def caption(context: ReportContext) -> str:
    return (
        "The share of instances on which each algorithm has found a feasible value by each time, "
        "of those on which it was run until then. A feasible outcome is better than every "
        "infeasible one, so an early lead may be one of feasibility."
    )


FEASIBLE = Figure("feasible", "Share of feasible runs", caption, lacks_violations, data, chart)

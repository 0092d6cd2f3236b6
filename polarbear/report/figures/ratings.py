"""Shares of firsts over time, with 95 % intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.report.context import ReportContext
from polarbear.report.figures.axes import (
    End,
    edges,
    error_bar,
    label_ends,
    number_ticks,
    on_log_time,
    time_axis,
)
from polarbear.report.figures.base import Figure, lacks_beliefs, moment
from polarbear.report.figures.style import Style
from polarbear.report.findings import firsts_among_candidates, instances_at, still_in, truth_now
from polarbear.wording import SHARE_OF_FIRSTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

TITLE = "Shares of firsts over time"
WHAT = (
    f"The {SHARE_OF_FIRSTS}: on how many of all instances each algorithm has the best solution of "
    "all by each time"
)


def data(context: ReportContext) -> pl.DataFrame:
    """Mean and central 95 % interval of each share of firsts, and the number of instances.

    ``in`` is true for candidates; ``instances`` is null where it is unknown, and ``truth``
    is known in synthetic races only.
    """
    believed = context.believed
    assert believed is not None
    size, candidates = len(believed.times), still_in(context)
    seen, truth = instances_at(context), truth_now(context)
    return pl.DataFrame(
        {
            "algorithm": np.repeat(believed.algorithms, size).tolist(),
            "t": np.tile(believed.times, len(believed.algorithms)),
            "mean": believed.mean.ravel(),
            "low": believed.low.ravel(),
            "high": believed.high.ravel(),
            "instances": None
            if seen is None
            else np.concatenate([seen.get(n, np.zeros(size)) for n in believed.algorithms]),
            "in": [name in candidates for name in believed.algorithms for _ in range(size)],
            "truth": None
            if truth is None
            else np.concatenate([truth[name] for name in believed.algorithms]),
        },
        schema_overrides={"algorithm": pl.String, "instances": pl.Int64, "truth": pl.Float64},
    )


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    canvas.set_size_inches(style.width, max(2.3, 0.5 * style.width))
    axes = canvas.subplots()
    names = data["algorithm"].unique(maintain_order=True).to_list()
    short = style.names(context.labels, names)
    ends = []
    # Candidates are named first, and lie above eliminated algorithms.
    for place, name in enumerate(sorted(names, key=lambda name: not _of(data, name)["in"][0])):
        rows = _of(data, name)
        look, is_in = style.look(context.colour_index(name)), bool(rows["in"][0])
        t, mean = rows["t"].to_numpy(), rows["mean"].to_numpy()
        low, high = rows["low"].to_numpy(), rows["high"].to_numpy()
        if len(t) == 1:
            at = t + _aside(place, len(names), context, style)
            error_bar(axes, at, mean, low, high, look, 1.0)
        else:
            alpha, width, above = (0.2, 1.5, 2.5) if is_in else (0.1, 0.8, 2.0)
            axes.fill_between(t, low, high, color=look.colour, alpha=alpha, linewidth=0)
            axes.plot(t, mean, **look.line, linewidth=width, zorder=above)
            if rows["truth"].is_not_null().all():
                axes.plot(t, rows["truth"], color=look.colour, linestyle=":", lw=0.9, zorder=1.8)
        text = short[name] if is_in else f"({short[name]})"
        ends.append(End(float(mean[-1]), text, look))
    axes.set_ylim(0, min(1.0, 1.05 * float(np.nanmax(data["high"].to_numpy()))))
    number_ticks(axes, "y", False, axes.get_ylim(), style)
    axes.set_ylabel(SHARE_OF_FIRSTS)
    axes.grid(axis="y")
    time_axis(axes, context, style)
    label_ends(canvas, axes, ends, style)


def caption(context: ReportContext) -> str:
    out = len(context.believed.algorithms if context.believed else ()) - len(still_in(context))
    brackets = " Algorithms in brackets are eliminated." if out > 0 else ""
    apart = field_of_firsts(context)
    sums = apart or "At each time the means sum to one."
    known = len(context.times) > 1 and truth_now(context) is not None
    dotted = " Dotted: the truth." if known else ""
    return (
        f"{WHAT} ({moment(context)}): posterior mean and central 95 % interval.{brackets} {sums}"
        f"{dotted}"
    )


def field_of_firsts(context: ReportContext) -> str:
    """The field of first places, where eliminated algorithms no longer compete for them."""
    if not firsts_among_candidates(context):
        return ""
    return (
        "Candidates compete with each other, and their means sum to one at each time; the share of "
        "an eliminated algorithm is that among them and itself."
    )


def _aside(place: int, count: int, context: ReportContext, style: Style) -> float:
    """The offset of a bar from the only time, so that no bar covers another."""
    left, right = edges(context.times, on_log_time(context, style))
    return float((right - left) * 0.4 * ((place + 0.5) / count - 0.5))


def _of(data: pl.DataFrame, name: str) -> pl.DataFrame:
    return data.filter(pl.col("algorithm") == name)


RATINGS = Figure("ratings", TITLE, caption, lacks_beliefs, data, draw)

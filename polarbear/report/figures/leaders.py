"""P(best) of each candidate at each time."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.report.context import ReportContext
from polarbear.report.figures.axes import (
    End,
    each_algorithm,
    edges,
    label_ends,
    on_log_time,
    time_axis,
)
from polarbear.report.figures.base import Figure, lacks_draws, moment_of_draws
from polarbear.report.figures.style import Keywords, Style, writing_on
from polarbear.wording import P_BEST, WIN_RATE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


def data(context: ReportContext) -> pl.DataFrame:
    """P(best of all candidates) at each time, from the posterior's draws; ties are shared."""
    basis = context.draws
    assert basis is not None
    names, likely = context.p_best
    return pl.DataFrame(
        {
            "t": np.repeat(basis.times, len(names)),
            "algorithm": list(names) * len(basis.times),
            "p_best": likely.ravel(),
            "leads": (np.arange(len(names)) == likely.argmax(axis=1)[:, None]).ravel(),
        }
    )


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    band_height = 1.7 * style.line
    height = max(2.3, 0.45 * style.width)
    canvas.set_size_inches(style.width, height + band_height)
    axes, band = canvas.subplots(2, 1, sharex=True, height_ratios=[height - 0.6, band_height])
    names = data["algorithm"].unique(maintain_order=True).to_list()
    short = style.names(context.labels, names)
    times = data["t"].unique(maintain_order=True).to_numpy()
    ends = []
    for name, rows, look in each_algorithm(data, context, style):
        p = rows["p_best"].to_numpy()
        marker = look.marker if len(times) == 1 else ""
        axes.plot(times, p, **look.line, marker=marker, clip_on=False)
        ends.append(End(float(p[-1]), short[name], look, marker))
    axes.set_ylim(0, 1)
    axes.set_ylabel(P_BEST)
    axes.grid(axis="y")
    axes.tick_params(labelbottom=False)
    borders = edges(times, on_log_time(context, style))
    stretches = _stretches(data.filter("leads")["algorithm"].to_list(), borders)
    for left, right, name in stretches:
        look = style.look(context.colour_index(name))
        band.axvspan(left, right, **look.area, linewidth=0)
    band.set_yticks([])
    band.set_ylabel("leader", rotation=0, ha="right", va="center", fontsize=style.small)
    for side in band.spines.values():
        side.set_visible(False)
    time_axis(axes, context, style, label=False)
    time_axis(band, context, style)
    label_ends(canvas, axes, ends, style)
    _write_into_band(canvas, band, stretches, context, style)


def _write_into_band(
    canvas: Canvas,
    band: Axes,
    stretches: list[tuple[float, float, str]],
    context: ReportContext,
    style: Style,
) -> None:
    """Names in their stretches of the band, where they fit."""
    canvas.draw_without_rendering()
    short = style.names(context.labels, sorted({name for _, _, name in stretches}))
    font: Keywords = {"ha": "center", "va": "center", "fontsize": style.small}
    font["transform"] = band.get_xaxis_transform()
    for left, right, name in stretches:
        ends = band.transData.transform([(left, 0.5), (right, 0.5)])[:, 0]
        middle = band.transData.inverted().transform((ends.mean(), 0))[0]
        look = style.look(context.colour_index(name))
        colour = writing_on(look.colour, style.theme)
        text = band.text(middle, 0.5, short[name], color=colour, **font)
        if look.hatch:
            text.set_bbox({"facecolor": look.colour, "linewidth": 0, "pad": 1.0})
        if text.get_window_extent().width > 0.95 * (ends[1] - ends[0]):
            text.remove()


def _stretches(leaders: list[str], borders: np.ndarray) -> list[tuple[float, float, str]]:
    """Neighbouring times with the same leader: start, stop and the leader."""
    found = []
    for name, run in groupby(range(len(leaders)), key=leaders.__getitem__):
        places = list(run)
        found.append((float(borders[places[0]]), float(borders[places[-1] + 1]), name))
    return found


def caption(context: ReportContext) -> str:
    return (
        f"{P_BEST}: the probability that a candidate has the highest {WIN_RATE} at each time "
        f"({moment_of_draws(context)}); the band below names the one with the highest {P_BEST}."
    )


LEADERS = Figure("leaders", "Best algorithm by budget", caption, lacks_draws, data, draw)

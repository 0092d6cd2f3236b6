"""EAF differences: where in the plane of times and targets one of a pair is ahead."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.report.context import ReportContext
from polarbear.report.figures.axes import edges, note_below, on_log_time, panel_grid, time_axis
from polarbear.report.figures.base import Figure
from polarbear.report.figures.eaf import (
    contour_lines,
    contour_rows,
    grid_of,
    lacks_plane,
    level_axis,
    level_edges,
    panel_style,
    plane,
)
from polarbear.report.figures.style import Style, readable
from polarbear.wording import percent_cell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MAX_PAIRS = 6
IN_PRINT = ("#404040", "#404040")
HATCHED_FROM = 0.1  # of the strongest difference
SAME_HUE, GREY = 0.08, 0.2  # of the colour circle; of full saturation


def pairs(context: ReportContext) -> list[tuple[str, str]]:
    """The requested pair; otherwise pairs of candidates; otherwise the best two by AOCC."""
    if context.comparison.pair is not None:
        return [context.comparison.pair]
    view = context.classical
    inside = context.remaining
    found = list(combinations([name for name in view.algorithms if name in inside], 2))
    if not found:
        best = view.aocc.order()[:2]
        found = [(view.algorithms[best[0]], view.algorithms[best[1]])]
    return found[:MAX_PAIRS]


def data(context: ReportContext) -> pl.DataFrame:
    """For each pair the difference of shares of runs on a grid of the plane, and median lines.

    ``difference`` is above 0 where a is ahead. Rows of kind contour hold the line that half of
    ``algorithm``'s runs have passed. ``instances`` counts those the pair has in common.
    """
    frames = []
    for a, b in pairs(context):
        view = context.classical_pair(a, b)
        found = view.eaf_difference(a, b)
        none = pl.lit(None, pl.Float64)
        grid = plane(view, found.difference).select(
            pl.lit("grid").alias("kind"),
            pl.lit(None, pl.String).alias("algorithm"),
            pl.all().exclude("share"),
            pl.col("share").alias("difference"),
            none.alias("share"),
        )
        half = (pl.col("share") - 0.5).abs() < 1e-9
        lines = [
            contour_rows(view, name)
            .filter(half)
            .select(pl.all().exclude("share"), none.alias("difference"), "share")
            for name in (a, b)
        ]
        pair = {"a": a, "b": b, "instances": len(view.common.instances)}
        labels = [pl.lit(value).alias(name) for name, value in pair.items()]
        frames.append(pl.concat([grid, *lines]).select(*labels, pl.all()))
    return pl.concat(frames)


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    shown = data.select("a", "b", "instances").unique(maintain_order=True).rows()
    columns = min(len(shown), 1 if style.width < 5 else 2 if len(shown) in (2, 4) else 3)
    height = max(1.6, (0.5 if columns == 1 else 0.8) * style.width / columns)
    panels = panel_grid(canvas, len(shown), columns, height, style, 0.35)
    most = float(np.nanmax(np.abs(data["difference"].fill_null(np.nan).to_numpy()))) or 1.0
    for place, (axes, (a, b, instances)) in enumerate(zip(panels, shown, strict=True)):
        mine = data.filter((pl.col("a") == a) & (pl.col("b") == b))
        times, levels, ahead = grid_of(mine, "difference")
        borders = edges(times, on_log_time(context, style))
        colours = _colours(context, style, a, b)
        painted = _painted(ahead / most, colours, style)
        axes.pcolormesh(borders, level_edges(levels), painted, rasterized=True)
        if style.theme == "print":
            _hatch(axes, times, levels, ahead / most)
        for name, dash in ((a, "--"), (b, ":")):
            half = mine.filter(pl.col("algorithm") == name)
            contour_lines(axes, half, style.inks.ink, float(times[-1]), {50.0: (1.0, dash)})
        time_axis(axes, context, panel_style(style, columns), label=place + columns >= len(shown))
        level_axis(axes, mine, label=place % columns == 0)
        short = style.names(context.labels, (a, b), 0.24 / columns)
        _title(axes, (short[a], short[b]), colours, instances, style)
    colour = "colour: the algorithm that has attained it more often"
    if style.theme == "print":
        colour = "shade: how much more often one has attained it (hatched: the right one)"
    note_below(
        canvas,
        f"{colour}, at its strongest by {percent_cell(most)} of the runs\n"
        "lines: what half of the runs have attained, dashed left, dotted right",
        style,
    )


def _colours(context: ReportContext, style: Style, a: str, b: str) -> tuple[str, str]:
    """The colours of the pair; the second is replaced where shades of both look the same."""
    if style.theme == "print":
        return IN_PRINT
    one, other = (style.look(context.colour_index(name)).colour for name in (a, b))
    for instead in (other, style.inks.ink, style.inks.alarm):
        if _apart(one, instead):
            return one, instead
    return one, other


def _apart(one: str, other: str) -> bool:
    """Whether two colours differ in hue, so that no shade of one is a shade of the other."""
    from matplotlib.colors import rgb_to_hsv, to_rgb

    (hue, full, _), (hue_2, full_2, _) = (rgb_to_hsv(to_rgb(colour)) for colour in (one, other))
    if min(full, full_2) < GREY:
        return bool(max(full, full_2) >= GREY)
    turn = abs(hue - hue_2)
    return bool(min(turn, 1 - turn) > SAME_HUE)


def _painted(ahead: np.ndarray, colours: tuple[str, str], style: Style) -> np.ndarray:
    """Colours towards that of the algorithm ahead: [level, time, channel]."""
    from matplotlib.colors import to_rgb

    neutral, one, other = (np.array(to_rgb(c)) for c in (style.inks.shades[0], *colours))
    strength = np.abs(ahead)[:, :, None]
    towards = np.where(ahead[:, :, None] > 0, one, other)
    return np.asarray(neutral + (towards - neutral) * strength)


def _hatch(axes: Axes, times: np.ndarray, levels: np.ndarray, ahead: np.ndarray) -> None:
    """Mark where the second is ahead, for shades of grey."""
    if ahead.min() < -HATCHED_FROM:
        axes.contourf(
            times, levels, ahead, levels=[-1.01, -HATCHED_FROM], colors="none", hatches=["////"]
        )


def _title(
    axes: Axes,
    pair: tuple[str, str],
    colours: tuple[str, str],
    instances: int,
    style: Style,
) -> None:
    """The names of the pair in their colours, and between them the number of instances."""
    size, small = style.font_size, style.small
    left, right = (readable(colour, style.theme) for colour in colours)
    axes.set_title(pair[0], loc="left", color=left, fontsize=size, pad=3)
    axes.set_title(pair[1], loc="right", color=right, fontsize=size, pad=3)
    axes.set_title(f"n = {instances}", loc="center", color=style.inks.faint, fontsize=small, pad=3)


def lacks_pairs(context: ReportContext) -> str | None:
    """Why there is no pair to draw."""
    reason = lacks_plane(context)
    if reason is None and len(context.classical.algorithms) < 2:
        return "a difference needs two algorithms, and one is compared"
    return reason


def caption(context: ReportContext) -> str:
    words = context.classical.scale.words
    return (
        "Differences of empirical attainment functions: where in the plane of times and targets "
        "(down: harder) one of a pair has attained targets in more runs than the other, on the "
        f"instances these two have in common (n). {words[0].upper()}{words[1:]}."
    )


EAF_DIFFERENCE = Figure(
    "eaf-difference", "Attainment differences", caption, lacks_pairs, data, draw
)

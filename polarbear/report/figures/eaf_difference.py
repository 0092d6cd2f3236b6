"""EAF differences: where in the plane of times and targets one of a pair is ahead."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.report.context import ReportContext
from polarbear.report.current_draws import still_in
from polarbear.report.drawing.axes import edges, note_below, on_log_time, time_axis
from polarbear.report.drawing.palette import readable
from polarbear.report.drawing.style import Style
from polarbear.report.figures.base import Figure
from polarbear.report.figures.classical import lacks_plane, level_axis, panel_style
from polarbear.report.figures.eaf import contour_lines, contour_rows, grid_of, level_edges, plane
from polarbear.wording import percent_cell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MOST = 6
IN_PRINT = ("#404040", "#404040")
NOTICED = 0.1  # of the strongest difference: what is hatched
NEAR, GREYISH = 0.08, 0.2  # of the colour circle; of full saturation


def pairs(context: ReportContext) -> list[tuple[str, str]]:
    """The pair asked for; or those of candidates; or the best two by AOCC."""
    if context.comparison.pair is not None:
        return [context.comparison.pair]
    view = context.classical
    inside = still_in(context)
    found = list(combinations([name for name in view.algorithms if name in inside], 2))
    if not found:
        best = view.aocc.order()[:2]
        found = [(view.algorithms[best[0]], view.algorithms[best[1]])]
    return found[:MOST]


def data(context: ReportContext) -> pl.DataFrame:
    """For each pair the difference of shares of runs on a grid of the plane, and median lines.

    ``difference`` is above 0 where a is ahead. Rows of kind contour hold the line that half of
    ``algorithm``'s runs have passed. ``instances`` counts those the pair has in common.
    """
    frames = []
    for a, b in pairs(context):
        view = context.classical_pair(a, b)
        found = view.eaf_difference(a, b)
        grid = plane(view, found.difference).select(
            pl.lit("grid").alias("kind"),
            pl.lit(None, pl.String).alias("algorithm"),
            "t",
            "level",
            "target",
            pl.col("share").alias("difference"),
            pl.lit(None, pl.Float64).alias("share"),
        )
        lines = [
            contour_rows(view, name)
            .filter((pl.col("share") - 0.5).abs() < 1e-9)
            .select(
                "kind",
                "algorithm",
                "t",
                "level",
                "target",
                pl.lit(None, pl.Float64).alias("difference"),
                "share",
            )
            for name in (a, b)
        ]
        instances = len(view.common.instances)
        frames.append(
            pl.concat([grid, *lines]).select(
                pl.lit(a).alias("a"),
                pl.lit(b).alias("b"),
                pl.lit(instances).alias("instances"),
                pl.all(),
            )
        )
    return pl.concat(frames)


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    shown = data.select("a", "b", "instances").unique(maintain_order=True).rows()
    columns = min(len(shown), 1 if style.width < 5 else 2 if len(shown) in (2, 4) else 3)
    rows = -(-len(shown) // columns)
    tall = 0.5 if columns == 1 else 0.8
    canvas.set_size_inches(style.width, rows * max(1.6, tall * style.width / columns) + 0.35)
    panels = list(canvas.subplots(rows, columns, squeeze=False).ravel())
    most = float(np.nanmax(np.abs(data["difference"].fill_null(np.nan).to_numpy()))) or 1.0
    for place, (axes, (a, b, instances)) in enumerate(zip(panels, shown, strict=False)):
        mine = data.filter((pl.col("a") == a) & (pl.col("b") == b))
        times, levels, ahead = grid_of(mine, "difference")
        borders = edges(times, on_log_time(context, style))
        colours = _colours(context, style, a, b)
        axes.pcolormesh(
            borders, level_edges(levels), _painted(ahead / most, colours, style), rasterized=True
        )
        if style.theme == "print":
            _hatch(axes, times, levels, ahead / most)
        for name, dash in ((a, "--"), (b, ":")):
            half = mine.filter(pl.col("algorithm") == name)
            contour_lines(axes, half, style.inks.ink, float(times[-1]), {50.0: (1.0, dash)})
        time_axis(axes, context, panel_style(style, columns), label=place + columns >= len(shown))
        level_axis(axes, mine, style, label=place % columns == 0)
        short = style.names(context.labels, (a, b), 0.24 / columns)
        _title(axes, (short[a], short[b]), colours, instances, style)
    for axes in panels[len(shown) :]:
        axes.remove()
    note_below(
        canvas,
        f"{_who(style)}, at its strongest by {percent_cell(most)} of the runs\n"
        "lines: what half of the runs have attained, dashed left, dotted right",
        style,
    )


def _colours(context: ReportContext, style: Style, a: str, b: str) -> tuple[str, str]:
    """The pair's own colours; the second's gives way where shades of both would look the same."""
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
    if min(full, full_2) < GREYISH:
        return bool(max(full, full_2) >= GREYISH)
    turn = abs(hue - hue_2)
    return bool(min(turn, 1 - turn) > NEAR)


def _painted(ahead: np.ndarray, colours: tuple[str, str], style: Style) -> np.ndarray:
    """Colours towards that of the algorithm ahead: [level, time, channel]."""
    from matplotlib.colors import to_rgb

    neutral, one, other = (np.array(to_rgb(c)) for c in (style.inks.shades[0], *colours))
    strength = np.abs(ahead)[:, :, None]
    towards = np.where(ahead[:, :, None] > 0, one, other)
    return np.asarray(neutral + (towards - neutral) * strength)


def _hatch(axes: Axes, times: np.ndarray, levels: np.ndarray, ahead: np.ndarray) -> None:
    """Mark where the second is ahead, for shades of grey."""
    if ahead.min() < -NOTICED:
        axes.contourf(
            times, levels, ahead, levels=[-1.01, -NOTICED], colors="none", hatches=["////"]
        )


def _who(style: Style) -> str:
    if style.theme == "print":
        return "shade: how much more often one has attained it (hatched: the right one)"
    return "colour: the algorithm that has attained it more often"


def _title(
    axes: Axes,
    pair: tuple[str, str],
    colours: tuple[str, str],
    instances: int,
    style: Style,
) -> None:
    """The pair's names in their colours, left and right, and between them how many instances."""
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

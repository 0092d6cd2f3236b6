"""EAF: the share of runs that have attained each target by each time, and differences of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from polarbear.classical.attainment import EAF_LEVELS
from polarbear.classical.view import Scale, View
from polarbear.report.context import ReportContext
from polarbear.report.figures.base import Figure
from polarbear.report.figures.ecdf import lacks_values, on_what, sheet_of
from polarbear.report.figures.sheet import Sheet, edges, names_in
from polarbear.report.figures.style import Keywords, Style
from polarbear.wording import percent_cell, power_of_ten, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure as Canvas

MAX_PANELS = 12
LINES = {25.0: (0.6, ":"), 50.0: (1.2, "-"), 75.0: (0.6, "--")}


def lacks_plane(context: ReportContext) -> str | None:
    if reason := lacks_values(context):
        return reason
    if len(context.classical.grid) == 1:
        return "the grid has one time only, and a plane of times and targets needs more"
    return None


def _plane(view: View, values: np.ndarray, name: str) -> pl.DataFrame:
    """Values[level, time] in long form, as rows of kind grid."""
    levels, times = EAF_LEVELS, view.times
    targets = [view.scale.target(level) for level in levels]
    return pl.DataFrame(
        {
            "kind": "grid",
            "t": np.tile(times, len(levels)),
            "level": np.repeat(levels, len(times)),
            "target": [target for target in targets for _ in times],
            name: values.ravel(),
        },
        schema_overrides={"target": pl.Float64},
    )


def _contours(view: View, name: str) -> pl.DataFrame:
    rows = [
        ("contour", name, t, level, percentile / 100)
        for percentile, line in view.eaf.contours[view.index(name)].items()
        for t, level in line.tolist()
    ]
    schema = {"kind": pl.String, "algorithm": pl.String, "t": pl.Float64, "level": pl.Float64}
    return pl.DataFrame(rows, schema={**schema, "share": pl.Float64}, orient="row")


def data(context: ReportContext) -> pl.DataFrame:
    """For each algorithm the share of runs on a grid of the plane, and its quartile lines.

    ``kind`` is grid, or contour: from t on, until the next row, ``share`` of the runs have attained
    ``level``. Levels run from 0, the easiest target, to 1; ``target`` is null where the targets
    differ between instances.
    """
    view = context.classical
    frames = []
    for a, name in enumerate(view.algorithms):
        grid = _plane(view, view.eaf.attained[a], "share")
        frames += [grid.with_columns(algorithm=pl.lit(name)), _contours(view, name)]
    found = pl.concat(frames, how="diagonal")
    return found.select("kind", "algorithm", "t", "level", "target", "share")


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    sheet, names = sheet_of(canvas, context, style), names_in(data)
    shown = names[:MAX_PANELS]
    columns = min(len(shown), 2 if style.is_narrow else 4 if len(shown) > 6 else 3)
    height = max(1.5, 0.72 * style.width / columns)
    panels = sheet.panels(len(shown), columns, height, 0.35, share=True)
    short = sheet.names(shown, 0.8 / columns)
    for axes, name in zip(panels, shown, strict=True):
        own = data.filter(pl.col("algorithm") == name)
        image = _draw_plane(axes, own, "share", (0.0, 1.0), style.inks.shades, sheet)
        _draw_contours(axes, own, LINES, style.inks.alarm, sheet)
        axes.set_title(short[name], color=sheet.look(name).text)
    _name_axes(panels, columns, context.classical.scale, sheet)
    sheet.colour_bar(image, panels, "share of runs", {"fraction": 0.03, "pad": 0.02, "aspect": 30})
    rest = f"; {len(shown)} of {len(names)} algorithms" if len(shown) < len(names) else ""
    words = f"lines: a quarter (dotted), half, three quarters (dashed) of runs{rest}"
    sheet.note(words)


def _draw_plane(
    axes: Axes,
    data: pl.DataFrame,
    value: str,
    limits: tuple[float, float],
    colours: Sequence[str],
    sheet: Sheet,
) -> QuadMesh:
    """A column of the data as colours; a level stands for the targets from the one before to it."""
    grid = data.filter(pl.col("kind") == "grid").sort("level", "t")
    times, levels = (grid[name].unique().sort().to_numpy() for name in ("t", "level"))
    values = grid[value].to_numpy().reshape(len(levels), len(times))
    drawn: Keywords = {"vmin": limits[0], "vmax": limits[1], "rasterized": True}
    borders = edges(times, sheet.is_log), np.concatenate([[0.0], levels])
    return axes.pcolormesh(*borders, values, cmap=sheet.shades(colours), **drawn)


def _draw_contours(
    axes: Axes,
    data: pl.DataFrame,
    styles: dict[float, tuple[float, str]],
    colour: str,
    sheet: Sheet,
) -> None:
    """Lines of percentages of runs, as steps that go on to the end of the grid."""
    for percentile, (width, dash) in styles.items():
        is_line = (pl.col("share") - percentile / 100).abs() < 1e-9
        line = data.filter((pl.col("kind") == "contour") & is_line).sort("t")
        if line.is_empty():
            continue
        t, level = line["t"].to_list(), line["level"].to_list()
        x, y = [t[0], *t, float(sheet.times[-1])], [0.0, *level, level[-1]]
        axes.step(x, y, where="post", color=colour, linewidth=width, linestyle=dash)


def _name_axes(panels: Sequence[Axes], columns: int, scale: Scale, sheet: Sheet) -> None:
    """Time, and targets from the easiest, at the top, to the hardest: a run goes down."""
    sheet.time_axes(panels, columns)
    for axes in panels:
        axes.set_ylim(1.0, 0.0)
        axes.set_yticks(*_target_ticks(scale))
    words = "distance to the optimum" if scale.has_common_targets else "progress"
    sheet.canvas.supylabel(words, fontsize=sheet.style.font_size)


def _target_ticks(scale: Scale) -> tuple[list[float], list[str]]:
    """Ticks at round targets: whole powers of ten, or even steps."""
    first, last = scale.target(0.0), scale.target(1.0)
    steps = [0.0, 0.25, 0.5, 0.75, 1.0]
    if first is None or last is None:
        return steps, ["worst", "0.25", "0.5", "0.75", "best"]
    if not scale.log:
        return steps, [tick(first + step * (last - first)) for step in steps]
    high, low = np.log10([first, last])
    powers = np.arange(np.floor(high + 1e-9), np.ceil(low - 1e-9) - 1, -1)
    powers = powers[:: max(1, round(len(powers) / 6))]
    return ((high - powers) / (high - low)).tolist(), [power_of_ten(int(p)) for p in powers]


def caption(context: ReportContext) -> str:
    return (
        "Empirical attainment function: the share of runs that have attained a target (down: "
        "harder) by a time, pooled over instances. Averaged over the targets it is the ECDF, and "
        f"averaged over time, too, the AOCC. {on_what(context.classical)}"
    )


EAF = Figure("eaf", "Empirical attainment", caption, lacks_plane, data, draw)


MAX_PAIRS = 6
SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
PAIR_LOOKS = (0, 4)  # of the left and the right one: blue and orange, whichever algorithms
PAIR_IN_PRINT = ("#FFFFFF", "#B4B4B4", "#303030")  # from the right one to the left one


def pairs(context: ReportContext) -> list[tuple[str, str]]:
    """The requested pair; otherwise pairs of candidates; otherwise the best two by AOCC."""
    if context.comparison.pair is not None:
        return [context.comparison.pair]
    view = context.classical
    inside = [name for name in view.algorithms if name in context.remaining]
    if len(inside) < 2:
        inside = [view.algorithms[a] for a in view.aocc.order()[:2]]
    return list(combinations(inside, 2))[:MAX_PAIRS]


def difference_data(context: ReportContext) -> pl.DataFrame:
    """For each pair the difference of shares of runs on a grid of the plane, and median lines.

    ``difference`` is above 0 where a is ahead. Rows of kind contour hold the line that half of
    ``algorithm``'s runs have passed. ``instances`` counts those the pair has in common.
    """
    frames = []
    for a, b in pairs(context):
        view = context.classical_view((a, b))
        grid = _plane(view, view.eaf_difference(a, b), "difference")
        is_half = (pl.col("share") - 0.5).abs() < 1e-9
        lines = [_contours(view, name).filter(is_half) for name in (a, b)]
        pair = {"a": pl.lit(a), "b": pl.lit(b), "instances": pl.lit(len(view.common.instances))}
        frames.append(pl.concat([grid, *lines], how="diagonal").with_columns(**pair))
    columns = ("a", "b", "instances", "kind", "algorithm", "t", "level", "target")
    return pl.concat(frames).select(*columns, "difference", "share")


def draw_difference(
    canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style
) -> None:
    shown = data.select("a", "b", "instances").unique(maintain_order=True).rows()
    columns = min(len(shown), 1 if style.is_narrow else 2 if len(shown) in (2, 4) else 3)
    height = max(1.6, (0.5 if columns == 1 else 0.8) * style.width / columns)
    sheet = sheet_of(canvas, context, style)
    panels = sheet.panels(len(shown), columns, height, 0.35)
    most = float(np.nanmax(np.abs(data["difference"].fill_null(np.nan).to_numpy()))) or 1.0
    colours = PAIR_IN_PRINT
    if style.theme != "print":
        left, right = (style.look(place).colour for place in PAIR_LOOKS)
        colours = (right, style.inks.shades[0], left)
    for axes, (a, b, instances) in zip(panels, shown, strict=True):
        own = data.filter((pl.col("a") == a) & (pl.col("b") == b))
        _draw_plane(axes, own, "difference", (-most, most), colours, sheet)
        short = sheet.names((a, b), 0.24 / columns)
        for name, dash, side, look in zip((a, b), ("--", ":"), SIDES, PAIR_LOOKS, strict=True):
            half = own.filter(pl.col("algorithm") == name)
            _draw_contours(axes, half, {50.0: (1.0, dash)}, style.inks.ink, sheet)
            axes.set_title(short[name], loc=side, color=style.look(look).text)
        title: Keywords = {"color": style.inks.faint, "fontsize": style.small}
        axes.set_title(f"n = {instances}", loc="center", **title)
    _name_axes(panels, columns, context.classical.scale, sheet)
    colour = "dark: the left one" if style.theme == "print" else "colour: the algorithm that"
    ahead = f"{colour} has attained it more often, at most by {percent_cell(most)} of the runs"
    lines = "lines: what half of the runs have attained, dashed left, dotted right"
    sheet.note(f"{ahead}\n{lines}")


def lacks_pairs(context: ReportContext) -> str | None:
    """Why there is no pair to draw."""
    reason = lacks_plane(context)
    if reason is None and len(context.classical.algorithms) < 2:
        return "a difference needs two algorithms, and one is compared"
    return reason


def difference_caption(context: ReportContext) -> str:
    words = context.classical.scale.words
    return (
        "Differences of empirical attainment functions: where in the plane of times and targets "
        "(down: harder) one of a pair has attained targets in more runs than the other, on the "
        f"instances these two have in common (n). {words[0].upper()}{words[1:]}."
    )


EAF_DIFFERENCE = Figure(
    "eaf-difference",
    "Attainment differences",
    difference_caption,
    lacks_pairs,
    difference_data,
    draw_difference,
)

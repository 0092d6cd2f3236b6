"""EAF: the share of runs that have attained each target by each time, and differences of pairs."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.classical.view import View
from polarbear.report.context import ReportContext
from polarbear.report.figures.axes import edges, note_below, on_log_time, panel_grid, time_axis
from polarbear.report.figures.base import Figure
from polarbear.report.figures.ecdf import lacks_values, on_what
from polarbear.report.figures.style import Keywords, Style, readable
from polarbear.wording import percent_cell, power_of_ten, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

ONE_TIME = "the grid has one time only, and a plane of times and targets needs more"


def lacks_plane(context: ReportContext) -> str | None:
    return lacks_values(context) or (ONE_TIME if len(context.times) == 1 else None)


def plane_axes(
    axes: Axes,
    data: pl.DataFrame,
    context: ReportContext,
    style: Style,
    columns: int,
    labels: tuple[bool, bool],
) -> None:
    """Time, and targets from the easiest, at the top, to the hardest: a run goes down.

    ``labels`` says whether time and targets have one; the panel is one of several ``columns``.
    """
    narrow = style.model_copy(update={"width": 0.95 * style.width / columns})
    time_axis(axes, context, narrow, label=labels[0])
    axes.set_ylim(1.0, 0.0)
    axes.set_yticks(*_targets(data))
    if labels[1]:
        known = data["target"].is_not_null().any()
        axes.set_ylabel("distance to the optimum" if known else "progress")


def _targets(data: pl.DataFrame) -> tuple[list[float], list[str]]:
    """Ticks at round targets: whole powers of ten, or even steps."""
    steps = [0.0, 0.25, 0.5, 0.75, 1.0]
    if data["target"].is_null().all():
        return steps, ["worst", "0.25", "0.5", "0.75", "best"]
    ends = data.filter(pl.col("kind") == "grid").sort("level")
    level, target = ends["level"].to_numpy(), ends["target"].to_numpy()
    low, high = (float(level[0]), float(target[0])), (float(level[-1]), float(target[-1]))
    middle = float(target[len(target) // 2])
    is_log = middle < 0.4 * (low[1] + high[1]) and high[1] > 0
    if not is_log:
        slope = (high[1] - low[1]) / (high[0] - low[0])
        easiest = low[1] - slope * low[0]
        return steps, [tick(easiest + slope * step) for step in steps]
    slope = (np.log10(high[1]) - np.log10(low[1])) / (high[0] - low[0])
    first = np.log10(low[1]) - slope * low[0]
    last = first + slope
    powers = np.arange(np.floor(first + 1e-9), np.ceil(last - 1e-9) - 1, -1)
    powers = powers[:: max(1, round(len(powers) / 6))]
    words = [power_of_ten(int(power)) for power in powers]
    return [float((power - first) / slope) for power in powers], words


MAX_PANELS = 12
LINES = {25.0: (0.6, ":"), 50.0: (1.2, "-"), 75.0: (0.6, "--")}


def data(context: ReportContext) -> pl.DataFrame:
    """For each algorithm the share of runs on a grid of the plane, and its quartile lines.

    ``kind`` is grid, or contour: from t on, until the next row, ``share`` of the runs have attained
    ``level``. Levels run from 0, the easiest target, to 1; ``target`` is null where the targets
    differ between instances.
    """
    view = context.classical
    frames = []
    for a, name in enumerate(view.algorithms):
        frames.append(
            plane(view, view.eaf.attained[a]).select(
                pl.lit("grid").alias("kind"), pl.lit(name).alias("algorithm"), pl.all()
            )
        )
        frames.append(contour_rows(view, name))
    return pl.concat(frames)


def plane(view: View, values: np.ndarray) -> pl.DataFrame:
    """Values[level, time] in long form, as ``share``."""
    levels, times = view.eaf.levels, view.eaf.times
    targets = [view.scale.target(level) for level in levels]
    return pl.DataFrame(
        {
            "t": np.tile(times, len(levels)),
            "level": np.repeat(levels, len(times)),
            "target": [target for target in targets for _ in times],
            "share": values.ravel(),
        },
        schema_overrides={"target": pl.Float64},
    )


def contour_rows(view: View, name: str) -> pl.DataFrame:
    rows = [
        {"kind": "contour", "algorithm": name, "t": t, "level": level, "share": percentile / 100}
        for percentile, line in view.contours(name).items()
        for t, level in line.tolist()
    ]
    schema = {"kind": pl.String, "algorithm": pl.String, "t": pl.Float64, "level": pl.Float64}
    made = pl.DataFrame(rows, schema={**schema, "share": pl.Float64})
    target = pl.lit(None, pl.Float64).alias("target")
    return made.select("kind", "algorithm", "t", "level", target, "share")


def grid_of(data: pl.DataFrame, value: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, edges of levels and values[level, time] of a plane in long form.

    A level stands for the targets from the one before up to it.
    """
    rows = data.filter(pl.col("kind") == "grid").sort("level", "t")
    times, levels = (rows[name].unique().sort().to_numpy() for name in ("t", "level"))
    values = rows[value].to_numpy().reshape(len(levels), len(times))
    return times, np.concatenate([[0.0], levels]), values


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    names = data["algorithm"].unique(maintain_order=True).to_list()
    shown = names[:MAX_PANELS]
    columns = _columns(len(shown), style)
    height = max(1.5, 0.72 * style.width / columns)
    panels = panel_grid(canvas, len(shown), columns, height, style, 0.35, share=True)
    shades = LinearSegmentedColormap.from_list("shares", style.inks.shades)
    short = style.names(context.labels, shown, 0.8 / columns)
    last_row = (len(shown) - 1) // columns
    for place, (axes, name) in enumerate(zip(panels, shown, strict=True)):
        mine = data.filter(pl.col("algorithm") == name)
        times, levels, share = grid_of(mine, "share")
        borders = edges(times, on_log_time(context, style))
        image = axes.pcolormesh(
            borders, levels, share, cmap=shades, vmin=0, vmax=1, rasterized=True
        )
        contour_lines(axes, mine, style.inks.alarm, float(times[-1]))
        labels = place // columns == last_row, place % columns == 0
        plane_axes(axes, data, context, style, columns, labels)
        axes.tick_params(axis="x", labelbottom=place + columns >= len(shown))
        look = style.look(context.colour_index(name))
        axes.set_title(short[name], color=look.text, fontsize=style.font_size, pad=3)
    bar = canvas.colorbar(image, ax=panels, fraction=0.03, pad=0.02, aspect=30)
    bar.set_label("share of runs")
    bar.outline.set_visible(False)
    rest = f"; {len(shown)} of {len(names)} algorithms" if len(shown) < len(names) else ""
    words = f"lines: a quarter (dotted), half, three quarters (dashed) of runs{rest}"
    note_below(canvas, words, style)


def _columns(panels: int, style: Style) -> int:
    """The number of columns that are wide enough and leave the fewest places empty."""
    choices = (2,) if style.width < 5 else (4, 3, 2)
    fitting = [columns for columns in choices if columns <= panels] or [1]
    return min(fitting, key=lambda columns: (-panels % columns, -columns))


def contour_lines(
    axes: Axes,
    data: pl.DataFrame,
    colour: str,
    last: float,
    styles: dict[float, tuple[float, str]] = LINES,
) -> None:
    """Quartile lines as steps that go on to the end of the grid."""
    lines = data.filter(pl.col("kind") == "contour")
    for percentile, (width, dash) in styles.items():
        line = lines.filter((pl.col("share") - percentile / 100).abs() < 1e-9).sort("t")
        if line.is_empty():
            continue
        t, level = line["t"].to_list(), line["level"].to_list()
        x, y = [t[0], *t, last], [0.0, *level, level[-1]]
        axes.step(x, y, where="post", color=colour, linewidth=width, linestyle=dash)


def caption(context: ReportContext) -> str:
    return (
        "Empirical attainment function: the share of runs that have attained a target (down: "
        "harder) by a time, pooled over instances. Averaged over the targets it is the ECDF, and "
        f"averaged over time, too, the AOCC. {on_what(context.classical)}"
    )


EAF = Figure("eaf", "Empirical attainment", caption, lacks_plane, data, draw)


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


def difference_data(context: ReportContext) -> pl.DataFrame:
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


def draw_difference(
    canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style
) -> None:
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
        axes.pcolormesh(borders, levels, painted, rasterized=True)
        if style.theme == "print" and ahead.min() < -HATCHED_FROM * most:  # the second is ahead
            strong: Keywords = {
                "levels": [-1.01, -HATCHED_FROM],
                "colors": "none",
                "hatches": ["////"],
            }
            axes.contourf(times, levels[1:], ahead / most, **strong)
        for name, dash in ((a, "--"), (b, ":")):
            half = mine.filter(pl.col("algorithm") == name)
            contour_lines(axes, half, style.inks.ink, float(times[-1]), {50.0: (1.0, dash)})
        labels = place + columns >= len(shown), place % columns == 0
        plane_axes(axes, mine, context, style, columns, labels)
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
